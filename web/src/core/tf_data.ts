// SPDX-License-Identifier: Apache-2.0
// tf.data pipelines, their calls and iterators, read from the tables of the tool. Pure.

import type { Difference } from './compare';
import { amount, number, records, text, type GvizTable, type Rec } from './gviz';
import { properties } from './steps';

/** A call longer than this is slow; the profilers' own limit, in µs. */
export const SLOW_US = 50;

export interface Bottleneck {
  iterator: string;
  longName: string;
  self: number;
  kind: string;
  suggestion: string;
  guide: string;
}

export interface Pipeline {
  key: string;
  host: string;
  name: string;
  isDevice: boolean;
  root: string;
  min: number;
  mean: number;
  max: number;
  calls: number;
  slow: number;
  /**
   * Of its slowest call; null where nothing took time, and for pipelines that only copy to a
   * device.
   */
  bottleneck: Bottleneck | null;
  difference?: Difference;
}

export interface Bucket {
  above: number;
  upTo: number | null;
  calls: number;
  /** Rank of its slowest call. */
  firstRank: number;
}

/**
 * The role of an iterator in the call: its bottleneck, waited for as well, or done ahead of time.
 */
export type Role = 'bottleneck' | 'waited' | 'ahead';

export interface Use {
  id: string;
  parent: string;
  role: Role;
  name: string;
  longName: string;
  start: number;
  total: number;
  self: number;
  calls: number;
  kind: string;
}

export type Verdict = 'slow' | 'fast' | 'device_only' | 'none';

export interface TfData {
  verdict: Verdict;
  /** For which of several hosts it holds; '' for one. */
  hostsStatement: string;
  pipelines: Pipeline[];
  buckets: ReadonlyMap<string, Bucket[]>;
  /** The slowest call of each pipeline. */
  slowest: ReadonlyMap<string, Use[]>;
  advice: ReadonlyMap<string, { suggestion: string; guide: string }>;
  /** Events that belong to no iterator, because the file does not say which. */
  withoutId: number;
}

/** A host's name may hold anything; the pipeline's own never holds a slash. */
export function pipelineKey(host: string, name: string): string {
  return `${host}/${name}`;
}

const keyOf = (record: Rec): string =>
  pipelineKey(text(record, 'host'), text(record, 'input_pipeline'));

const ROLES: readonly Role[] = ['ahead', 'waited', 'bottleneck'];

function readUse(record: Rec): Use {
  return {
    id: text(record, 'name'),
    parent: text(record, 'parent'),
    role: ROLES[amount(record, 'type')] ?? 'ahead',
    name: text(record, 'iterator'),
    longName: text(record, 'long_name'),
    start: amount(record, 'start_us'),
    total: amount(record, 'total_us'),
    self: amount(record, 'self_us'),
    calls: amount(record, 'num_calls'),
    kind: text(record, 'kind'),
  };
}

/** The iterators of one call. */
export function readUses(graph: GvizTable | undefined): Use[] {
  return graph === undefined ? [] : records(graph).map(readUse);
}

function grouped<T>(table: GvizTable | undefined, read: (record: Rec) => T): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const record of table === undefined ? [] : records(table)) {
    const group = groups.get(keyOf(record));
    if (group === undefined) groups.set(keyOf(record), [read(record)]);
    else group.push(read(record));
  }
  return groups;
}

function readBottleneck(record: Rec): Bottleneck {
  return {
    iterator: text(record, 'iterator'),
    longName: text(record, 'long_name'),
    self: amount(record, 'latency_us'),
    kind: text(record, 'kind'),
    suggestion: text(record, 'suggestion'),
    guide: text(record, 'guide'),
  };
}

export function readTfData(tables: readonly (GvizTable | undefined)[]): TfData {
  const [graph, summary, bottlenecks, latencies, advice] = tables;
  const found = properties(bottlenecks);
  const worst = grouped(bottlenecks, readBottleneck);
  const pipelines = (summary === undefined ? [] : records(summary)).map((record): Pipeline => {
    const name = text(record, 'input_pipeline');
    const [bottleneck] = worst.get(keyOf(record)) ?? [];
    return {
      key: keyOf(record),
      host: text(record, 'host'),
      name,
      isDevice: name.startsWith('Device'),
      root: text(record, 'root'),
      min: amount(record, 'min_us'),
      mean: amount(record, 'avg_us'),
      max: amount(record, 'max_us'),
      calls: amount(record, 'num_calls'),
      slow: amount(record, 'num_slow_calls'),
      bottleneck: bottleneck === undefined || bottleneck.longName === '' ? null : bottleneck,
    };
  });
  return {
    verdict:
      (['slow', 'fast', 'device_only'] as const).find((word) => word === found['verdict']) ??
      'none',
    hostsStatement: found['hosts_statement'] ?? '',
    pipelines,
    buckets: grouped(latencies, (record) => ({
      above: amount(record, 'above_us'),
      upTo: number(record, 'up_to_us'),
      calls: amount(record, 'num_calls'),
      firstRank: amount(record, 'first_rank'),
    })),
    slowest: grouped(graph, readUse),
    advice: new Map(
      (advice === undefined ? [] : records(advice)).map((record) => [
        text(record, 'kind'),
        { suggestion: text(record, 'suggestion'), guide: text(record, 'guide') },
      ]),
    ),
    withoutId: Number(properties(summary)['events_without_id'] ?? 0) || 0,
  };
}

/**
 * The pipeline whose slowest call took longest, of those that feed the program before those that
 * only copy.
 */
