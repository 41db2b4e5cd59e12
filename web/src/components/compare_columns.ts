// The three columns a comparison adds to a table.

import { h } from '../core/dom';
import type { Difference } from '../core/compare';
import { exact, fixed, percent, signed } from '../core/format';
import type { Cell } from '../core/gviz';
import type { Column } from '../core/table_view';

const size = (value: Cell): Cell => (typeof value === 'number' ? Math.abs(value) : value);

/** How amounts other than microseconds are shown. */
export interface Measure {
  /** '' where every cell has its own. */
  unit: string;
  time: boolean;
  show: (value: number) => string;
}

/** Times, and bytes, are better when lower. */
export function compareColumns<R>(measure: string, of: (row: R) => Difference | undefined, decimals: number, amounts?: Measure): Column<R>[] {
  const { unit, time, show } = amounts ?? { unit: 'µs', time: true, show: (value: number) => fixed(value, decimals) };
  const inUnit = unit === '' ? '' : ` (${unit})`;
  const colour = (value: Cell): string => (typeof value !== 'number' || value === 0 ? '' : value < 0 ? 'better' : 'worse');
  return [
    {
      id: 'base', title: `Base${inUnit}`, kind: 'number', time, width: 96, hint: `${measure} in the base run`,
      value: (row) => of(row)?.base ?? null,
      text: (value) => (typeof value === 'number' ? show(value) : '–'),
    },
    {
      id: 'delta', title: `Δ${inUnit}`, kind: 'number', time, width: 100, narrow: true, order: size, hint: `${measure} minus the base run's; sorted by size of the change`,
      value: (row) => of(row)?.delta ?? null,
      node: (_row, value) => h('span', { class: colour(value), title: typeof value === 'number' ? exact(value) : undefined },
        typeof value === 'number' ? signed(show(value), value) : '–'),
    },
    {
      id: 'delta_percent', title: 'Δ %', kind: 'number', scale: 0.01, width: 84, order: size, hint: 'Change as a share of the base',
      value: (row) => of(row)?.ratio ?? null,
      node: (row, value) => {
        const state = of(row)?.state;
        if (state === 'new' || state === 'gone') return h('span', { class: 'badge' }, state);
        return h('span', { class: colour(value) }, typeof value === 'number' ? signed(percent(value).replace('-', '−'), value) : '–');
      },
    },
  ];
}

export function differenceFacts(difference: Difference | undefined, decimals: number): { label: string; text: string }[] {
  if (difference === undefined) return [];
  const { base, delta, ratio, state } = difference;
  return [
    { label: 'Base', text: base === null ? 'not in the base run' : `${fixed(base, decimals)} µs` },
    { label: 'Change', text: state !== 'both' ? state : delta === null ? '–' : `${signed(fixed(delta, decimals), delta)} µs${ratio === null ? '' : ` (${signed(percent(ratio).replace('-', '−'), ratio)})`}` },
  ];
}
