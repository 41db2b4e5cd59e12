// SPDX-License-Identifier: Apache-2.0
// A bar that says how far the server is, for people who wait for an answer longer than a moment.

import { h } from '../core/dom';
import { progressFraction, progressText, watchProgress } from '../core/progress';

export class ProgressBar {
  private readonly fill = h('div', { class: 'progress-fill' });
  private readonly bar = h(
    'div',
    {
      class: 'progress-bar',
      role: 'progressbar',
      'aria-label': 'Progress of the answer',
      'aria-valuemin': 0,
      'aria-valuemax': 100,
    },
    this.fill,
  );
  private readonly text = h('p', { class: 'progress-text' });
  readonly element = h('div', { class: 'progress', hidden: true }, this.bar, this.text);
  private end: () => void = () => undefined;

  /** Whether the server has told something about what is awaited now. */
  get isKnown(): boolean {
    return !this.element.hidden;
  }

  /** Shows itself when the server has something to tell about what is awaited under the signal. */
  start(signal: AbortSignal): void {
    this.stop();
    this.end = watchProgress(signal, (progress) => {
      if (progress === null) return; // it is on its way; what was said last stays
      const fraction = progressFraction(progress);
      const text = progressText(progress);
      this.element.hidden = false;
      this.text.textContent = text;
      this.bar.setAttribute('aria-valuetext', text);
      this.bar.classList.toggle('unknown', fraction === null);
      if (fraction === null) {
        this.bar.removeAttribute('aria-valuenow');
        this.fill.style.width = '';
      } else {
        this.bar.setAttribute('aria-valuenow', String(Math.round(fraction * 100)));
        this.fill.style.width = `${fraction * 100}%`;
      }
    });
  }

  stop(): void {
    this.end();
    this.element.hidden = true;
  }
}
