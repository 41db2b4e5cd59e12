// SPDX-License-Identifier: Apache-2.0
// A tree as nested stretches, for flame graphs: laid out once, then only looked up. Pure.

/**
 * A tree as arrays: node 0 is the root, and parents come before their children. So a hundred
 * thousand nodes are no hundred thousand objects.
 */
export interface FlameTree {
  /** -1 for the root. */
  parent: Int32Array;
  /**
   * Of a node and all below it. Children of more than their parent make it as wide as they are;
   * what is not known (NaN) has no width of its own.
   */
  value: Float64Array;
  /** The same in the run that this one is compared with; NaN where that has no such node. */
  base: Float64Array | null;
  /** Nodes that are left out, with all below them. */
  gone?: Uint8Array;
  name: (node: number) => string;
  /** Unique in the tree; what an address keeps. */
  key: (node: number) => string;
  /** The node of a key, or -1. */
  find: (key: string) => number;
  /** A colour token; without one the name has its own colour. */
  token?: (node: number) => string | undefined;
}

/** A node of a small tree, as pages have it that make their trees of objects. */
export interface FlameNode {
  key: string;
  name: string;
  value: number;
  base?: number | null;
  token?: string;
  children: readonly FlameNode[];
}

/** A tree of more levels than this is cut there: more cannot be seen. */
export const MOST_LEVELS = 512;
const NONE = -1;

export function flameTree(root: FlameNode): FlameTree {
  const nodes: FlameNode[] = [root];
  const parents: number[] = [NONE];
  for (let i = 0; i < nodes.length; i += 1) {
    for (const child of (nodes[i] as FlameNode).children) {
      nodes.push(child);
      parents.push(i);
    }
  }
  const keys = new Map<string, number>();
  nodes.forEach(({ key }, index) => {
    if (!keys.has(key)) keys.set(key, index);
  });
  const at = (index: number): FlameNode => nodes[index] as FlameNode;
  return {
    parent: Int32Array.from(parents),
    value: Float64Array.from(nodes, ({ value }) => value),
    base: nodes.some(({ base }) => base !== undefined)
      ? Float64Array.from(nodes, ({ base }) => base ?? NaN)
      : null,
    name: (index) => at(index).name,
    key: (index) => at(index).key,
    find: (key) => keys.get(key) ?? NONE,
    token: (index) => at(index).token,
  };
}

/** Children of each node, side by side: those of `i` are `list[first[i]]` to `list[first[i + 1]]`. */
export interface Children {
  first: Int32Array;
  list: Int32Array;
}

export function childrenOf(parent: Int32Array): Children {
  const first = new Int32Array(parent.length + 1);
  for (const above of parent) if (above >= 0) first[above + 1] = (first[above + 1] ?? 0) + 1;
  for (let i = 0; i < parent.length; i += 1) first[i + 1] = (first[i + 1] ?? 0) + (first[i] ?? 0);
  const next = first.slice(0, parent.length);
  const list = new Int32Array(first[parent.length] ?? 0);
  parent.forEach((above, index) => {
    if (above < 0) return;
    const place = next[above] ?? 0;
    list[place] = index;
    next[above] = place + 1;
  });
  return { first, list };
}

/** A box of a picture: the nodes of a level from one place of it to another, often but one. */
export interface FlameBox {
  node: number;
  /** How many nodes of the level share it: more than one where they are less than a pixel wide. */
  nodes: number;
  x: number;
  width: number;
}

export class Flame {
  readonly depth: Uint32Array;
  /** From 0 to the root's value. */
  readonly start: Float64Array;
  readonly width: Float64Array;
  /** Nodes of each level that have a width, from left to right. */
  readonly levels: Int32Array[] = [];
  /** How many nodes lie below the deepest level. */
  readonly cut: number;
  readonly parent: Int32Array;

