// SPDX-License-Identifier: Apache-2.0
// Columns that more than one page has.

import { h } from '../core/dom';
import {
  columnDecimals,
  fixed,
  inTimeUnit,
  percent,
  timeUnit,
  type TimeUnit,
} from '../core/format';
import type { Cell } from '../core/gviz';
import type { Column } from '../core/table_view';

/** About the width of a tabular digit, and of what surrounds a number in its cell. */
const DIGIT_PX = 8;
const AROUND_PX = 20;

/**
 * Microseconds in the unit and with the decimals that suit the whole column, or in one that several
 * columns share; wide enough for its largest number.
 */
export function timeColumn<R>(
  rows: readonly R[],
  id: string,
  title: string,
  value: (row: R) => number,
  extra: Partial<Column<R>> = {},
  shared?: TimeUnit,
): Column<R> {
  const values = rows.map(value);
  const unit = shared ?? timeUnit(values);
  const { name, us, decimals } = unit;
  const longest = fixed(
    values.reduce((largest, one) => Math.max(largest, one), 0) / us,
    decimals,
  ).length;
  const inUnit = (text: string): string => text.replace(/µs\b/, name);
  return {
    id,
    title: inUnit(title),
    csvTitle: title,
    kind: 'number',
    time: true,
    unit: name,
    value,
    text: (cell: Cell) => (typeof cell === 'number' ? inTimeUnit(cell, unit) : '–'),
    ...extra,
    ...(extra.hint === undefined ? {} : { hint: inUnit(extra.hint) }),
    width: Math.max(extra.width ?? 96, longest * DIGIT_PX + AROUND_PX),
  };
}

/** A share as a bar and in digits. */
export function barCell(fraction: number, colour: string): HTMLElement {
  const bar = h('i', { class: 'bar', 'aria-hidden': 'true' });
  bar.style.width = `${Math.max(0, Math.min(1, fraction)) * 46}px`;
  bar.style.setProperty('--bar', `var(--${colour})`);
  return h(
    'span',
    { class: 'bar-cell' },
    bar,
    h('span', {}, fraction === 0 ? '–' : percent(fraction)),
  );
}

/** Makes columns of rates, which are unknown where they are 0, in digits that suit all rows. */
export function rateColumns<R>(
  rows: readonly R[],
): (
  id: string,
  title: string,
  hint: string,
  value: (row: R) => number,
  hidden?: boolean,
) => Column<R> {
  return (id, title, hint, value, hidden = false) => {
    const known = (row: R): number | null => (value(row) === 0 ? null : value(row));
    const decimals = columnDecimals(rows.map(known));
    return {
      id,
      title,
      hint,
      hidden,
      kind: 'number',
      width: 98,
      value: known,
      text: (cell: Cell) => (typeof cell === 'number' ? fixed(cell, decimals) : '–'),
    };
  };
}

/** A fraction as a bar and in digits; a dash where it is unknown. */
export function shareColumn<R>(
  id: string,
  title: string,
  hint: string,
  value: (row: R) => number | null,
  token: string,
  extra: Partial<Column<R>> = {},
): Column<R> {
  return {
    id,
    title,
    hint,
    kind: 'number',
    scale: 0.01,
    width: 112,
    value,
    node: (row) => {
      const fraction = value(row);
      return fraction === null ? h('span', { class: 'soft' }, '–') : barCell(fraction, token);
    },
    ...extra,
  };
}
