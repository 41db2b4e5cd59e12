// SPDX-License-Identifier: Apache-2.0
import { freshId, h } from '../core/dom';

export interface Segment {
  value: string;
  label: string;
  hint?: string;
}

/** A few choices side by side; radio buttons underneath, so arrows and screen readers know them. */
export class Segmented {
  readonly element: HTMLFieldSetElement;
  private readonly inputs: HTMLInputElement[] = [];

  constructor(legend: string, segments: readonly Segment[], onPick: (value: string) => void) {
    const name = freshId('segment');
    this.element = h(
      'fieldset',
      { class: 'segmented' },
      h('legend', { class: 'offscreen' }, legend),
    );
    for (const segment of segments) {
      const input = h('input', {
        type: 'radio',
        name,
        value: segment.value,
        on: { change: () => onPick(segment.value) },
      });
      this.inputs.push(input);
      this.element.append(h('label', { title: segment.hint }, input, h('span', {}, segment.label)));
    }
  }

  show(value: string): void {
    for (const input of this.inputs) input.checked = input.value === value;
  }

  disable(value: string, why: string | null): void {
    for (const input of this.inputs) {
      if (input.value !== value) continue;
      input.disabled = why !== null;
      input.parentElement?.setAttribute('title', why ?? '');
    }
  }
}

export class Toggle {
  readonly element: HTMLLabelElement;
  private readonly input: HTMLInputElement;

  constructor(label: string, hint: string, onChange: (on: boolean) => void) {
    this.input = h('input', {
      type: 'checkbox',
      on: { change: () => onChange(this.input.checked) },
    });
    this.element = h('label', { class: 'toggle', title: hint }, this.input, h('span', {}, label));
  }

  show(on: boolean): void {
    this.input.checked = on;
  }
}
