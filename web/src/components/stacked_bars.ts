// SPDX-License-Identifier: Apache-2.0
// Horizontal stacked bars on one scale. The numbers stand in the table beside them; this is their
// picture.

import { h } from '../core/dom';
import { percent } from '../core/format';
import { microseconds } from './charts';

export interface Part {
  label: string;
  token: string;
  value: number;
}

export interface StackedBar {
  label: string;
  parts: readonly Part[];
  /** Base runs are drawn thinner, below what they are compared with. */
  thin?: boolean;
}

/**
 * Below this share there never is room for a percentage; above it, the style sheet looks at the
 * width.
 */
const ROOM = 0.04;

export function stackedBars(bars: readonly StackedBar[]): HTMLElement {
  const totals = bars.map((bar) => bar.parts.reduce((sum, part) => sum + part.value, 0));
  const widest = Math.max(...totals, 0);
  const element = h('div', { class: 'stacks' });
  bars.forEach((bar, index) => {
    const total = totals[index] ?? 0;
    const said = bar.parts
      .filter((part) => part.value > 0)
      .map((part) => `${part.label} ${percent(part.value / total)}`)
      .join(', ');
    const line = h('div', {
      class: 'stack',
      role: 'img',
      'aria-label': `${bar.label}, ${microseconds(total)}: ${said}`,
    });
    for (const part of bar.parts) {
      if (part.value <= 0) continue;
      const share = part.value / total;
      const piece = h(
        'i',
        { title: `${part.label}: ${microseconds(part.value)} (${percent(share)})` },
        share * (widest === 0 ? 0 : total / widest) >= ROOM && bar.thin !== true
          ? h('span', { 'aria-hidden': 'true' }, percent(share))
          : null,
      );
      piece.style.setProperty('--part', `var(--${part.token})`);
      piece.style.setProperty('--on-part', `var(--on-${part.token}, var(--ink))`);
      piece.style.flexGrow = String(part.value);
      line.append(piece);
    }
    line.style.width = `${widest === 0 ? 0 : (total / widest) * 100}%`;
    element.append(
      h(
        'div',
        { class: bar.thin === true ? 'stack-row thin' : 'stack-row' },
        bars.length > 1 &&
          h(
            'div',
            { class: 'stack-label' },
            h('span', {}, bar.label),
            h('span', {}, microseconds(total)),
          ),
        line,
      ),
    );
  });
  return element;
}
