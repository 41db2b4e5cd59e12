// SPDX-License-Identifier: Apache-2.0
// Memory profiles as the page works with them: times in nanoseconds, as its address has them.

import { amount, number, records, text, type GvizTable } from './gviz';

export interface Allocator {
  id: string;
  allocations: number;
  deallocations: number;
  /** Null where nothing ever was in use, or the allocator does not say. */
  capacity: number | null;
  lifetimePeak: number;
  peak: number | null;
  peakNs: number | null;
  peakStep: number | null;
  stack: number;
  heap: number;
  free: number;
  fragmentation: number;
  firstNs: number;
  lastNs: number;
  alive: number;
  aliveBytes: number;
  lastStep: number;
  severity: string;
  note: string;
}

export interface MemorySummary {
  allocators: Allocator[];
  /** What the profiler itself wrote about memory that was not there. */
  outOfMemory: string;
}

export interface MemoryPoint {
  ns: number;
  stack: number;
  heap: number;
  free: number;
  /** 0 to 1. */
  fragmentation: number;
  gives: boolean;
  bytes: number;
  requested: number;
  op: string;
  region: string;
  type: string;
  shape: string;
  step: number;
  address: string;
}

export interface Timeline {
  points: MemoryPoint[];
  /** Events of the allocator, drawn or not. */
  total: number;
}

export interface Band {
  name: string;
  fromNs: number;
  toNs: number;
}

export interface Block {
  key: string;
  /** What, besides the op, tells it from others. */
  traits: string;
  op: string;
  total: number;
  requested: number;
  occurrences: number;
  each: number | null;
  region: string;
  type: string;
  shape: string;
  firstNs: number | null;
  step: number | null;
  kind: 'allocation' | 'unused' | 'stack';
}

export interface Breakdown {
  blocks: Block[];
  rowsTotal: number;
  ns: number | null;
  stack: number;
  heap: number;
  free: number;
  fragmentation: number;
  step: number | null;
}

function property(table: GvizTable, key: string): string {
  const value = table.p?.[key];
  return value === undefined || value === null ? '' : String(value);
}

function numeric(table: GvizTable, key: string): number | null {
  const value = property(table, key);
  return value === '' || !Number.isFinite(Number(value)) ? null : Number(value);
}

const inNs = (ps: number | null): number | null => (ps === null ? null : ps / 1000);

export function readSummary(table: GvizTable): MemorySummary {
  return {
    outOfMemory: property(table, 'out_of_memory'),
    allocators: records(table).map((record) => {
      const capacity = number(record, 'capacity_bytes');
      return {
        id: text(record, 'memory_id'),
        allocations: amount(record, 'allocations'),
        deallocations: amount(record, 'deallocations'),
        capacity: capacity === null || capacity <= 0 ? null : capacity,
        lifetimePeak: amount(record, 'lifetime_peak_bytes'),
        peak: number(record, 'peak_bytes'),
        peakNs: inNs(number(record, 'peak_time_ps')),
        peakStep: number(record, 'peak_step'),
        stack: amount(record, 'stack_bytes'),
        heap: amount(record, 'heap_bytes'),
        free: amount(record, 'free_bytes'),
        fragmentation: amount(record, 'fragmentation'),
        firstNs: amount(record, 'first_ps') / 1000,
        lastNs: amount(record, 'last_ps') / 1000,
        alive: amount(record, 'alive_at_end'),
        aliveBytes: amount(record, 'alive_at_end_bytes'),
        lastStep: amount(record, 'last_step'),
        severity: text(record, 'severity'),
        note: text(record, 'note'),
      };
    }),
  };
}

export function readTimeline(table: GvizTable): Timeline {
  const points = records(table).map((record) => ({
    ns: amount(record, 'time_ps') / 1000,
    stack: amount(record, 'stack_bytes'),
    heap: amount(record, 'heap_bytes'),
    free: amount(record, 'free_bytes'),
    fragmentation: amount(record, 'fragmentation'),
    gives: text(record, 'event') === 'deallocation',
    bytes: amount(record, 'allocation_bytes'),
    requested: amount(record, 'requested_bytes'),
    op: text(record, 'op_name'),
    region: text(record, 'region_type'),
    type: text(record, 'data_type'),
    shape: text(record, 'shape'),
    step: amount(record, 'step'),
    address: text(record, 'address'),
  }));
  return { points, total: numeric(table, 'events_total') ?? points.length };
}

export function readBands(table: GvizTable): Band[] {
  return records(table).map((record) => {
    const name = text(record, 'name');
    return {
      name: name === '' ? text(record, 'step') : name,
      fromNs: amount(record, 'begin_ps') / 1000,
      toNs: amount(record, 'end_ps') / 1000,
    };
  });
}

function kindOf(word: string): Block['kind'] {
  return word === 'unused' || word === 'stack' ? word : 'allocation';
}

export function readBreakdown(table: GvizTable): Breakdown {
  const blocks = records(table).map((record): Block => {
    const [op, region, type, shape, kind] = [
      'op_name',
      'region_type',
      'data_type',
      'shape',
      'kind',
    ].map((id) => text(record, id)) as [string, string, string, string, string];
    const each = number(record, 'allocation_bytes');
    // A line that stands for no allocation changes its size from moment to moment, but stays the
    // same line.
    const traits = [
      kind,
      region,
      type,
      shape,
      kind === 'allocation' ? (each ?? '') : '',
      kind === 'allocation' ? (number(record, 'requested_bytes') ?? '') : '',
    ].join('|');
    return {
      key: `${op}|${traits}`,
      traits,
      op,
      region,
      type,
      shape,
      each,
      kind: kindOf(kind),
      total: amount(record, 'total_bytes'),
      requested: amount(record, 'total_requested_bytes'),
      occurrences: amount(record, 'occurrences'),
      firstNs: inNs(number(record, 'first_ps')),
      step: number(record, 'step'),
    };
  });
  return {
    blocks,
    rowsTotal: numeric(table, 'rows_total') ?? blocks.length,
    ns: inNs(numeric(table, 'time_ps')),
    stack: numeric(table, 'stack_bytes') ?? 0,
    heap: numeric(table, 'heap_bytes') ?? 0,
    free: numeric(table, 'free_bytes') ?? 0,
    fragmentation: numeric(table, 'fragmentation') ?? 0,
    step: numeric(table, 'step'),
  };
}

/** The last point at or before a time, or -1. */
export function pointAt(points: readonly MemoryPoint[], ns: number): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.ns ?? 0) <= ns) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A step between marks of a byte axis that gives round numbers of KiB, MiB, GiB. */
export function byteStep(span: number, marks: number): number {
  if (!(span > 0)) return 1;
  let step = 1;
  while (span / step > marks) step *= 2;
  return step;
}

export interface Span {
  from: number;
  to: number;
}

/** A window around a time, larger or smaller by a factor, kept within the whole. */
export function zoomed(span: Span, whole: Span, factor: number, around: number): Span {
  const least = Math.min(1, whole.to - whole.from);
  const width = Math.min(whole.to - whole.from, Math.max(least, (span.to - span.from) * factor));
  const share = (around - span.from) / Math.max(1e-9, span.to - span.from);
  const from = Math.min(whole.to - width, Math.max(whole.from, around - share * width));
  return { from, to: from + width };
}
