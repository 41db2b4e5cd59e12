// SPDX-License-Identifier: Apache-2.0
// The answer of the tool `tfprof`: a tree as arrays, alone or joined with another run's. Pure.

import { part, type Part } from './compare';
import { childrenOf, type Children } from './flame';

export type Unit = 'us' | 'bytes' | 'flops' | 'count';

export interface Quantity {
  id: string;
  label: string;
  unit: Unit;
}

type Column = (number | null)[];

/** `/data?tag=tfprof`. */
export interface ProfileAnswer {
  view: string;
  order_by: string;
  step: string;
  steps: { id: number; name: string }[];
  steps_total: number;
  /** Steps are executions of a program: nobody marked any. */
  steps_by_module?: boolean;
  hosts: string[];
  quantities: Quantity[];
  names: string[];
  nodes: {
    parent: number[];
    name: number[];
    flags: number[];
    self: Record<string, Column>;
    total: Record<string, Column>;
    cut?: Record<string, number>;
  };
  partial?: Record<string, number[]>;
  node_count: number;
  shown_count: number;
  cut_count: number;
  left_out: { ops: number; micros: number };
  params_rule?: string;
  params_found?: number;
  notes?: string[];
}

/** `/data?tag=tfprof&node=…`. */
export interface NodeAnswer {
  path: string[];
  name: string;
  full_name: string;
  flags: number;
  depth: number;
  children: number;
  quantities: (Quantity & { self: number | null; total: number | null; share: number | null })[];
  by_step:
    | ({ steps: { id: number; name: string }[] } & Record<
        string,
        Column | { id: number; name: string }[]
      >)
    | null;
  devices: string[];
  op_types: string[];
  input_shapes: { instruction: string; program_id: string; inputs: string[]; output: string }[];
  source: { file: string; line: number; stack: string[] } | null;
  instructions: {
    program_id: string;
    program: string;
    instruction: string;
    category: string;
    expression: string;
    micros: number | null;
    occurrence_run: number | null;
  }[];
  instructions_total: number;
  links: {
    instances: Record<string, string>[];
    op_profile: { program_id: string; instruction: string }[];
    trace: { query: string; in?: string }[];
    memory: { op: string } | null;
  };
}

export const FORWARD = 1;
export const BACKWARD = 2;
export const REMATERIALISED = 4;
export const DEVICE = 8;
export const HOST = 16;
export const OPERATION = 32;

/** Which passes a node belongs to, and where it ran, in words. */
export function passWords(flags: number): string[] {
  return [
    ...((flags & FORWARD) !== 0 ? ['forward'] : []),
    ...((flags & BACKWARD) !== 0 ? ['backward'] : []),
    ...((flags & REMATERIALISED) !== 0 ? ['rematerialised'] : []),
  ];
}

export function placeWords(flags: number): string[] {
  return [...((flags & DEVICE) !== 0 ? ['device'] : []), ...((flags & HOST) !== 0 ? ['host'] : [])];
}

/** Sums over a capture grow with its steps; what a program has, or holds at a moment, does not. */
const PER_STEP = new Set([
  'micros',
  'accelerator_micros',
  'cpu_micros',
  'occurrence_run',
  'bytes',
  'float_ops',
  'model_flops',
  'bytes_accessed',
]);

export function growsWithSteps(quantity: string): boolean {
  return PER_STEP.has(quantity);
}

/* ---- keys ---- */

/** In the address a node is its path, as JSON pointers write it but without the first stroke. */
const ROOT_KEY = '/';

