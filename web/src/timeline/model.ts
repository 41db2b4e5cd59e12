// SPDX-License-Identifier: Apache-2.0
// Which tracks are shown, in which order and where. Pure: trace and choices in, rows with their
// places out.

import { textFilter } from '../core/filter';
import type { ProcessInfo, TraceInfo, TrackInfo } from './answers';

/**
 * Lists of ids as they stand in the address; a process is `p` and its id, so that it is never taken
 * for a track.
 */
export interface Choices {
  pin: readonly string[];
  hide: ReadonlySet<string>;
  fold: ReadonlySet<string>;
  open: ReadonlySet<string>;
  order: readonly string[];
  /** Text in names of tracks or processes. */
  filter: string;
}

export interface ProcessRow {
  kind: 'process';
  key: string;
  process: ProcessInfo;
  title: string;
  open: boolean;
  y: number;
  height: number;
}

export interface TrackRow {
  kind: 'track';
  key: string;
  process: ProcessInfo;
  track: TrackInfo;
  title: string;
  pinned: boolean;
  folded: boolean;
  y: number;
  height: number;
  /** Pixels from one depth to the next. */
  pitch: number;
  /** Pixels of a box, without the gap below it. */
  box: number;
}

export type Row = ProcessRow | TrackRow;

export interface Layout {
  pinned: TrackRow[];
  pinnedHeight: number;
  rows: Row[];
  height: number;
  /** Tracks that only the filter or hiding keeps away. */
  hidden: number;
}

export const PROCESS_HEIGHT = 26;
export const PITCH = 18;
const BOX = 17;
const PAD = 4;
const COUNTER_HEIGHT = 40;
/** A folded track squeezes its rows into this. */
const FOLDED = 18;
/** More tracks than this are not opened by themselves. */
const OPEN_TRACKS = 200;

export const processKey = (process: ProcessInfo): string => `p${process.id}`;

export function processTitle(trace: TraceInfo, process: ProcessInfo): string {
  const host = trace.hosts.find((one) => one.index === process.host)?.host ?? '';
  return trace.hosts.length < 2 || host === '' || process.name.startsWith(host)
    ? process.name
    : `${host} ${process.name}`;
}

/** Listed items come first, in the order of the list; the rest keeps its own. */
export function ordered<T>(
  list: readonly T[],
  key: (one: T) => string,
  order: readonly string[],
): T[] {
  const place = new Map(order.map((id, index) => [id, index]));
  return list
    .map((one, index) => ({ one, rank: place.get(key(one)) ?? order.length + index }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ one }) => one);
}

/** The order that puts an id `by` places further; null where it is at the end already. */
export function moved(
  ids: readonly string[],
  id: string,
  by: number,
  order: readonly string[],
): string[] | null {
  const at = ids.indexOf(id);
  const to = Math.min(ids.length - 1, Math.max(0, at + by));
  if (at < 0 || to === at) return null;
  const list = ids.filter((one) => one !== id);
  list.splice(to, 0, id);
  // Only as much as differs from the order without a list needs to be said; siblings elsewhere keep
  // their words.
  const mine = new Set(ids);
  return [...order.filter((one) => !mine.has(one)), ...list.slice(0, Math.max(at, to) + 1)];
}

/**
 * Processes that are open when nobody has said anything: as many as a person looks through. Derived
 * lines and counters of memory do not count, because they may come later, and no process should
 * fold itself then.
 */
export function openByDefault(trace: TraceInfo): Set<string> {
  const open = new Set<string>();
  let tracks = 0;
  for (const process of trace.processes) {
    const more = process.tracks.filter(
      (track) => track.kind !== 'derived' && track.allocator === undefined,
    ).length;
    if (tracks > 0 && tracks + more > OPEN_TRACKS) continue;
    tracks += more;
    open.add(processKey(process));
  }
  return open;
}

export function isOpen(key: string, choices: Choices, initially: ReadonlySet<string>): boolean {
  if (choices.filter !== '') return !choices.fold.has(key);
  return choices.open.has(key) || (initially.has(key) && !choices.fold.has(key));
}

export function trackRow(
  process: ProcessInfo,
  track: TrackInfo,
  title: string,
  y: number,
  folded: boolean,
  pinned: boolean,
): TrackRow {
  const depth = Math.max(1, track.depth);
  const squeezed = folded && depth > 1;
  const pitch =
    track.kind === 'counter' ? COUNTER_HEIGHT : squeezed ? Math.max(1, FOLDED / depth) : PITCH;
  const content = squeezed
    ? Math.min(2 * FOLDED, pitch * depth)
    : pitch * (track.kind === 'counter' ? 1 : depth);
  return {
    kind: 'track',
    key: track.id,
    process,
    track,
    title,
    pinned,
    folded: squeezed,
    y,
    pitch,
    height: Math.ceil(content) + 2 * PAD,
    box: track.kind === 'counter' ? pitch : pitch > 4 ? pitch - (PITCH - BOX) : pitch,
  };
}

/** Where the boxes of a row begin. */
export function boxTop(row: TrackRow, depth = 0): number {
  return row.y + PAD + depth * row.pitch;
}

export function layout(trace: TraceInfo, choices: Choices, initially: ReadonlySet<string>): Layout {
  const { test } = textFilter(choices.filter, false);
  const pins = new Map(choices.pin.map((id) => [id, true]));
  const pinnedRows: TrackRow[] = [];
  const rows: Row[] = [];
  let y = 0;
  let hidden = 0;
  for (const process of ordered(trace.processes, processKey, choices.order)) {
    const key = processKey(process);
    const title = processTitle(trace, process);
    if (choices.hide.has(key)) {
      hidden += process.tracks.length;
      continue;
    }
    const shown = ordered(process.tracks, (track) => track.id, choices.order).filter((track) => {
      // A line that holds nothing is no track; the profilers leave it out too.
      if (track.events === 0) return false;
      const kept =
        !choices.hide.has(track.id) &&
        (test(track.name) || test(title) || test(`${title} ${track.name}`));
      if (!kept) hidden += 1;
      return kept;
    });
    for (const track of shown) {
      if (pins.has(track.id))
        pinnedRows.push(
          trackRow(process, track, trackTitle(track), 0, choices.fold.has(track.id), true),
        );
    }
    if (shown.length === 0) continue;
    const open = isOpen(key, choices, initially);
    rows.push({ kind: 'process', key, process, title, open, y, height: PROCESS_HEIGHT });
    y += PROCESS_HEIGHT;
    if (!open) continue;
    for (const track of shown) {
      if (pins.has(track.id)) continue;
      const row = trackRow(process, track, trackTitle(track), y, choices.fold.has(track.id), false);
      rows.push(row);
      y += row.height;
    }
  }
  const pinned = ordered(pinnedRows, (row) => row.key, choices.pin);
  let at = 0;
  for (const row of pinned) {
    row.y = at;
    at += row.height;
  }
  return { pinned, pinnedHeight: at, rows, height: y, hidden };
}

export function trackTitle(track: TrackInfo): string {
  return track.name === '' ? `${track.kind} ${track.tid}` : track.name;
}

/** Rows that touch [from, to) pixels. */
export function rowsBetween<R extends Row>(rows: readonly R[], from: number, to: number): R[] {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row !== undefined && row.y + row.height <= from) low = middle + 1;
    else high = middle;
  }
  const found: R[] = [];
  for (let i = low; i < rows.length; i += 1) {
    const row = rows[i];
    if (row === undefined || row.y >= to) break;
    found.push(row);
  }
  return found;
}

export function readList(text: string): string[] {
  return text.split(',').filter((one) => one !== '');
}
