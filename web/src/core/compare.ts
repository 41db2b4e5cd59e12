// SPDX-License-Identifier: Apache-2.0
// Joining a run with its base by what names a row.

export interface Difference {
  base: number | null;
  delta: number | null;
  /** Fraction of the base; null when there is none to divide by. */
  ratio: number | null;
  state: 'both' | 'new' | 'gone';
  /** The base row's name, where it differs by counters. */
  baseName?: string;
}

export function difference(now: number | null, base: number | null): Difference {
  if (base === null) return { base: null, delta: now, ratio: null, state: 'new' };
  if (now === null) return { base, delta: -base, ratio: -1, state: 'gone' };
  return { base, delta: now - base, ratio: base === 0 ? null : (now - base) / base, state: 'both' };
}

/** How many steps both runs have. */
export interface StepCounts {
  now: number;
  base: number;
}

/** What times of the base are multiplied by, so that both runs' are for as many steps. */
export function stepScale(counts: StepCounts | null): number {
  return counts === null ? 1 : counts.now / counts.base;
}

/** A name's part as it is, without its counters, and these. */
export interface Part {
  text: string;
  bare: string;
  counters: readonly number[];
}

/**
 * Where a row belongs: its name in parts from the outermost scope on, and what else must be equal.
 */
export interface Place {
  parts: readonly Part[];
  rest: string;
}

/**
 * `dense_3`, `fusion.12` and `add_1_2` end in counters; colons behind them, as JAX has them, stay.
 */
export function part(text: string): Part {
  let end = text.length;
  while (text[end - 1] === ':') end -= 1;
  const counters: number[] = [];
  let begin = end;
  for (;;) {
    let at = begin;
    while (at > 0 && /\d/.test(text[at - 1] ?? '')) at -= 1;
    if (at === begin || !['_', '.'].includes(text[at - 1] ?? '')) break;
    counters.unshift(Number(text.slice(at, begin)));
    begin = at - 1;
  }
  return { text, bare: text.slice(0, begin) + text.slice(end), counters };
}

export function exactPart(text: string): Part {
  return { text, bare: text, counters: [] };
}

export function opParts(name: string): Part[] {
  return name.split('/').map(part);
}

/**
 * XLA's kernels are named like its instructions. Numbers in names of libraries' kernels are sizes,
 * which tell them apart.
 */
export function kernelPart(name: string): Part {
  const plain = name.replace(/\.kd$/, '');
  return /^[a-z_][a-z0-9_.-]*$/.test(plain) && !/\d+x\d+/.test(plain)
    ? { ...part(plain), text: name }
    : exactPart(name);
}

/** For rows that are found by nothing but their whole key. */
export function exactPlace(key: string): Place {
  return { parts: [], rest: key };
}

interface Node<R> {
  part: Part;
  rows: Map<string, R[]>;
  scopes: Map<string, Node<R>>;
}

function put<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function tree<R>(rows: readonly R[], place: (row: R) => Place): Node<R> {
  const root: Node<R> = { part: exactPart(''), rows: new Map(), scopes: new Map() };
  for (const row of rows) {
    const { parts, rest } = place(row);
    let node = root;
    for (const one of parts) {
      let next = node.scopes.get(one.text);
      if (next === undefined) {
        next = { part: one, rows: new Map(), scopes: new Map() };
        node.scopes.set(one.text, next);
      }
      node = next;
    }
    put(node.rows, rest, row);
  }
  return root;
}

function byCounters<R>(a: Node<R>, b: Node<R>): number {
  const length = Math.max(a.part.counters.length, b.part.counters.length);
  for (let i = 0; i < length; i += 1) {
    // The first of a name has no counter.
    const order = (a.part.counters[i] ?? -1) - (b.part.counters[i] ?? -1);
    if (order !== 0) return order;
  }
  return a.part.text < b.part.text ? -1 : 1;
}

/**
 * Rows of two runs that belong together. Names are followed part by part, from the outermost scope
 * inward. In each scope
 * equal parts belong together; those left over that differ only by counters do if either run has as
 * many of them, in the
 * order of their counters. Otherwise the pairs are unknown.
 */
export function pairUp<R>(
  rows: readonly R[],
  base: readonly R[],
  place: (row: R) => Place,
): Map<R, R> {
  const pairs = new Map<R, R>();
  const open: [Node<R>, Node<R>][] = [[tree(rows, place), tree(base, place)]];
  for (let both = open.pop(); both !== undefined; both = open.pop()) {
    const [now, then] = both;
    for (const [rest, list] of now.rows) {
      const others = then.rows.get(rest) ?? [];
      list.forEach((row, index) => {
        const other = others[index];
        if (other !== undefined) pairs.set(row, other);
      });
    }
    const left = new Map<string, Node<R>[]>();
    const otherLeft = new Map<string, Node<R>[]>();
    for (const [text, scope] of now.scopes) {
      const other = then.scopes.get(text);
      if (other !== undefined) open.push([scope, other]);
      else put(left, scope.part.bare, scope);
    }
    for (const [text, scope] of then.scopes) {
      if (!now.scopes.has(text)) put(otherLeft, scope.part.bare, scope);
    }
    for (const [bare, scopes] of left) {
      const others = otherLeft.get(bare) ?? [];
      if (others.length !== scopes.length) continue;
      others.sort(byCounters);
      scopes.sort(byCounters).forEach((scope, index) => {
        const other = others[index];
        if (other !== undefined) open.push([scope, other]);
      });
    }
  }
  return pairs;
}

export interface Join<R> {
  place: (row: R) => Place;
  /** What a person knows the row by. */
  name: (row: R) => string;
  measure: (row: R) => number;
  /** What the base's measure is multiplied by, so that both cover the same number of steps. */
  scale: number;
  put: (row: R, difference: Difference) => R;
  /** A row that only the base has, emptied of what it measured. */
  gone: (row: R) => R;
}

/** Puts each row beside its base, and rows that only the base has behind them. */
export function joinBase<R>(
  rows: readonly R[],
  base: readonly R[],
  { place, name, measure, scale, put: set, gone }: Join<R>,
): R[] {
  const pairs = pairUp(rows, base, place);
  const met = new Set(pairs.values());
  const joined = rows.map((row) => {
    const other = pairs.get(row);
    if (other === undefined) return set(row, difference(measure(row), null));
    const found = difference(measure(row), measure(other) * scale);
    return set(row, name(other) === name(row) ? found : { ...found, baseName: name(other) });
  });
  for (const other of base) {
    if (!met.has(other)) joined.push(set(gone(other), difference(null, measure(other) * scale)));
  }
  return joined;
}
