// SPDX-License-Identifier: Apache-2.0
// A bar between two parts of the page that is dragged, or moved with arrows, to give one of them
// more room.

import { h } from '../core/dom';
import { setTaste, taste } from '../core/taste';

export interface GripOptions {
  label: string;
  /** Names the remembered size. */
  name: string;
  smallest: number;
  largest: () => number;
  initial: number;
  set: (pixels: number) => void;
}

const STEP_PX = 24;

/** A horizontal bar; what lies below it grows when it goes up. */
export function grip({ label, name, smallest, largest, initial, set }: GripOptions): HTMLElement {
  const element = h('div', {
    class: 'trace-grip',
    role: 'separator',
    tabindex: '0',
    'aria-orientation': 'horizontal',
    'aria-label': label,
  });
  let size = 0;
  const put = (wanted: number, keep: boolean): void => {
    size = Math.round(Math.min(Math.max(wanted, smallest), Math.max(smallest, largest())));
    element.setAttribute('aria-valuenow', String(size));
    element.setAttribute('aria-valuemin', String(smallest));
    element.setAttribute('aria-valuemax', String(Math.max(smallest, Math.round(largest()))));
    set(size);
    if (keep) setTaste(name, String(size));
  };
  element.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    const [from, before] = [event.clientY, size];
    const move = (next: PointerEvent): void => put(before + from - next.clientY, false);
    element.addEventListener('pointermove', move);
    element.addEventListener(
      'lostpointercapture',
      () => {
        element.removeEventListener('pointermove', move);
        put(size, true);
      },
      { once: true },
    );
  });
  element.addEventListener('keydown', (event) => {
    const by = { ArrowUp: STEP_PX, ArrowDown: -STEP_PX }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    put(size + by, true);
  });
  put(Number(taste(name) ?? initial) || initial, false);
  return element;
}