  /** `by` says how wide a node is: its own value, or that of the base run. */
  constructor(
    readonly tree: FlameTree,
    by: 'value' | 'base' = 'value',
  ) {
    const { parent, gone } = tree;
    const count = parent.length;
    const sizes = by === 'base' && tree.base !== null ? tree.base : tree.value;
    const width = new Float64Array(count);
    const depth = new Uint32Array(count);
    const out = new Uint8Array(count);
    let cut = 0;
    for (let i = 0; i < count; i += 1) {
      const above = parent[i] ?? NONE;
      if (above !== NONE) depth[i] = (depth[above] ?? 0) + 1;
      out[i] = gone?.[i] === 1 || (above !== NONE && out[above] === 1) ? 1 : 0;
      if (out[i] === 0 && (depth[i] ?? 0) >= MOST_LEVELS) cut += 1;
    }
    // Children first, so that no parent is narrower than they are together.
    const inside = new Float64Array(count);
    for (let i = count - 1; i >= 0; i -= 1) {
      if (out[i] === 1) continue;
      const own = sizes[i] ?? 0;
      const whole = Math.max(own > 0 ? own : 0, inside[i] ?? 0);
      width[i] = whole;
      const above = parent[i] ?? NONE;
      if (above !== NONE) inside[above] = (inside[above] ?? 0) + whole;
    }
    const start = new Float64Array(count);
    const { first, list } = childrenOf(parent);
    let level: number[] = count > 0 && out[0] === 0 ? [0] : [];
    while (level.length > 0 && this.levels.length < MOST_LEVELS) {
      this.levels.push(Int32Array.from(level));
      const below: number[] = [];
      for (const node of level) {
        const children = list
          .subarray(first[node] ?? 0, first[node + 1] ?? 0)
          .filter((child) => out[child] === 0 && (width[child] ?? 0) > 0)
          .sort((a, b) => (width[b] ?? 0) - (width[a] ?? 0) || a - b);
        let at = start[node] ?? 0;
        for (const child of children) {
          start[child] = at;
          at += width[child] ?? 0;
          below.push(child);
        }
      }
      level = below;
    }
    this.parent = parent;
    this.depth = depth;
    this.start = start;
    this.width = width;
    this.cut = cut;
  }

  /** The node of a key, or -1: also for one that has no place in the picture. */
  find(key: string): number {
    const node = this.tree.find(key);
    return node >= 0 && (node === 0 || (this.width[node] ?? 0) > 0) ? node : NONE;
  }

  name(node: number): string {
    return this.tree.name(node);
  }

  key(node: number): string {
    return this.tree.key(node);
  }

  /** From the root to the node itself. */
  path(index: number): number[] {
    const path: number[] = [];
    for (let at = index; at !== NONE; at = this.parent[at] ?? NONE) path.push(at);
    return path.reverse();
  }

