// SPDX-License-Identifier: Apache-2.0
// A row of bars as small as a line of text: one amount for each step.

import { h } from '../core/dom';

const HEIGHT = 44;
/** More steps than this share bars, each as high as its highest. */
const MOST_BARS = 160;

function svg(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export interface Spark {
  names: readonly string[];
  /** null where nothing is known. */
  values: readonly (number | null)[];
  format: (value: number) => string;
  /** What a screen reader hears in place of the picture. */
  summary: string;
}

export function sparkline({ names, values, format, summary }: Spark): HTMLElement {
  const each = Math.max(1, Math.ceil(values.length / MOST_BARS));
  const bars: { value: number | null; from: number }[] = [];
  for (let i = 0; i < values.length; i += each) {
    const known = values.slice(i, i + each).filter((value) => value !== null);
    bars.push({
      from: i,
      value: known.length === 0 ? null : known.reduce((a, b) => Math.max(a, b), 0),
    });
  }
  const most = bars.reduce((top, { value }) => Math.max(top, value ?? 0), 0);
  const picture = svg('svg', {
    class: 'spark',
    viewBox: `0 0 ${bars.length * 4} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': summary,
  });
  bars.forEach(({ value, from }, index) => {
    const high = value === null || most === 0 ? 0 : Math.max(1, (value / most) * (HEIGHT - 2));
    const bar = svg('rect', {
      x: String(index * 4 + 0.4),
      y: String(HEIGHT - high),
      width: '3.2',
      height: String(high),
    });
    const title = svg('title', {});
    const upTo = Math.min(values.length, from + each) - 1;
    const name =
      upTo === from ? (names[from] ?? '') : `${names[from] ?? ''} to ${names[upTo] ?? ''}`;
    title.textContent = `${name}: ${value === null ? 'unknown' : format(value)}`;
    // The whole height answers to the pointer.
    const hit = svg('rect', {
      class: 'spark-hit',
      x: String(index * 4),
      y: '0',
      width: '4',
      height: String(HEIGHT),
    });
    hit.append(title);
    picture.append(bar, hit);
  });
  const figure = h('div', { class: 'spark-box' });
  figure.append(picture);
  return figure;
}
