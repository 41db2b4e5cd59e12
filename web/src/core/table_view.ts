// SPDX-License-Identifier: Apache-2.0
// A table as a person sees it: filter, order and columns applied to rows. Pure, so that the chart,
// the CSV and the grid cannot disagree.

import { columnTextFilter, numberFilter, textFilter } from './filter';
import type { Cell } from './gviz';

export interface Column<R> {
  id: string;
  title: string;
  kind: 'text' | 'number' | 'bool';
  value: (row: R) => Cell;
  /** What the cell shows; the value itself without it. */
  text?: (value: Cell, row: R) => string;
  /** A richer cell. Must build nodes, never markup. */
  node?: (row: R, value: Cell) => Node;
  hint?: string;
  width?: number;
  grow?: boolean;
  hidden?: boolean;
  /** Kept on narrow screens. */
  narrow?: boolean;
  /** Not searched by the text filter though it is text. */
  quiet?: boolean;
  scale?: number;
  time?: boolean;
  /** What a time is shown in, where that is not µs: typed numbers without a unit mean this one. */
  unit?: string;
  /** Over the values of a CSV, where the title says another unit. */
  csvTitle?: string;
  /** Order by this instead of the value, e.g. the size of a difference. */
  order?: (value: Cell) => Cell;
  /** Holds nothing but links: a CSV goes without. */
  links?: boolean;
  /** Looks like code: fixed-width letters, cut from the left. */
  code?: boolean;
}

export interface View {
  q: string;
  regex: boolean;
  /** A column id, with `-` in front for descending. */
  sort: string;
  where: Readonly<Record<string, string>>;
}

export interface Seen<R> {
  rows: R[];
  problems: string[];
}

/** Made once: making one takes as long as a thousand comparisons. */
const collator = new Intl.Collator('en', { numeric: true });

function compare(a: Cell, b: Cell): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return collator.compare(String(a), String(b));
}

export function sorter<R>(
  columns: readonly Column<R>[],
  sort: string,
): ((a: R, b: R) => number) | null {
  const down = sort.startsWith('-');
  const column = columns.find((candidate) => candidate.id === (down ? sort.slice(1) : sort));
  if (column === undefined) return null;
  const key = (row: R): Cell =>
    column.order === undefined ? column.value(row) : column.order(column.value(row));
  return (a, b) => {
    const [left, right] = [key(a), key(b)];
    // Unknown values stay at the end in either direction.
    if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
    return down ? compare(right, left) : compare(left, right);
  };
}

export function rowTest<R>(
  columns: readonly Column<R>[],
  view: View,
): { test: (row: R) => boolean; problems: string[] } {
  const problems: string[] = [];
  const tests: ((row: R) => boolean)[] = [];
  const filter = textFilter(view.q, view.regex);
  if (filter.problem !== null) problems.push(filter.problem);
  else if (view.q.trim() !== '') {
    const searched = columns.filter((column) => column.kind === 'text' && column.quiet !== true);
    tests.push((row) =>
      filter.test(searched.map((column) => String(column.value(row) ?? '')).join('\n')),
    );
  }
  for (const [id, query] of Object.entries(view.where)) {
    const column = columns.find((candidate) => candidate.id === id);
    if (column === undefined || query.trim() === '') continue;
    if (column.kind === 'number') {
      const wanted = numberFilter(query, column);
      if (wanted.problem !== null) problems.push(wanted.problem);
      tests.push((row) => {
        const value = column.value(row);
        return wanted.test(typeof value === 'number' ? value : null);
      });
    } else if (column.kind === 'bool') {
      const yes = /^(yes|true|1)$/i.test(query.trim());
      tests.push((row) => (column.value(row) === true) === yes);
    } else {
      const wanted = columnTextFilter(query);
      if (wanted.problem !== null) problems.push(wanted.problem);
      tests.push((row) => wanted.test(String(column.value(row) ?? '')));
    }
  }
  return { test: (row) => tests.every((test) => test(row)), problems };
}

