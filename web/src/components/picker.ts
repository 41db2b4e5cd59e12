// SPDX-License-Identifier: Apache-2.0
// `run resnet50/… ▾`: shows what is chosen and lets type to choose another.

import { h } from '../core/dom';
import { Menu } from './menu';
import { optionList, type Choice } from './option_list';

export interface PickerOptions {
  label: string;
  placeholder: string;
  choices: () => readonly Choice[];
}

export class Picker {
  readonly element: HTMLElement;
  private readonly value = h('span', { class: 'pick-value' });
  private readonly menu: Menu;

  constructor(options: PickerOptions) {
    const label = h('span', { class: 'pick-label' }, h('small', {}, options.label), this.value);
    this.menu = new Menu(
      label,
      (panel) => {
        panel.append(
          optionList(options.placeholder, options.placeholder, options.choices(), () => {
            this.menu.close();
            this.menu.button.focus();
          }),
        );
      },
      { class: 'pick' },
    );
    this.element = this.menu.element;
  }

  show(text: string, empty = false): void {
    this.value.textContent = text;
    // Short ones are read whole where the bar is narrow; long ones give way.
    this.element.style.setProperty('--letters', String(Math.min(text.length, 11)));
    this.menu.button.title = text;
    this.menu.button.classList.toggle('empty', empty);
  }

  set hidden(hidden: boolean) {
    this.element.hidden = hidden;
  }
}
