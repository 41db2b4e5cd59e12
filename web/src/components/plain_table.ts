// SPDX-License-Identifier: Apache-2.0
// A small table that is all in sight: real rows and heads, and a CSV of the exact values.

import { downloadText, toCsv, type CsvCell } from '../core/csv';
import { h, type Child } from '../core/dom';
import { exact } from '../core/format';
import { button } from './states';

export interface PlainColumn<R> {
  title: string;
  value: (row: R) => CsvCell;
  cell?: (row: R) => Child;
  hint?: string;
  number?: boolean;
  /** Given up first where the page is narrow. */
  wide?: boolean;
  class?: string;
}

export interface PlainTableOptions<R> {
  /** What a screen reader calls it. */
  label: string;
  columns: readonly PlainColumn<R>[];
  rows: readonly R[];
  rowClass?: (row: R) => string;
}

export function plainTable<R>({
  label,
  columns,
  rows,
  rowClass,
}: PlainTableOptions<R>): HTMLElement {
  const classes = (column: PlainColumn<R>): string | undefined =>
    [column.number === true ? 'number' : '', column.wide === true ? 'wide' : '', column.class ?? '']
      .join(' ')
      .trim() || undefined;
  const body = h('tbody');
  for (const row of rows) {
    const line = h('tr', { class: rowClass?.(row) || undefined });
    columns.forEach((column, index) => {
      const value = column.value(row);
      const content = column.cell?.(row) ?? (value === null ? '–' : String(value));
      const title = typeof value === 'number' ? exact(value) : undefined;
      line.append(
        index === 0
          ? h('th', { scope: 'row', class: classes(column) }, content)
          : h('td', { class: classes(column), title }, content),
      );
    });
    body.append(line);
  }
  return h(
    'div',
    { class: 'twin plain', tabindex: '0', role: 'group', 'aria-label': label },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...columns.map((column) =>
            h('th', { scope: 'col', class: classes(column), title: column.hint }, column.title),
          ),
        ),
      ),
      body,
    ),
  );
}

export function csvButton<R>(name: string, table: () => PlainTableOptions<R>): HTMLButtonElement {
  return button('CSV', () => {
    const { columns, rows } = table();
    downloadText(
      `${name}.csv`,
      toCsv(
        columns.map((column) => column.title),
        rows.map((row) => columns.map((column) => column.value(row))),
      ),
      'text/csv',
    );
  });
}

/** A heading with what can be done to what is below it. */
export function section(
  title: string,
  note: string,
  actions: readonly HTMLElement[],
  ...content: Child[]
): HTMLElement {
  return h(
    'section',
    { class: 'card', 'aria-label': title },
    h(
      'header',
      { class: 'card-head' },
      h('h2', {}, title),
      note !== '' && h('small', {}, note),
      actions.length > 0 && h('div', { class: 'acts' }, ...actions),
    ),
    ...content,
  );
}
