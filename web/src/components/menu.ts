// SPDX-License-Identifier: Apache-2.0
// A button that opens a small panel below it.

import { freshId, h, icon } from '../core/dom';

export class Menu {
  readonly element: HTMLElement;
  readonly button: HTMLButtonElement;
  readonly panel: HTMLElement;
  private readonly build: (panel: HTMLElement) => void;

  constructor(
    label: HTMLElement | string,
    build: (panel: HTMLElement) => void,
    options: { class?: string; name?: string } = {},
  ) {
    const id = freshId('menu');
    this.build = build;
    this.panel = h('div', { class: 'menu-panel', id, hidden: true });
    this.button = h(
      'button',
      {
        class: options.class ?? 'button',
        type: 'button',
        'aria-expanded': 'false',
        'aria-controls': id,
        'aria-label': options.name,
        on: { click: () => (this.isOpen ? this.close() : this.open()) },
      },
      label,
      icon('down'),
    );
    this.element = h('div', { class: 'menu' }, this.button, this.panel);
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.isOpen) {
        event.preventDefault();
        event.stopPropagation();
        this.close();
        this.button.focus();
      }
    });
    this.element.addEventListener('focusout', (event) => {
      if (
        this.isOpen &&
        event.relatedTarget instanceof Node &&
        !this.element.contains(event.relatedTarget)
      )
        this.close();
    });
  }

  get isOpen(): boolean {
    return !this.panel.hidden;
  }

  private readonly outside = (event: Event): void => {
    if (event.target instanceof Node && !this.element.contains(event.target)) this.close();
  };

  open(): void {
    this.panel.replaceChildren();
    this.build(this.panel);
    this.panel.hidden = false;
    this.button.setAttribute('aria-expanded', 'true');
    document.addEventListener('pointerdown', this.outside, true);
    // A panel at the right edge would leave the window; it then hangs from its right corner.
    this.panel.classList.remove('from-right');
    if (this.panel.getBoundingClientRect().right > document.documentElement.clientWidth - 8)
      this.panel.classList.add('from-right');
    this.panel.scrollIntoView({ block: 'nearest' });
    this.panel.querySelector<HTMLElement>('input, button, a')?.focus({ preventScroll: true });
  }

  close(): void {
    this.panel.hidden = true;
    this.button.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', this.outside, true);
  }
}
