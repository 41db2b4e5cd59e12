// Columns that more than one page has.

import { columnDecimals, fixed } from '../core/format';
import type { Cell } from '../core/gviz';
import type { Column } from '../core/table_view';

/** About the width of a tabular digit, and of what surrounds a number in its cell. */
const DIGIT_PX = 8;
const AROUND_PX = 20;

/** Microseconds with as many decimals as suit the whole column, wide enough for its largest number. */
export function timeColumn<R>(rows: readonly R[], id: string, title: string, value: (row: R) => number, extra: Partial<Column<R>> = {}): Column<R> {
  const values = rows.map(value);
  const decimals = columnDecimals(values);
  const longest = fixed(values.reduce((largest, one) => Math.max(largest, one), 0), decimals).length;
  return {
    id, title, kind: 'number', time: true, value, text: (cell: Cell) => (typeof cell === 'number' ? fixed(cell, decimals) : '–'),
    ...extra, width: Math.max(extra.width ?? 96, longest * DIGIT_PX + AROUND_PX),
  };
}
