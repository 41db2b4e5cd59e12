// SPDX-License-Identifier: Apache-2.0
// Blocks of tiles: kept by track, level and place, asked for in groups, let go of when they were
// not seen for long.

import { ApiError, isAbort } from '../core/api';
import type { TraceServer } from './answers';
import { decode, weight, type Block, type Names, type TileAnswer } from './decode';
import { BLOCK_TILES, blockSpan } from './viewport';

export interface Place {
  track: string;
  /** Rows of the track, to guess how large an answer gets. */
  rows: number;
  level: number;
  index: number;
  /** Never let go of: the coarsest level, so that there is always something to draw. */
  keep?: boolean;
}

/** A block and the part of the time it stands for on the screen. */
export interface Piece {
  block: Block;
  from: number;
  to: number;
}

interface Held {
  block: Block;
  used: number;
  bytes: number;
  kept: boolean;
  /** Drawn until what replaces it is there. */
  expired?: boolean;
}

interface Flight {
  places: Map<string, Place>;
  controller: AbortController;
}

export interface TileLimits {
  bytes: number;
  requests: number;
  /** Rows and tracks asked for at once. */
  rows: number;
  tracks: number;
}

/**
 * A browser opens six connections to a server; one stays free for details and another for the list
 * of runs.
 */
export const LIMITS: TileLimits = { bytes: 40e6, requests: 4, rows: 24, tracks: 60 };

const LEVELS_UP = 24;
const LEVELS_DOWN = 3;
const RETRY_MS = 2000;
const TRIES = 3;

const key = (track: string, level: number, index: number): string => `${track}/${level}/${index}`;

