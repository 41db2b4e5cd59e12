// SPDX-License-Identifier: Apache-2.0
// A tree as nested stretches, for flame graphs: laid out once, then only looked up. Pure.

export interface FlameNode {
  /** Unique in the tree; what an address keeps. */
  key: string;
  name: string;
  /**
   * Of the node and all below it. Children of more than their parent make it as wide as they are.
   */
  value: number;
  /** The same in the run that this one is compared with; null where that has no such node. */
  base?: number | null;
  /** A colour token; without one the name has its own colour. */
  token?: string;
  children: readonly FlameNode[];
}

/**
 * A tree of more levels than this is cut there: more cannot be seen, and the stack of calls is
 * limited.
 */
export const MOST_LEVELS = 512;
const NONE = -1;

export class Flame {
  readonly nodes: FlameNode[] = [];
  readonly parent: Int32Array;
  readonly depth: Uint16Array;
  /** From 0 to the root's value. */
  readonly start: Float64Array;
  readonly width: Float64Array;
  /** Nodes of each level, from left to right. */
  readonly levels: Int32Array[];
  /** How many nodes lie below the deepest level. */
  readonly cut: number;
  private readonly byKey = new Map<string, number>();

  /** `by` says how wide a node is: its own value, or that of the base run. */
  constructor(root: FlameNode, by: 'value' | 'base' = 'value') {
    const [parents, depths, starts, widths]: [number[], number[], number[], number[]] = [
      [],
      [],
      [],
      [],
    ];
    const size = (node: FlameNode): number =>
      Math.max(0, by === 'value' ? node.value : (node.base ?? 0));
    const whole = new Map<FlameNode, number>();
    let cut = 0;
    // Children first, so that no parent is narrower than they are together; by a list, not by
    // recursion.
    const order: [FlameNode, number][] = [[root, 0]];
    for (let i = 0; i < order.length; i += 1) {
      const [node, depth] = order[i] as [FlameNode, number];
      if (depth + 1 < MOST_LEVELS)
        for (const child of node.children) order.push([child, depth + 1]);
      else cut += node.children.length;
    }
    for (let i = order.length - 1; i >= 0; i -= 1) {
      const [node, depth] = order[i] as [FlameNode, number];
      const inside =
        depth + 1 < MOST_LEVELS
          ? node.children.reduce((sum, child) => sum + (whole.get(child) ?? 0), 0)
          : 0;
      whole.set(node, Math.max(size(node), inside));
    }
    const rows: number[][] = [];
    const stack: [FlameNode, number, number, number][] = [[root, NONE, 0, 0]];
    while (stack.length > 0) {
      const [node, parent, depth, start] = stack.pop() as [FlameNode, number, number, number];
      const index = this.nodes.length;
      this.nodes.push(node);
      parents.push(parent);
      depths.push(depth);
      starts.push(start);
      widths.push(whole.get(node) ?? 0);
      if (!this.byKey.has(node.key)) this.byKey.set(node.key, index);
      (rows[depth] ??= []).push(index);
      if (depth + 1 >= MOST_LEVELS) continue;
      const children = [...node.children].sort((a, b) => (whole.get(b) ?? 0) - (whole.get(a) ?? 0));
      let at = start;
      const placed = children.map((child): [FlameNode, number, number, number] => {
        const begin = at;
        at += whole.get(child) ?? 0;
        return [child, index, depth + 1, begin];
      });
      // The stack gives them back from left to right.
      for (let i = placed.length - 1; i >= 0; i -= 1)
        stack.push(placed[i] as [FlameNode, number, number, number]);
    }
    this.parent = Int32Array.from(parents);
    this.depth = Uint16Array.from(depths);
    this.start = Float64Array.from(starts);
    this.width = Float64Array.from(widths);
    this.levels = rows.map((row) => Int32Array.from(row));
    this.cut = cut;
  }

  /** The node of a key, or -1. */
  find(key: string): number {
    return this.byKey.get(key) ?? NONE;
  }

  node(index: number): FlameNode {
    return this.nodes[index] as FlameNode;
  }

  /** From the root to the node itself. */
  path(index: number): number[] {
    const path: number[] = [];
    for (let at = index; at !== NONE; at = this.parent[at] ?? NONE) path.push(at);
    return path.reverse();
  }

  /** The first node of a level that ends after a place: where looking at the level begins. */
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
  search(test: (name: string) => boolean): { found: Uint8Array; count: number; share: number } {
    const found = new Uint8Array(this.nodes.length);
    const inside = new Uint8Array(this.nodes.length);
    let [count, sum] = [0, 0];
    // Parents come before their children.
    for (let i = 0; i < this.nodes.length; i += 1) {
      const parent = this.parent[i] ?? NONE;
      inside[i] =
        parent !== NONE && ((inside[parent] ?? 0) === 1 || (found[parent] ?? 0) === 1) ? 1 : 0;
      if (!test(this.node(i).name)) continue;
      found[i] = 1;
      count += 1;
      if (inside[i] === 0) sum += this.width[i] ?? 0;
    }
    const whole = this.width[0] ?? 0;
    return { found, count, share: whole === 0 ? 0 : sum / whole };
  }
}

/** The tree without nodes that `hide` names: their time goes with them, up to the root. */
export function without(root: FlameNode, hide: (name: string) => boolean): FlameNode {
  const less = (node: FlameNode, depth: number): FlameNode => {
    if (depth >= MOST_LEVELS || node.children.length === 0) return node;
    const kept = node.children
      .filter((child) => !hide(child.name))
      .map((child) => less(child, depth + 1));
    const lost = (of: (one: FlameNode) => number): number =>
      node.children.reduce((sum, child) => sum + of(child), 0) -
      kept.reduce((sum, child) => sum + of(child), 0);
    return {
      ...node,
      children: kept,
      value: node.value - lost((child) => child.value),
      ...(node.base === null || node.base === undefined
        ? {}
        : { base: node.base - lost((child) => child.base ?? 0) }),
    };
  };
  return less(root, 0);
}

/**
 * Folded stacks, a line for each node with time of its own: what flamegraph.pl and speedscope read.
 */
export function folded(root: FlameNode): string {
  const lines: string[] = [];
  const clean = (name: string): string => name.replace(/[;\n\r]/g, '_');
  const stack: [FlameNode, string][] = [[root, clean(root.name)]];
  while (stack.length > 0) {
    const [node, path] = stack.pop() as [FlameNode, string];
    const own = Math.round(node.value - node.children.reduce((sum, child) => sum + child.value, 0));
    if (own > 0) lines.push(`${path} ${own}`);
    for (const child of node.children) stack.push([child, `${path};${clean(child.name)}`]);
  }
  return lines.sort().join('\n') + (lines.length > 0 ? '\n' : '');
}
