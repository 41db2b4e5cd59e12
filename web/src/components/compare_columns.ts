// SPDX-License-Identifier: Apache-2.0
// The parts that a comparison adds to a table: three columns, facts of a row, and a sentence on how
// rows were matched.

import { h } from '../core/dom';
import type { Difference, StepCounts } from '../core/compare';
import {
  change,
  count,
  duration,
  exact,
  inTimeUnit,
  joined,
  percent,
  plural,
  timeUnit,
} from '../core/format';
import type { Cell } from '../core/gviz';
import { trimRight } from '../core/names';
import type { Column } from '../core/table_view';

const size = (value: Cell): Cell => (typeof value === 'number' ? Math.abs(value) : value);

/** How amounts are shown. */
export interface Measure {
  /** '' where every cell has its own. */
  unit: string;
  time: boolean;
  show: (value: number) => string;
}

/** Microseconds in the unit that suits all of these. */
export function timeMeasure(values: Iterable<number | null>): Measure {
  const unit = timeUnit(values);
  return { unit: unit.name, time: true, show: (value) => inTimeUnit(value, unit) };
}

/** Times, and bytes, are better when lower. */
export function compareColumns<R>(
  measure: string,
  of: (row: R) => Difference | undefined,
  { unit, time, show }: Measure,
): Column<R>[] {
  const inUnit = unit === '' ? '' : ` (${unit})`;
  const csv = (title: string): Partial<Column<R>> =>
    time ? { unit, csvTitle: `${title} (µs)` } : {};
  const colour = (value: Cell): string =>
    typeof value !== 'number' || value === 0 ? '' : value < 0 ? 'better' : 'worse';
  return [
    {
      id: 'base',
      title: `Base${inUnit}`,
      ...csv('Base'),
      kind: 'number',
      time,
      width: 96,
      hint: `${measure} in the base run`,
      value: (row) => of(row)?.base ?? null,
      node: (row, value) => {
        const name = of(row)?.baseName;
        const text = typeof value === 'number' ? show(value) : '–';
        return name === undefined
          ? document.createTextNode(text)
          : h(
              'span',
              {
                class: 'by-counter',
                title: `${typeof value === 'number' ? exact(value) : text}: ${name}`,
              },
              text,
            );
      },
    },
    {
      id: 'delta',
      title: `Δ${inUnit}`,
      ...csv('Δ'),
      kind: 'number',
      time,
      width: 100,
      narrow: true,
      order: size,
      hint: `${measure} minus the base run's; sorted by size of the change`,
      value: (row) => of(row)?.delta ?? null,
      node: (_row, value) =>
        h(
          'span',
          {
            class: colour(value),
            title: typeof value === 'number' ? change(value, exact) : undefined,
          },
          typeof value === 'number' ? change(value, show) : '–',
        ),
    },
    {
      id: 'delta_percent',
      title: 'Δ %',
      kind: 'number',
      scale: 0.01,
      width: 84,
      order: size,
      hint: 'Change as a share of the base',
      value: (row) => of(row)?.ratio ?? null,
      node: (row, value) => {
        const state = of(row)?.state;
        if (state === 'new' || state === 'gone') return h('span', { class: 'badge' }, state);
        return h(
          'span',
          { class: colour(value) },
          typeof value === 'number' ? change(value, percent) : '–',
        );
      },
    },
  ];
}

export function differenceFacts(
  difference: Difference | undefined,
  show = (value: number): string => joined(duration(value)),
): { label: string; text: string }[] {
  if (difference === undefined) return [];
  const { base, delta, ratio, state, baseName } = difference;
  return [
    {
      label: 'Base',
      text: base !== null ? show(base) : state === 'new' ? 'not in the base run' : '–',
    },
    {
      label: 'Change',
      text:
        state !== 'both'
          ? state
          : delta === null
            ? '–'
            : `${change(delta, show)}${ratio === null ? '' : ` (${change(ratio, percent)})`}`,
    },
    ...(baseName === undefined ? [] : [{ label: 'Compared with', text: baseName }]),
  ];
}

/** Letters of an example. */
const NAME_ROOM = 72;

/**
 * What the numbers of the base are for, and which rows were found only without the counters in
 * their names.
 */
export function compareNote<R>(
  rows: readonly R[],
  of: (row: R) => Difference | undefined,
  name: (row: R) => string,
  [one, many]: readonly [string, string],
  steps: StepCounts | null,
): HTMLElement | null {
  const matched = rows.filter((row) => of(row)?.state === 'both');
  const loose = matched.filter((row) => of(row)?.baseName !== undefined);
  const [first] = loose;
  const scaled = steps !== null && steps.now !== steps.base;
  if (first === undefined && !scaled) return null;
  const code = (text: string): HTMLElement =>
    h('code', { title: text }, trimRight(text, NAME_ROOM));
  return h(
    'p',
    { class: 'compare-note' },
    scaled &&
      `The base run has ${plural(steps.base, 'step')}, this one ${count(steps.now)}: times of the base are multiplied by ${(steps.now / steps.base).toFixed(2)}, so that both cover the same number of steps. `,
    ...(first === undefined
      ? []
      : [
          `${plural(matched.length, one, many)} ${matched.length === 1 ? 'is' : 'are'} in both runs, ${count(loose.length)} of them under names that differ only by counters: `,
          code(name(first)),
          ' here, ',
          code(of(first)?.baseName ?? ''),
          ' in the base run.',
        ]),
  );
}