export function seen<R>(rows: readonly R[], columns: readonly Column<R>[], view: View): Seen<R> {
  const { test, problems } = rowTest(columns, view);
  const kept = rows.filter(test);
  const order = sorter(columns, view.sort);
  if (order !== null) kept.sort(order);
  return { rows: kept, problems };
}

export interface Tree<R> {
  children: (row: R) => readonly R[];
  isOpen: (row: R) => boolean;
  /**
   * A quicker way to the rows that stay than to look at all: those that pass, and those above them.
   * null where the tree has none for this view.
   */
  kept?: (view: View) => ((row: R) => boolean) | null;
  /** More lines than this are not shown. */
  most?: number;
}

/**
 * A tree as the lines it shows: a row stays if it or anything below it passes; siblings are
 * ordered. Without a filter only what is open is looked at. By lists, not by recursion: how deep a
 * tree is the capture says.
 */
export function seenTree<R>(
  roots: readonly R[],
  columns: readonly Column<R>[],
  view: View,
  tree: Tree<R>,
): Seen<R> {
  const { test, problems } = rowTest(columns, view);
  const order = sorter(columns, view.sort);
  const filtering = view.q.trim() !== '' || Object.keys(view.where).length > 0;
  const quick = filtering ? (tree.kept?.(view) ?? null) : null;
  const found = new Set<R>();
  const keeps = quick ?? ((row: R): boolean => found.has(row));
  if (filtering && quick === null) {
    const all: R[] = [...roots];
    const above: number[] = roots.map(() => -1);
    for (let i = 0; i < all.length; i += 1) {
      for (const child of tree.children(all[i] as R)) {
        all.push(child);
        above.push(i);
      }
    }
    const below = new Uint8Array(all.length);
    for (let i = all.length - 1; i >= 0; i -= 1) {
      const row = all[i] as R;
      if (below[i] === 0 && !test(row)) continue;
      found.add(row);
      const parent = above[i] ?? -1;
      if (parent >= 0) below[parent] = 1;
    }
  }
  const inOrder = (siblings: readonly R[]): readonly R[] => {
    const kept = filtering ? siblings.filter(keeps) : siblings;
    return order === null ? kept : [...kept].sort(order);
  };
  const rows: R[] = [];
  const stack: { list: readonly R[]; at: number }[] = [{ list: inOrder(roots), at: 0 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const row = top.list[top.at];
    if (row === undefined) {
      stack.pop();
      continue;
    }
    if (rows.length >= (tree.most ?? Infinity)) {
      problems.push(`only the first ${rows.length.toLocaleString('en-US')} are shown`);
      break;
    }
    top.at += 1;
    rows.push(row);
    // While filtering, the way to what was found is open.
    if (tree.isOpen(row) || (filtering && tree.children(row).some(keeps)))
      stack.push({ list: inOrder(tree.children(row)), at: 0 });
  }
  return { rows, problems };
}

/**
 * `cols=` names only what differs from the default: `eager` shows a hidden column, `!rank` hides
 * one.
 */
export function visibleColumns<R>(columns: readonly Column<R>[], cols: string): Column<R>[] {
  const changes = new Set(cols.split(',').filter((id) => id !== ''));
  return columns.filter((column) =>
    column.hidden === true ? changes.has(column.id) : !changes.has(`!${column.id}`),
  );
}

export function toggledColumn<R>(columns: readonly Column<R>[], cols: string, id: string): string {
  const column = columns.find((candidate) => candidate.id === id);
  if (column === undefined) return cols;
  const mark = column.hidden === true ? id : `!${id}`;
  const changes = new Set(cols.split(',').filter((entry) => entry !== ''));
  if (!changes.delete(mark)) changes.add(mark);
  return [...changes].sort().join(',');
}

export function cellText<R>(column: Column<R>, row: R): string {
  const value = column.value(row);
  if (column.text !== undefined) return column.text(value, row);
  if (value === null) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}
