// SPDX-License-Identifier: Apache-2.0
// What a device can do at most, where that is from, and a way to say it better: tables of peaks are
// wrong for new devices. The address keeps what was said; the server takes it.

import type { Query } from '../core/api';
import { fill, h } from '../core/dom';
import type { UrlState } from '../core/url_state';
import { button } from './states';

const PEAKS = [
  { key: 'peak_tflops', label: 'Peak TFLOP/s' },
  { key: 'peak_hbm_gbs', label: 'HBM GB/s' },
  { key: 'peak_sram_gbs', label: 'Fast memory GB/s' },
] as const;

/** By key, what is counted with; null where nobody knows it. Others have no field. */
export type KnownPeaks = Partial<Record<(typeof PEAKS)[number]['key'], number | null>>;

export class PeaksForm {
  readonly element = h('form', { class: 'peaks', 'aria-label': 'Peaks of the device' });
  private shown = '';

  constructor(private readonly url: UrlState) {
    this.element.addEventListener('submit', (event) => event.preventDefault());
  }

  /** What a tool is asked with. */
  query(): Query {
    return Object.fromEntries(
      PEAKS.map(({ key }) => [key, this.url.get(key) === '' ? null : this.url.get(key)]),
    );
  }

  show(known: KnownPeaks, source: string): void {
    const { url } = this;
    const state = JSON.stringify([known, source, this.query()]);
    if (state === this.shown || this.element.contains(document.activeElement)) return;
    this.shown = state;
    const field = ({ key, label }: (typeof PEAKS)[number]): HTMLElement | null => {
      const value = known[key];
      if (value === undefined) return null;
      const input = h('input', {
        type: 'text',
        inputmode: 'decimal',
        value: url.get(key),
        placeholder: value === null ? 'unknown' : String(Number(value.toPrecision(5))),
        'aria-label': label,
        autocomplete: 'off',
        spellcheck: 'false',
        on: {
          change: () =>
            url.set({ [key]: Number(input.value) > 0 ? String(Number(input.value)) : null }),
        },
      });
      return h('label', {}, h('span', {}, label), input);
    };
    const changed = PEAKS.some(({ key }) => url.get(key) !== '');
    fill(
      this.element,
      ...PEAKS.map(field),
      changed &&
        button('As recorded', () =>
          url.set(Object.fromEntries(PEAKS.map(({ key }) => [key, null]))),
        ),
      h('small', { class: 'soft' }, source === '' ? '' : `Peaks: ${source}.`),
    );
  }
}