/** Errors that stay in two seconds, too: the run is gone, or the server is. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && ['not_found', 'network'].includes(error.code);
}

export class TileStore {
  private readonly held = new Map<string, Held>();
  private readonly flights = new Set<Flight>();
  private readonly failed = new Map<string, { at: number; times: number }>();
  private queue: Place[] = [];
  private bytes = 0;
  private clock = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  /** The last request that failed for good, until one succeeds. */
  error: unknown = null;

  constructor(
    private readonly server: Pick<TraceServer, 'get'>,
    private readonly names: Names,
    private readonly arrived: (blocks: readonly Block[]) => void,
    private readonly dropped: (block: Block) => void = () => undefined,
    private readonly limits: TileLimits = LIMITS,
  ) {}

  get pending(): boolean {
    return this.flights.size > 0 || this.queue.length > 0;
  }

  get size(): { blocks: number; bytes: number; flights: number } {
    return { blocks: this.held.size, bytes: this.bytes, flights: this.flights.size };
  }

  /** Begins a frame: blocks that are looked at from now on are newer. */
  tick(): void {
    this.clock += 1;
  }

  get(track: string, level: number, index: number): Block | null {
    const found = this.held.get(key(track, level, index));
    if (found === undefined) return null;
    found.used = this.clock;
    return found.block;
  }

  all(): Block[] {
    return [...this.held.values()].map(({ block }) => block);
  }

  /** What there is to draw for a place: the block itself, else a coarser one, else finer ones. */
  cover(track: string, level: number, index: number): Piece[] {
    const size = blockSpan(level);
    const [from, to] = [index * size, (index + 1) * size];
    const own = this.get(track, level, index);
    if (own !== null) return [{ block: own, from, to }];
    for (let up = 1; up <= LEVELS_UP; up += 1) {
      const block = this.get(track, level + up, Math.floor(index / 2 ** up));
      if (block !== null) return [{ block, from, to }];
    }
    const pieces: Piece[] = [];
    for (let down = 1; down <= LEVELS_DOWN && level - down >= 0 && pieces.length === 0; down += 1) {
      const part = blockSpan(level - down);
      for (let i = 0; i < 2 ** down; i += 1) {
        const block = this.get(track, level - down, index * 2 ** down + i);
        if (block !== null)
          pieces.push({ block, from: from + i * part, to: from + (i + 1) * part });
      }
    }
    return pieces;
  }

  /**
   * The blocks that should be there, most urgent first. Requests for other blocks are cancelled.
   */
  want(places: readonly Place[]): void {
    const wanted = new Map(
      places.map((place) => [key(place.track, place.level, place.index), place]),
    );
    for (const flight of [...this.flights]) {
      if ([...flight.places.keys()].some((one) => wanted.has(one))) continue;
      this.flights.delete(flight);
      flight.controller.abort();
    }
    const flying = new Set([...this.flights].flatMap((flight) => [...flight.places.keys()]));
    const now = Date.now();
    this.queue = [...wanted]
      .filter(([id]) => {
        const held = this.held.get(id);
        if ((held !== undefined && held.expired !== true) || flying.has(id)) return false;
        const failure = this.failed.get(id);
        return failure === undefined || (failure.times < TRIES && now - failure.at >= RETRY_MS);
      })
      .map(([, place]) => place);
    this.start();
  }

  /** All that is held is asked for anew when it is wanted, and shown until then. */
  expire(): void {
    for (const held of this.held.values()) held.expired = true;
    for (const flight of this.flights) flight.controller.abort();
    this.flights.clear();
  }

  clear(): void {
    for (const flight of this.flights) flight.controller.abort();
    this.flights.clear();
    this.queue = [];
    clearTimeout(this.retry);
    for (const { block } of this.held.values()) this.dropped(block);
    this.held.clear();
    this.failed.clear();
    this.bytes = 0;
  }

  /** Tries again what was given up. */
  again(): void {
    this.failed.clear();
    this.error = null;
  }

  private start(): void {
    while (this.flights.size < this.limits.requests && this.queue.length > 0) {
      const [first] = this.queue;
      if (first === undefined) return;
      const group: Place[] = [];
      let rows = 0;
      for (const place of this.queue) {
        if (place.level !== first.level || place.index !== first.index) continue;
        if (
          group.length > 0 &&
          (rows + place.rows > this.limits.rows || group.length >= this.limits.tracks)
        )
          break;
        group.push(place);
        rows += place.rows;
      }
      const taken = new Set(group);
      this.queue = this.queue.filter((place) => !taken.has(place));
      this.fetch(group);
    }
  }

  private fetch(group: readonly Place[]): void {
    const [first] = group;
    if (first === undefined) return;
    const { level, index } = first;
    const flight: Flight = {
      places: new Map(group.map((place) => [key(place.track, level, index), place])),
      controller: new AbortController(),
    };
    this.flights.add(flight);
    const query = {
      tracks: group.map((place) => place.track).join(','),
      level,
      tile: index * BLOCK_TILES,
      tiles: BLOCK_TILES,
    };
    this.server.get<TileAnswer>('tiles', query, flight.controller.signal).then(
      (answer) => {
        if (!this.flights.delete(flight)) return;
        this.error = null;
        const blocks = decode(answer, this.names, index);
        const came = new Set(blocks.map((block) => block.track));
        // A track without events there may be left out of the answer; that is known now too.
        const empty = group
          .filter((place) => !came.has(place.track))
          .map((place) => ({ id: place.track, slot_ps: answer.slot_ps }));
        blocks.push(...decode({ ...answer, tracks: empty }, this.names, index));
        for (const block of blocks) this.keep(block, first.keep === true);
        this.evict();
        this.arrived(blocks);
        this.start();
      },
      (error: unknown) => {
        if (!this.flights.delete(flight) || isAbort(error)) return;
        for (const id of flight.places.keys()) {
          const times = isFinal(error) ? TRIES : (this.failed.get(id)?.times ?? 0) + 1;
          this.failed.set(id, { at: Date.now(), times });
          if (times >= TRIES) this.error = error;
        }
        // The renderer asks again for the blocks that it lacks.
        clearTimeout(this.retry);
        this.retry = setTimeout(() => this.arrived([]), RETRY_MS + 50);
        this.arrived([]);
        this.start();
      },
    );
  }

  private keep(block: Block, kept: boolean): void {
    const id = key(block.track, block.level, block.index);
    const old = this.held.get(id);
    if (old !== undefined) this.drop(id, old);
    const bytes = weight(block);
    this.held.set(id, { block, used: this.clock, bytes, kept });
    this.bytes += bytes;
  }

  private drop(id: string, held: Held): void {
    this.held.delete(id);
    this.bytes -= held.bytes;
    this.dropped(held.block);
  }

  private evict(): void {
    if (this.bytes <= this.limits.bytes) return;
    const oldest = [...this.held]
      .filter(([, held]) => !held.kept && held.used < this.clock)
      .sort(([, a], [, b]) => a.used - b.used);
    for (const [id, held] of oldest) {
      if (this.bytes <= this.limits.bytes * 0.8) break;
      this.drop(id, held);
    }
  }
}