  /** Where in a level is the first node that ends after a place: there looking at it begins. */
  firstAfter(level: Int32Array, place: number): number {
    let [low, high] = [0, level.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const node = level[middle] ?? 0;
      if ((this.start[node] ?? 0) + (this.width[node] ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * What is to be drawn of a level, `room` pixels wide from `from` on: at most one box for each
   * pixel, and as many steps as boxes however many nodes lie in them. Of several in one pixel the
   * first that is looked for stands for all, else the first.
   */
  boxes(
    level: Int32Array,
    from: number,
    whole: number,
    room: number,
    found: Found | null,
    each: (box: FlameBox) => void,
  ): void {
    if (whole <= 0 || room <= 0) return;
    const scale = room / whole;
    const marks = found?.before.get(level) ?? null;
    const box: FlameBox = { node: 0, nodes: 1, x: 0, width: 0 };
    for (let i = this.firstAfter(level, from); i < level.length;) {
      const node = level[i] ?? 0;
      const x = ((this.start[node] ?? 0) - from) * scale;
      if (x >= room) return;
      const wide = (this.width[node] ?? 0) * scale;
      let next = i + 1;
      box.node = node;
      box.x = x;
      box.width = wide;
      if (wide < 1) {
        // All narrow ones that begin in this pixel, and no more than these.
        const edge = from + (Math.floor(x) + 1) / scale;
        next = Math.max(next, this.firstAfter(level, edge));
        const across = level[next];
        if (
          across !== undefined &&
          (this.start[across] ?? 0) < edge &&
          (this.width[across] ?? 0) * scale < 1
        )
          next += 1;
        const last = level[next - 1] ?? node;
        box.width = ((this.start[last] ?? 0) + (this.width[last] ?? 0) - from) * scale - x;
        if (marks !== null && (marks[next] ?? 0) > (marks[i] ?? 0))
          box.node = level[firstMarked(marks, i, next)] ?? node;
      }
      box.nodes = next - i;
      each(box);
      i = next;
    }
  }

  /** The node at a place of a level, or -1. */
  at(depth: number, place: number): number {
    const level = this.levels[depth];
    if (level === undefined) return NONE;
    const node = level[this.firstAfter(level, place)];
    return node !== undefined && (this.start[node] ?? 0) <= place ? node : NONE;
  }

  /** Left (-1) or right (1) of a node under the same parent, or -1. */
  sibling(index: number, step: -1 | 1): number {
    const level = this.levels[this.depth[index] ?? 0] ?? new Int32Array(0);
    const other = level[level.indexOf(index) + step];
    return other !== undefined && this.parent[other] === this.parent[index] ? other : NONE;
  }

  /** The widest child, or -1. */
  child(index: number): number {
    const level = this.levels[(this.depth[index] ?? 0) + 1];
    if (level === undefined) return NONE;
    const first = level[this.firstAfter(level, this.start[index] ?? 0)];
    return first !== undefined && this.parent[first] === index ? first : NONE;
  }

  /** Which nodes match, and their part of the root, what lies in one another counted once. */
  search(test: (name: string) => boolean): Found {
    const { parent, width, tree } = this;
    const is = new Uint8Array(parent.length);
    const inside = new Uint8Array(parent.length);
    const known = new Map<string, boolean>();
    let [count, sum] = [0, 0];
    // Parents come before their children.
    for (let i = 0; i < parent.length; i += 1) {
      if (i > 0 && (width[i] ?? 0) <= 0) continue;
      const above = parent[i] ?? NONE;
      inside[i] = above !== NONE && (inside[above] === 1 || is[above] === 1) ? 1 : 0;
      const name = tree.name(i);
      let matches = known.get(name);
      if (matches === undefined) known.set(name, (matches = test(name)));
      if (!matches) continue;
      is[i] = 1;
      count += 1;
      if (inside[i] === 0) sum += width[i] ?? 0;
    }
    const before = new Map<Int32Array, Int32Array>();
    for (const level of this.levels) {
      const marks = new Int32Array(level.length + 1);
      level.forEach((node, index) => {
        marks[index + 1] = (marks[index] ?? 0) + (is[node] ?? 0);
      });
      before.set(level, marks);
    }
    const whole = width[0] ?? 0;
    return { is, before, count, share: whole === 0 ? 0 : sum / whole };
  }
}

/** What a search found. */
export interface Found {
  is: Uint8Array;
  /** For each level: how many of its nodes before a place are found. */
  before: Map<Int32Array, Int32Array>;
  count: number;
  share: number;
}

function firstMarked(marks: Int32Array, from: number, to: number): number {
  let [low, high] = [from, to - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle + 1] ?? 0) > (marks[from] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The tree without nodes that `hide` names, and, if there is a `focus`, without those that are
 * neither in, nor above, nor below a node that it names. What is left out takes its amounts with it,
 * up to the root.
 */
export function reduced(
  tree: FlameTree,
  focus: ((name: string) => boolean) | null,
  hide: ((name: string) => boolean) | null,
): FlameTree {
  if (focus === null && hide === null) return tree;
  const { parent } = tree;
  const count = parent.length;
  const gone = new Uint8Array(count);
  /** In a node that is in focus; then, above one. */
  const inside = new Uint8Array(count);
  const above = new Uint8Array(count);
  for (let i = 1; i < count; i += 1) {
    const up = parent[i] ?? 0;
    const name = tree.name(i);
    gone[i] = gone[up] === 1 || tree.gone?.[i] === 1 || hide?.(name) === true ? 1 : 0;
    inside[i] = inside[up] === 1 || (focus?.(name) ?? true) ? 1 : 0;
  }
  if (focus === null || focus(tree.name(0))) inside.fill(1);
  for (let i = count - 1; i > 0; i -= 1)
    if (gone[i] === 0 && (inside[i] === 1 || above[i] === 1)) above[parent[i] ?? 0] = 1;
  for (let i = 1; i < count; i += 1) if (inside[i] === 0 && above[i] === 0) gone[i] = 1;
  const less = (values: Float64Array): Float64Array => {
    const left = values.slice();
    const kept = new Float64Array(count);
    const lost = new Float64Array(count);
    for (let i = count - 1; i >= 0; i -= 1) {
      const value = values[i] ?? 0;
      if (Number.isNaN(value)) continue;
      // What is only on the way to the focus has nothing of its own in the picture.
      const now = gone[i] === 1 ? 0 : inside[i] === 1 ? value - (lost[i] ?? 0) : (kept[i] ?? 0);
      left[i] = now;
      if (i === 0) continue;
      const up = parent[i] ?? 0;
      kept[up] = (kept[up] ?? 0) + now;
      lost[up] = (lost[up] ?? 0) + value - now;
    }
    return left;
  };
  return {
    ...tree,
    gone,
    value: less(tree.value),
    base: tree.base === null ? null : less(tree.base),
  };
}

/**
 * Folded stacks, a line for each node with an amount of its own: what flamegraph.pl and speedscope
 * read.
 */
export function folded(tree: FlameTree, scale = 1): string {
  const { parent, value, gone } = tree;
  const clean = (name: string): string => name.replace(/[;\n\r]/g, '_');
  const amount = (node: number): number => {
    const one = value[node] ?? 0;
    return gone?.[node] === 1 || Number.isNaN(one) ? 0 : one;
  };
  const inside = new Float64Array(parent.length);
  for (let i = parent.length - 1; i > 0; i -= 1) {
    const above = parent[i] ?? 0;
    inside[above] = (inside[above] ?? 0) + amount(i);
  }
  const lines: string[] = [];
  for (let i = 0; i < parent.length; i += 1) {
    const own = Math.round((amount(i) - (inside[i] ?? 0)) * scale);
    if (own <= 0) continue;
    const path: string[] = [];
    for (let at = i; at !== NONE; at = parent[at] ?? NONE) path.push(clean(tree.name(at)));
    lines.push(`${path.reverse().join(';')} ${own}`);
  }
  return lines.sort().join('\n') + (lines.length > 0 ? '\n' : '');
}