export function worstPipeline(pipelines: readonly Pipeline[]): Pipeline | null {
  return pipelines.reduce<Pipeline | null>((worst, one) => {
    if (worst === null || (worst.isDevice && !one.isDevice)) return one;
    return worst.isDevice === one.isDevice && one.max > worst.max ? one : worst;
  }, null);
}

/**
 * What a pipeline is found by in another run. Runs of one host each are compared whatever these
 * hosts are called.
 */
export function baseKey(
  pipelines: readonly Pipeline[],
  base: readonly Pipeline[],
): (pipeline: Pipeline) => string {
  const single = [pipelines, base].every((list) => new Set(list.map((one) => one.host)).size < 2);
  return single ? (pipeline): string => pipeline.name : (pipeline): string => pipeline.key;
}

/** `median`, or the number of a call counted from the slowest, 1; as a rank from 0 on. */
export function rankOf(call: string, calls: number): number {
  const last = Math.max(0, calls - 1);
  if (call === 'median') return Math.floor(last / 2);
  return /^[1-9]\d{0,8}$/.test(call) ? Math.min(last, Number(call) - 1) : 0;
}

export interface Branch {
  use: Use;
  depth: number;
  /**
   * Its parent in the picture; null for roots, also for those whose own parent is not in this call.
   */
  parent: Use | null;
  /**
   * Which input of its parent it is, as its long name says; null where there is nothing to tell
   * apart.
   */
  input: string | null;
}

/** `Iterator::Zip[2]::Map` is input 2 of its Zip. */
function inputOf(longName: string): string | null {
  return /\[(\d+)\]::[^[]*$/.exec(longName)?.[1] ?? null;
}

/**
 * The iterators as trees, each before what is below it. Files may name parents that are not there,
 * themselves, or each
 * other: a ring is cut where it is first met, and every iterator is there exactly once.
 */
export function branches(uses: readonly Use[]): Branch[] {
  const byId = new Map<string, Use>();
  for (const use of uses) if (!byId.has(use.id)) byId.set(use.id, use);
  const below = new Map<string, Use[]>();
  const roots: Use[] = [];
  for (const use of byId.values()) {
    const parent = use.parent === use.id ? undefined : byId.get(use.parent);
    if (parent === undefined) roots.push(use);
    else {
      const children = below.get(parent.id);
      if (children === undefined) below.set(parent.id, [use]);
      else children.push(use);
    }
  }
  const order = (a: Use, b: Use): number => a.start - b.start || (a.id < b.id ? -1 : 1);
  const list: Branch[] = [];
  const met = new Set<string>();
  const walk = (root: Use): void => {
    const stack: Branch[] = [{ use: root, depth: 0, parent: null, input: null }];
    for (let branch = stack.pop(); branch !== undefined; branch = stack.pop()) {
      const { use, depth } = branch;
      if (met.has(use.id)) continue;
      met.add(use.id);
      list.push(branch);
      const children = [...(below.get(use.id) ?? [])].sort(order).reverse();
      for (const child of children)
        stack.push({
          use: child,
          depth: depth + 1,
          parent: use,
          input: children.length > 1 ? inputOf(child.longName) : null,
        });
    }
  };
  for (const root of roots.sort(order)) walk(root);
  for (const use of [...byId.values()].sort(order)) if (!met.has(use.id)) walk(use);
  return list;
}

/** From the root down to the bottleneck, or to the last that was waited for. */
export function criticalPath(list: readonly Branch[]): Use[] {
  const byId = new Map(list.map((branch) => [branch.use.id, branch]));
  const end =
    list.find(({ use }) => use.role === 'bottleneck') ??
    [...list].reverse().find(({ use }) => use.role === 'waited');
  const path: Use[] = [];
  for (let at = end; at !== undefined; at = at.parent === null ? undefined : byId.get(at.parent.id))
    path.unshift(at.use);
  return path;
}

/** The names of a path; what is in the middle of a long one is counted. */
export function pathText(path: readonly Use[], most = 8): string {
  const names = path.map((use) => use.name);
  if (names.length > most)
    names.splice(most / 2, names.length - most, `${names.length - most} more`);
  return names.join(' ← ');
}

/**
 * A name in lines of at most `room` letters, broken before capitals and after signs; the middle of
 * very long ones is left out.
 */
export function nameLines(name: string, room: number, most = 3): string[] {
  const lines: string[] = [];
  for (const piece of name.match(/[A-Z]?[^A-Z_\-.: ]*[_\-.: ]*/g) ?? []) {
    for (let rest = piece; rest !== ''; rest = rest.slice(room)) {
      const part = rest.slice(0, room);
      const last = lines[lines.length - 1];
      if (last !== undefined && last.length + part.length <= room)
        lines[lines.length - 1] = last + part;
      else lines.push(part);
    }
  }
  if (lines.length <= most) return lines.length === 0 ? ['–'] : lines;
  return [...lines.slice(0, most - 1), `…${lines[lines.length - 1] ?? ''}`.slice(0, room)];
}

/**
 * `Iterator::Model::Zip[0]::Map` in its parts, each with the signs behind it, so that lines break
 * between them.
 */
export function nameParts(longName: string): string[] {
  return longName.split(/(?<=::)/);
}

/** Numbered advice as a lead and its points. */
export function points(suggestion: string): { lead: string; items: string[] } {
  const [lead = '', ...items] = suggestion.split(/\(\d\)\s+/).map((part) => part.trim());
  return { lead, items };
}
