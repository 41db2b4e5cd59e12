// SPDX-License-Identifier: Apache-2.0
// What the server answers about a trace (docs/api.md), and how it is asked. Times in picoseconds
// from the trace's begin.

import { getJson, type Query } from '../core/api';

export interface HostInfo {
  index: number;
  host: string;
  offset_ps: number;
  aligned: boolean;
  /** Why its file could not be read. */
  problem?: string;
}

export type TrackKind = 'thread' | 'stream' | 'derived' | 'counter' | 'async';

export interface TrackInfo {
  id: string;
  tid: number;
  name: string;
  kind: TrackKind;
  events: number;
  /** Rows it needs. */
  depth: number;
  begin_ps: number;
  end_ps: number;
  /** Counters only. */
  min?: number;
  max?: number;
  /** Of memory: the id of its allocator, as the memory profile knows it. */
  allocator?: string;
  unit?: string;
}

export interface ProcessInfo {
  id: string;
  host: number;
  pid: number;
  name: string;
  kind: 'host' | 'device' | 'other';
  tracks: TrackInfo[];
}

export interface StepInfo {
  number: number;
  name: string;
  start_ps: number;
  duration_ps: number;
}

export interface TraceInfo {
  /** Since 1970, as text: it has more digits than a double; null where the files do not say. */
  begin_ns: string | null;
  /** Where the first event of the chosen hosts begins, and the last ends. */
  first_ps: number;
  duration_ps: number;
  hosts: HostInfo[];
  alignment: string | null;
  events: number;
  /** In the files; of these not shown; beside these, what follows from them. */
  recorded?: number;
  hidden?: number;
  derived?: number;
  processes: ProcessInfo[];
  steps: StepInfo[];
  /** Whose they are: `index` of a host; null where no host has any. */
  steps_host: number | null;
  categories: string[];
  density: { slots: number; host: number[]; device: number[] };
  /** False where steps and derived lines were left out and are still to be asked for. */
  complete?: boolean;
}

export interface EventLink {
  direction: 'in' | 'out';
  category: string;
  id: string;
  name: string;
  track: string;
  start_ps: number;
  duration_ps: number;
  depth: number;
}

export interface EventInfo {
  id: string;
  name: string;
  long_name?: string;
  track: string;
  track_name: string;
  process: string;
  host: string;
  start_ps: number;
  duration_ps: number;
  self_ps: number;
  depth: number;
  category: number;
  step: number | null;
  step_name?: string | null;
  args: { name: string; value: string | number | boolean | null }[];
  parent: string | null;
  children: number;
  first_child: string | null;
  previous: string | null;
  next: string | null;
  /** At most a hundred of `flows_total`. */
  flows: EventLink[];
  flows_total?: number;
  kernel?: string;
  op?: string;
}

export interface Hit {
  id: string;
  track: string;
  name: string;
  start_ps: number;
  duration_ps: number;
  depth?: number;
}

export interface SearchAnswer {
  total: number;
  /** Texts that were too much for the expression; they may match or not. */
  gave_up?: number;
  tracks: { id: string; count: number }[];
  hits: Hit[];
  /** How many begin in each of the slots of equal length between two times. */
  density?: Density;
}

export interface Density {
  from_ps: number;
  to_ps: number;
  counts: number[];
}

export interface ListAnswer {
  total: number;
  rows: Hit[];
}

export interface AreaRow {
  name: string;
  category: number;
  count: number;
  total_ps: number;
  self_ps: number;
  avg_ps: number;
  min_ps: number;
  max_ps: number;
}

export interface AreaAnswer {
  from_ps: number;
  to_ps: number;
  /** What the rows are of: what was recorded (''), or one kind of lines that were made of it. */
  layer: string;
  layers: { layer: string; tracks: number }[];
  /** How long any of the layer's tracks ran; null where there is no such track. */
  host_busy_ps: number | null;
  device_busy_ps: number | null;
  events: number;
  rows: AreaRow[];
  rows_total?: number;
}

export type Direction =
  'next' | 'previous' | 'parent' | 'child' | 'same_name_next' | 'same_name_previous';

export interface SearchQuery {
  q: string;
  regex: boolean;
  inside: 'name' | 'args' | 'all';
  matchCase: boolean;
}

const ROOT = 'trace_viewer/';

/** Asks about one run and its chosen hosts. */
export class TraceServer {
  /**
   * While set, tiles are asked for without waiting for derived lines; those of other lines are the
   * same.
   */
  early = false;

  constructor(readonly query: Query) {}

  get<T>(what: string, more: Query, signal?: AbortSignal): Promise<T> {
    return getJson<T>(
      ROOT + what,
      { ...this.query, ...(this.early && what === 'tiles' ? { derived: 0 } : {}), ...more },
      signal,
    );
  }

  /** What is there at once, which may be all: see `complete`. */
  earlyTracks(signal?: AbortSignal): Promise<TraceInfo> {
    return this.get('tracks', { derived: 0 }, signal);
  }

  tracks(signal?: AbortSignal): Promise<TraceInfo> {
    return this.get('tracks', {}, signal);
  }

  /** Steps of one host, by its name, or of the first that has any. */
  steps(
    host: string | null,
    signal?: AbortSignal,
  ): Promise<Pick<TraceInfo, 'steps' | 'steps_host'>> {
    return this.get('steps', host === null ? {} : { host }, signal);
  }

  event(id: string, signal?: AbortSignal): Promise<EventInfo> {
    return this.get('event', { id }, signal);
  }

  neighbour(id: string, direction: Direction, signal?: AbortSignal): Promise<EventInfo | null> {
    return this.get('neighbour', { id, direction }, signal);
  }

  list(
    tracks: readonly string[],
    from: number,
    to: number,
    offset: number,
    limit: number,
    signal?: AbortSignal,
  ): Promise<ListAnswer> {
    return this.get(
      'events',
      { tracks: tracks.join(','), from_ps: whole(from), to_ps: whole(to), offset, limit },
      signal,
    );
  }

  search(query: SearchQuery, more: Query, signal?: AbortSignal): Promise<SearchAnswer> {
    return this.get(
      'search',
      {
        q: query.q,
        mode: query.regex ? 'regex' : 'text',
        in: query.inside,
        case: query.matchCase ? 1 : 0,
        ...more,
      },
      signal,
    );
  }

  area(
    tracks: readonly string[],
    from: number,
    to: number,
    layer: string,
    signal?: AbortSignal,
  ): Promise<AreaAnswer> {
    return this.get(
      'aggregate',
      {
        tracks: tracks.join(','),
        from_ps: whole(from),
        to_ps: whole(to),
        ...(layer === '' ? {} : { layer }),
      },
      signal,
    );
  }
}

/** The server takes whole picoseconds of the trace. */
export function whole(ps: number): number {
  return Math.max(0, Math.round(ps));
}
