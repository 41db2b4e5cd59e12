// SPDX-License-Identifier: Apache-2.0
// From the server's compact tiles to columns that can be drawn. Pure.

export interface TileTrack {
  id: string;
  slot_ps: number;
  /** Differences to the entry before of the same depth, as `event` is. */
  start?: number[];
  duration?: number[];
  depth?: [number, number][];
  name?: number[];
  event?: number[];
  merged?: number[];
  count?: number[];
  busy?: number[];
  events?: number;
  before?: number;
  /** Counters only. */
  time?: number[];
  min?: number[];
  max?: number[];
  last?: number[];
}

export interface TileAnswer {
  level: number;
  tile: number;
  tiles: number;
  from_ps: number;
  to_ps: number;
  slot_ps: number;
  names: string[];
  categories: number[];
  tracks: TileTrack[];
}

/**
 * Names get one number each for as long as the page shows a trace, so that blocks can be compared.
 */
export class Names {
  private readonly index = new Map<string, number>();
  readonly text: string[] = [];
  /** Categories that any event had so far. */
  readonly categories = new Set<number>();

  id(name: string): number {
    const known = this.index.get(name);
    if (known !== undefined) return known;
    const fresh = this.text.length;
    this.index.set(name, fresh);
    this.text.push(name);
    return fresh;
  }

  find(name: string): number {
    return this.index.get(name) ?? -1;
  }
}

export interface Counter {
  time: Float64Array;
  min: Float64Array;
  max: Float64Array;
  last: Float64Array;
}

/** One track over one block of tiles. Entries by depth, then by start. */
export interface Block {
  track: string;
  level: number;
  index: number;
  from: number;
  to: number;
  slot: number;
  size: number;
  start: Float64Array;
  duration: Float64Array;
  name: Uint32Array;
  /** Of each event: a launch and its kernel have one name and two categories. */
  category: Uint8Array;
  event: Uint32Array;
  /** 1 for an event; more for a merged stretch. */
  count: Uint32Array;
  /** Share of a merged stretch in which something ran, 0..255. */
  busy: Uint8Array;
  depth: Uint16Array;
  /** Where each depth begins; one more than there are depths. */
  rows: Uint32Array;
  counter: Counter | null;
}

function sums(values: readonly number[]): Float64Array {
  const out = new Float64Array(values.length);
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) {
    sum += values[i] ?? 0;
    out[i] = sum;
  }
  return out;
}

/** Numbers of a damaged answer must not make arrays that never end. */
const MOST_DEPTHS = 4096;

/** An answer that does not say. */
const NO_CATEGORY = 255;

function decodeTrack(
  answer: TileAnswer,
  track: TileTrack,
  rename: readonly number[],
  index: number,
): Block {
  const starts = track.start ?? [];
  const size = starts.length;
  const block: Block = {
    track: track.id,
    level: answer.level,
    index,
    from: answer.from_ps,
    to: answer.to_ps,
    slot: track.slot_ps,
    size,
    start: new Float64Array(size),
    duration: Float64Array.from(track.duration ?? []),
    name: new Uint32Array(size),
    category: new Uint8Array(size).fill(NO_CATEGORY),
    event: new Uint32Array(size),
    count: new Uint32Array(size).fill(1),
    busy: new Uint8Array(size).fill(255),
    depth: new Uint16Array(size),
    rows: new Uint32Array(1),
    counter: null,
  };
  const rows: number[] = [0];
  let at = 0;
  for (const [depth, length] of track.depth ?? []) {
    if (depth >= MOST_DEPTHS) break;
    while (rows.length <= depth) rows.push(at);
    let [start, event] = [0, 0];
    for (const end = Math.min(size, at + length); at < end; at += 1) {
      start += starts[at] ?? 0;
      event += track.event?.[at] ?? 0;
      block.start[at] = start;
      block.event[at] = event;
      block.depth[at] = depth;
    }
    rows.push(at);
  }
  block.rows = Uint32Array.from(rows);
  for (let i = 0; i < size; i += 1) {
    const name = track.name?.[i] ?? -1;
    block.name[i] = rename[name] ?? 0;
    block.category[i] = answer.categories[name] ?? NO_CATEGORY;
  }
  let merged = 0;
  (track.merged ?? []).forEach((step, i) => {
    merged += step;
    if (merged >= size) return;
    block.count[merged] = track.count?.[i] ?? 2;
    const length = Math.max(1, block.duration[merged] ?? 1);
    block.busy[merged] = Math.max(
      1,
      Math.round(255 * Math.min(1, (track.busy?.[i] ?? length) / length)),
    );
  });
  if (track.time !== undefined) {
    const [time, last] = [sums(track.time), Float64Array.from(track.last ?? [])];
    block.counter = {
      time,
      last,
      min: Float64Array.from(track.min ?? last),
      max: Float64Array.from(track.max ?? last),
    };
  }
  return block;
}

/** The blocks of an answer; `index` is their place among the blocks of its level. */
export function decode(answer: TileAnswer, names: Names, index: number): Block[] {
  const rename = answer.names.map((name) => names.id(name));
  for (const category of answer.categories) names.categories.add(category);
  return answer.tracks.map((track) => decodeTrack(answer, track, rename, index));
}

/**
 * First entry of a row that ends after `ps`; entries of a row do not overlap, so their ends are in
 * order too.
 */
export function firstEndingAfter(block: Block, row: number, ps: number): number {
  let [low, high] = [block.rows[row] ?? 0, block.rows[row + 1] ?? block.rows[row] ?? 0];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((block.start[middle] ?? 0) + (block.duration[middle] ?? 0) <= ps) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One past the last entry of a row that begins before `ps`. */
export function firstStartingFrom(block: Block, row: number, ps: number): number {
  let [low, high] = [block.rows[row] ?? 0, block.rows[row + 1] ?? block.rows[row] ?? 0];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((block.start[middle] ?? 0) < ps) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What a block holds in bytes, for the cache. */
export function weight(block: Block): number {
  return 400 + block.size * 34 + (block.counter?.time.length ?? 0) * 32;
}