function escaped(name: string): string {
  return name.replace(/~/g, '~0').replace(/\//g, '~1');
}

function plain(text: string): string {
  return text.replace(/~1/g, '/').replace(/~0/g, '~');
}

export function keyOf(path: readonly string[]): string {
  return path.length === 0 ? ROOT_KEY : path.map(escaped).join('/');
}

export function pathOf(key: string): string[] {
  return key === ROOT_KEY || key === '' ? [] : key.split('/').map(plain);
}

/* ---- trees ---- */

const NONE = -1;

interface Source {
  answer: ProfileAnswer;
  children: Children;
}

function sourceOf(answer: ProfileAnswer): Source {
  return { answer, children: childrenOf(Int32Array.from(answer.nodes.parent)) };
}

function nameIn({ answer }: Source, node: number): string {
  return answer.names[answer.nodes.name[node] ?? -1] ?? '';
}

function byCounters(a: Part, b: Part): number {
  const length = Math.max(a.counters.length, b.counters.length);
  for (let i = 0; i < length; i += 1) {
    // The first of a name has no counter.
    const order = (a.counters[i] ?? -1) - (b.counters[i] ?? -1);
    if (order !== 0) return order;
  }
  return a.text < b.text ? -1 : 1;
}

/**
 * Children of two nodes that belong together: equal names, then those that differ by counters only
 * if both runs have as many of them, in the order of their counters (docs/comparing.md). The rest is
 * in one run alone.
 */
function paired(now: Source, a: number, base: Source, b: number): [number, number][] {
  const own = now.children.list.subarray(
    now.children.first[a] ?? 0,
    now.children.first[a + 1] ?? 0,
  );
  const others = new Map<string, number>();
  for (let i = base.children.first[b] ?? 0; i < (base.children.first[b + 1] ?? 0); i += 1) {
    const node = base.children.list[i] ?? 0;
    others.set(nameIn(base, node), node);
  }
  const pairs: [number, number][] = [];
  const left = new Map<string, { place: number; part: Part }[]>();
  for (const node of own) {
    const name = nameIn(now, node);
    const other = others.get(name);
    pairs.push([node, other ?? NONE]);
    if (other !== undefined) {
      others.delete(name);
      continue;
    }
    const one = part(name);
    const list = left.get(one.bare);
    if (list === undefined) left.set(one.bare, [{ place: pairs.length - 1, part: one }]);
    else list.push({ place: pairs.length - 1, part: one });
  }
  if (left.size > 0 && others.size > 0) {
    const rest = new Map<string, Part[]>();
    for (const name of others.keys()) {
      const one = part(name);
      const list = rest.get(one.bare);
      if (list === undefined) rest.set(one.bare, [one]);
      else list.push(one);
    }
    for (const [bare, mine] of left) {
      const theirs = rest.get(bare) ?? [];
      if (theirs.length !== mine.length) continue;
      theirs.sort(byCounters);
      mine.sort((x, y) => byCounters(x.part, y.part));
      mine.forEach(({ place }, index) => {
        const name = theirs[index]?.text ?? '';
        const pair = pairs[place];
        if (pair !== undefined) pair[1] = others.get(name) ?? NONE;
        others.delete(name);
      });
    }
  }
  for (const node of others.values()) pairs.push([NONE, node]);
  return pairs;
}

/**
 * The tree of a run, or of two as one. Nodes of the base alone come behind those that this run has.
 */
export class Profile {
  readonly parent: Int32Array;
  readonly children: Children;
  readonly depth: Int32Array;
  /** Places in the answers; -1 for nodes that one has not. */
  private readonly now: Int32Array;
  private readonly then: Int32Array | null = null;
  private readonly own: Source;
  private readonly other: Source | null;
  private readonly columns = new Map<string, Float64Array>();
  private readonly lacking = new Map<string, ReadonlySet<number>>();

  constructor(
    readonly answer: ProfileAnswer,
    readonly base: ProfileAnswer | null = null,
    /** What sums of the base are multiplied by. */
    readonly scale = 1,
    private readonly rootName = '',
  ) {
    this.own = sourceOf(answer);
    this.other = base === null ? null : sourceOf(base);
    if (this.other === null) {
      this.parent = Int32Array.from(answer.nodes.parent);
      this.now = Int32Array.from(this.parent, (_above, index) => index);
    } else {
      const [parents, now, then]: [number[], number[], number[]] = [[NONE], [0], [0]];
      for (let i = 0; i < parents.length; i += 1) {
        for (const [a, b] of paired(this.own, now[i] ?? NONE, this.other, then[i] ?? NONE)) {
          parents.push(i);
          now.push(a);
          then.push(b);
        }
      }
      this.parent = Int32Array.from(parents);
      this.now = Int32Array.from(now);
      this.then = Int32Array.from(then);
    }
    this.children = this.other === null ? this.own.children : childrenOf(this.parent);
    this.depth = new Int32Array(this.parent.length);
    this.parent.forEach((above, index) => {
      if (above >= 0) this.depth[index] = (this.depth[above] ?? 0) + 1;
    });
  }

  get size(): number {
    return this.parent.length;
  }

  name(node: number): string {
    if (node === 0) return this.rootName === '' ? nameIn(this.own, 0) : this.rootName;
    const here = this.now[node] ?? NONE;
    return here !== NONE
      ? nameIn(this.own, here)
      : this.other === null
        ? ''
        : nameIn(this.other, this.then?.[node] ?? NONE);
  }

  /** The base's name, where it differs by counters. */
  baseName(node: number): string | null {
    const there = this.then?.[node] ?? NONE;
    if (node === 0 || this.other === null || there === NONE || (this.now[node] ?? NONE) === NONE)
      return null;
    const name = nameIn(this.other, there);
    return name === this.name(node) ? null : name;
  }

  /** Names from below the root on. */
  path(node: number): string[] {
    const names: string[] = [];
    for (let at = node; at > 0; at = this.parent[at] ?? NONE) names.push(this.name(at));
    return names.reverse();
  }

  key(node: number): string {
    return keyOf(this.path(node));
  }

  below(node: number): Int32Array {
    const { first, list } = this.children;
    return list.subarray(first[node] ?? 0, first[node + 1] ?? 0);
  }

  /** The node of a key, or -1. */
  find(key: string): number {
    if (key === '') return NONE;
    let at = 0;
    for (const name of pathOf(key)) {
      const next = this.below(at).find((child) => this.name(child) === name);
      if (next === undefined) return NONE;
      at = next;
    }
    return at;
  }

  isNew(node: number): boolean {
    return this.then !== null && (this.then[node] ?? NONE) === NONE;
  }

  isGone(node: number): boolean {
    return (this.now[node] ?? NONE) === NONE;
  }

  /** Amounts by node; NaN where one is unknown, or the run has no such node. */
  private column(
    from: Source,
    places: Int32Array,
    part: 'self' | 'total',
    quantity: string,
    scale: number,
  ): Float64Array {
    const key = `${from === this.own ? 'now' : 'base'} ${part} ${quantity}`;
    let made = this.columns.get(key);
    if (made === undefined) {
      const values = from.answer.nodes[part][quantity] ?? [];
      made = Float64Array.from(places, (place) => (values[place] ?? NaN) * scale);
      this.columns.set(key, made);
    }
    return made;
  }

  total(quantity: string): Float64Array {
    return this.column(this.own, this.now, 'total', quantity, 1);
  }

  self(quantity: string): Float64Array {
    return this.column(this.own, this.now, 'self', quantity, 1);
  }

  /** The base's totals, for as many steps; null where nothing is compared. */
  baseTotal(quantity: string): Float64Array | null {
    const { other, then } = this;
    return other === null || then === null
      ? null
      : this.column(other, then, 'total', quantity, growsWithSteps(quantity) ? this.scale : 1);
  }

  flags(node: number): number {
    const here = this.now[node] ?? NONE;
    return here !== NONE
      ? (this.answer.nodes.flags[here] ?? 0)
      : (this.base?.nodes.flags[this.then?.[node] ?? NONE] ?? 0);
  }

  /** How many of its children the answer lacks. */
  cut(node: number): number {
    return this.answer.nodes.cut?.[String(this.now[node] ?? NONE)] ?? 0;
  }

  /** Whether the total lacks something that is unknown: it is at least this much. */
  isPartial(quantity: string, node: number): boolean {
    let lacking = this.lacking.get(quantity);
    if (lacking === undefined)
      this.lacking.set(quantity, (lacking = new Set(this.answer.partial?.[quantity] ?? [])));
    return lacking.has(this.now[node] ?? NONE);
  }

  /** Which nodes pass a test of names, or have such below them; each name is tested once. */
  kept(test: (name: string) => boolean): Uint8Array {
    const known = new Map<string, boolean>();
    const kept = new Uint8Array(this.size);
    for (let node = this.size - 1; node > 0; node -= 1) {
      const name = this.name(node);
      let passes = known.get(name);
      if (passes === undefined) known.set(name, (passes = test(name)));
      if (!passes && kept[node] === 0) continue;
      kept[node] = 1;
      kept[this.parent[node] ?? 0] = 1;
    }
    return kept;
  }

  /** The way from the root down as long as there is but one. */
  singles(): Set<number> {
    const way = new Set<number>();
    for (let at = 0; ;) {
      const below = this.below(at);
      const [only] = below;
      if (below.length !== 1 || only === undefined || this.below(only).length === 0) return way;
      way.add(only);
      at = only;
    }
  }
}

/** What the base's sums are multiplied by, so that both are for as many steps. */
export function profileScale(now: ProfileAnswer, base: ProfileAnswer): number {
  return now.step === 'all' && now.steps_total > 0 && base.steps_total > 0
    ? now.steps_total / base.steps_total
    : 1;
}
