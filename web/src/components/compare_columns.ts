// The three columns a comparison adds to a table.

import { h } from '../core/dom';
import type { Difference } from '../core/compare';
import { exact, fixed, percent, signed } from '../core/format';
import type { Cell } from '../core/gviz';
import type { Column } from '../core/table_view';

const size = (value: Cell): Cell => (typeof value === 'number' ? Math.abs(value) : value);

/** `better` is what a smaller number means: times are better when lower. */
export function compareColumns<R>(measure: string, of: (row: R) => Difference | undefined, decimals: number): Column<R>[] {
  const colour = (value: Cell): string => (typeof value !== 'number' || value === 0 ? '' : value < 0 ? 'better' : 'worse');
  return [
    {
      id: 'base', title: 'Base (µs)', kind: 'number', time: true, width: 96, hint: `${measure} in the base run`,
      value: (row) => of(row)?.base ?? null,
      text: (value) => (typeof value === 'number' ? fixed(value, decimals) : '–'),
    },
    {
      id: 'delta', title: 'Δ (µs)', kind: 'number', time: true, width: 100, narrow: true, order: size, hint: `${measure} minus the base run's; sorted by size of the change`,
      value: (row) => of(row)?.delta ?? null,
      node: (_row, value) => h('span', { class: colour(value), title: typeof value === 'number' ? exact(value) : undefined },
        typeof value === 'number' ? signed(fixed(value, decimals), value) : '–'),
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
