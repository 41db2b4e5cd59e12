// Joining a run with its base by what names a row.

export interface Difference {
  base: number | null;
  delta: number | null;
  /** Fraction of the base; null when there is none to divide by. */
  ratio: number | null;
  state: 'both' | 'new' | 'gone';
}

export function difference(now: number | null, base: number | null): Difference {
  if (base === null) return { base: null, delta: now, ratio: null, state: 'new' };
  if (now === null) return { base, delta: -base, ratio: -1, state: 'gone' };
  return { base, delta: now - base, ratio: base === 0 ? null : (now - base) / base, state: 'both' };
}

/**
 * Puts each row beside its base. Rows only the base has are made by `gone`, so that they can be listed too.
 */
export function joinBase<R>(
  rows: readonly R[], base: readonly R[], key: (row: R) => string, measure: (row: R) => number,
  put: (row: R, difference: Difference) => R, gone: (row: R) => R,
): R[] {
  const rest = new Map<string, R>();
  for (const row of base) rest.set(key(row), row);
  const joined = rows.map((row) => {
    const other = rest.get(key(row));
    rest.delete(key(row));
    return put(row, difference(measure(row), other === undefined ? null : measure(other)));
  });
  for (const other of rest.values()) joined.push(put(gone(other), difference(null, measure(other))));
  return joined;
}
