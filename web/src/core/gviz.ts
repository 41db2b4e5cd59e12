// SPDX-License-Identifier: Apache-2.0
// The server's tables as records. The cells are what the JSON holds, checked once here.

export type Cell = string | number | boolean | null;

export type Rec = Readonly<Record<string, Cell>>;

export interface GvizTable {
  cols: { id: string; label: string; type: string }[];
  rows: { c: ({ v?: unknown } | null)[] }[];
  p?: Record<string, unknown>;
}

function cell(value: unknown): Cell {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  return null;
}

/** Ids are compared in lower case: one of the peers' columns changed its case between versions. */
export function records(table: GvizTable): Rec[] {
  const ids = table.cols.map((col) => col.id.toLowerCase());
  return table.rows.map((row) => {
    const record: Record<string, Cell> = {};
    ids.forEach((id, index) => {
      record[id] = cell(row.c[index]?.v);
    });
    return record;
  });
}

export function text(record: Rec, id: string): string {
  const value = record[id];
  return value === null || value === undefined ? '' : String(value);
}

export function number(record: Rec, id: string): number | null {
  const value = record[id];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function amount(record: Rec, id: string): number {
  return number(record, id) ?? 0;
}

export function flag(record: Rec, id: string): boolean {
  return record[id] === true;
}
