// SPDX-License-Identifier: Apache-2.0
// Categories of the step time with their average and spread, beside a chosen step and the base run.

import { h } from '../core/dom';
import { change, percent } from '../core/format';
import { categoryStats, spread, within, type CategoryStat, type Steps } from '../core/steps';
import { microseconds } from './charts';
import type { PlainColumn, PlainTableOptions } from './plain_table';
import { stackedBars, type StackedBar } from './stacked_bars';
import type { Choice } from './step_chart';

interface Row extends CategoryStat {
  whole: boolean;
  chosen: number | null;
  base: number | null;
}

export function keyed(label: string, token: string): HTMLElement {
  const key = h('i', { class: 'key', 'aria-hidden': 'true' });
  key.style.setProperty('--key', `var(--${token})`);
  return h('span', { class: 'keyed' }, key, label);
}

function rows(data: Steps, base: Steps | null, choice: Choice): Row[] {
  const stats = categoryStats(data, choice.range);
  const baseStats = base === null || base.steps.length === 0 ? null : categoryStats(base, null);
  const step = data.steps[choice.step];
  const list: Row[] = stats.map((stat) => ({
    ...stat,
    whole: false,
    chosen: step?.values[data.categories.indexOf(stat.category)] ?? null,
    base: baseStats?.find((other) => other.category.id === stat.category.id)?.mean ?? null,
  }));
  const totals = spread(within(data.steps, choice.range).map((one) => one.total));
  list.push({
    ...totals,
    category: {
      id: 'total',
      label: 'Step time',
      short: 'Step time',
      token: 'ground',
      stem: 'steptime',
    },
    share: 1,
    whole: true,
    chosen: step?.total ?? null,
    base:
      base === null || base.steps.length === 0
        ? null
        : spread(base.steps.map((one) => one.total)).mean,
  });
  return list;
}

/** `extremes` adds the shortest and the longest, for which a page must have the room. */
export function stepTable(
  data: Steps,
  base: Steps | null,
  choice: Choice,
  extremes: boolean,
): PlainTableOptions<Row> {
  const step = data.steps[choice.step];
  const time = (
    title: string,
    of: (row: Row) => number | null,
    extra: Partial<PlainColumn<Row>> = {},
  ): PlainColumn<Row> => ({
    title,
    number: true,
    value: of,
    cell: (row) => {
      const value = of(row);
      return value === null
        ? '–'
        : value === 0
          ? h('span', { class: 'soft' }, '0')
          : microseconds(value);
    },
    ...extra,
  });
  const difference = (row: Row): number | null => (row.base === null ? null : row.mean - row.base);
  return {
    label: 'Categories of the step time',
    rowClass: (row) => (row.whole ? 'sum' : ''),
    columns: [
      {
        title: 'Category',
        value: (row) => row.category.label,
        cell: (row) =>
          row.whole ? row.category.label : keyed(row.category.label, row.category.token),
      },
      time('Average', (row) => row.mean),
      {
        title: 'Share',
        number: true,
        wide: step !== undefined || base !== null,
        value: (row) => row.share,
        cell: (row) => (row.share === 0 ? h('span', { class: 'soft' }, '–') : percent(row.share)),
      },
      ...(step === undefined
        ? []
        : [
            time(`Step ${step.name}`, (row: Row) => row.chosen),
            {
              title: '× average',
              number: true,
              wide: true,
              hint: 'The chosen step divided by the average one',
              value: (row: Row) =>
                row.chosen === null || row.mean === 0 ? null : row.chosen / row.mean,
              cell: (row: Row) =>
                row.chosen === null || row.mean === 0
                  ? '–'
                  : `${(row.chosen / row.mean).toFixed(2)} ×`,
            },
          ]),
      ...(base === null
        ? []
        : [
            time('Base', (row: Row) => row.base),
            {
              title: 'Δ',
              number: true,
              value: difference,
              cell: (row: Row) => {
                const value = difference(row);
                return value === null
                  ? '–'
                  : h(
                      'span',
                      { class: value === 0 ? '' : value < 0 ? 'better' : 'worse' },
                      change(value, microseconds),
                    );
              },
            },
          ]),
      ...(extremes
        ? [
            time('Min', (row: Row) => row.min, { wide: true }),
            time('Max', (row: Row) => row.max, { wide: true }),
          ]
        : []),
      time('σ', (row) => row.sd, { wide: true, hint: 'Standard deviation over the steps' }),
    ],
    rows: rows(data, base, choice),
  };
}

export function stepBars(data: Steps, base: Steps | null, choice: Choice): HTMLElement {
  const parts = (of: readonly number[], from: Steps): StackedBar['parts'] =>
    from.categories.map((category, index) => ({
      label: category.label,
      token: category.token,
      value: of[index] ?? 0,
    }));
  const mean = (from: Steps, stats: readonly CategoryStat[]): StackedBar['parts'] =>
    parts(
      stats.map((stat) => stat.mean),
      from,
    );
  const step = data.steps[choice.step];
  const n = within(data.steps, choice.range).length;
  const bars: StackedBar[] = [
    {
      label: n === data.steps.length ? 'Average of all steps' : `Average of ${n} chosen steps`,
      parts: mean(data, categoryStats(data, choice.range)),
    },
  ];
  if (step !== undefined)
    bars.push({ label: `Step ${step.name}`, parts: parts(step.values, data) });
  if (base !== null && base.steps.length > 0)
    bars.push({
      label: 'Average of the base run',
      parts: mean(base, categoryStats(base, null)),
      thin: true,
    });
  return stackedBars(bars);
}
