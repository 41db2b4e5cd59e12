// SPDX-License-Identifier: Apache-2.0
// A flame graph hanging from its root (an icicle): boxes as wide as the amounts they stand for. One
// canvas for any number of nodes.

import { inkOn, mix, nameColour, parseColour, type Rgb } from '../core/colours';
import { fill, freshId, h } from '../core/dom';
import { change, count, percent } from '../core/format';
import { Flame, type FlameTree, type Found } from '../core/flame';
import { trimRight } from '../core/names';
import { onTheme, token } from '../core/theme';

export interface FlameContent {
  tree: FlameTree;
  /** What widths are: "Self time". */
  measure: string;
  format: (value: number) => string;
  /** Colours say how a node changed against the base run, instead of what it is. */
  compare: boolean;
  /** Widths are those of the base run. */
  byBase?: boolean;
  /** Key of the node that fills the width; '' for the root. */
  zoom: string;
  /** Key of the chosen node; '' for none. */
  selected: string;
  /** What is looked for; null when nothing is. */
  search: ((name: string) => boolean) | null;
  /** What a screen reader hears instead of the picture. */
  summary: string;
}

export interface FlameActs {
  zoom: (key: string) => void;
  choose: (key: string) => void;
  /** What a search found, to be said beside its field. */
  found: (text: string) => void;
  say: (text: string) => void;
}

const ROW = 21;
const LEAST_PX = 0.3;
const LABEL_PX = 26;
const MOST_ROWS = 60;
const FONT_PX = 11.5;
/** A change of this much has the full colour. */
const FULL_CHANGE = 0.5;

export class FlameGraph {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', {
    tabindex: '0',
    role: 'application',
    'aria-roledescription': 'flame graph',
  });
  /** The box under the pointer and the chosen one, so that moving about draws nothing else anew. */
  private readonly overlay = h('canvas', { class: 'flame-overlay', 'aria-hidden': 'true' });
  private readonly tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
  private readonly crumbs = h('nav', { class: 'flame-crumbs', 'aria-label': 'Zoomed to' });
  private readonly note = h('p', { class: 'soft', hidden: true });
  private readonly box = h('div', { class: 'flame-box' }, this.canvas, this.overlay, this.tip);
  private readonly summary = h('p', { class: 'offscreen', id: freshId('flame') });
  private readonly watcher: ResizeObserver;
  private readonly stopTheme: () => void;
  private content: FlameContent | null = null;
  private flame: Flame | null = null;
  private found: Found | null = null;
  private lastSearch: FlameContent['search'] = null;
  private hovered = -1;
  private clicked = -1;
  private width = 0;
  private drawing = 0;
  private marking = 0;
  private readonly lengths = new Map<string, number>();

  constructor(private readonly acts: FlameActs) {
    this.element = h('div', { class: 'flame' }, this.crumbs, this.box, this.note, this.summary);
    this.canvas.setAttribute('aria-describedby', this.summary.id);
    this.stopTheme = onTheme(() => this.later());
    this.watcher = new ResizeObserver(() => {
      if (this.box.clientWidth !== this.width) this.later();
    });
    this.watcher.observe(this.box);
    this.canvas.addEventListener('pointermove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => this.leave());
    this.canvas.addEventListener('click', (event) => this.click(event));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('focus', () => this.later());
    this.canvas.addEventListener('blur', () => this.later());
  }

  destroy(): void {
    cancelAnimationFrame(this.drawing);
    cancelAnimationFrame(this.marking);
    this.watcher.disconnect();
    this.stopTheme();
  }

  set(content: FlameContent): void {
    const old = this.content;
    const fresh =
      this.flame === null || old?.tree !== content.tree || old.byBase !== content.byBase;
    if (fresh) {
      this.flame = new Flame(content.tree, content.byBase === true ? 'base' : 'value');
      this.lastSearch = null;
      this.found = null;
      this.hovered = -1;
      this.tip.hidden = true;
    }
    const same =
      !fresh &&
      old.search === content.search &&
      old.zoom === content.zoom &&
      old.compare === content.compare;
    this.content = content;
    this.summary.textContent = content.summary;
    this.canvas.setAttribute(
      'aria-label',
      `${content.measure}: flame graph. Arrow keys walk, Enter zooms in, Backspace zooms out.`,
    );
    this.look();
    this.trail();
    // A row that is chosen changes nothing but its frame.
    if (same) this.mark();
    else this.later();
  }

  /** What is drawn as the root of the picture. */
  private top(): number {
    const node = this.flame?.find(this.content?.zoom ?? '') ?? -1;
    return Math.max(0, node);
  }

  private look(): void {
    const { flame, content } = this;
    if (flame === null || content === null || content.search === this.lastSearch) return;
    this.lastSearch = content.search;
    if (content.search === null) {
      this.found = null;
      this.acts.found('');
      return;
    }
    this.found = flame.search(content.search);
    const { count: matches, share } = this.found;
    this.acts.found(
      matches === 0
        ? 'no match'
        : `${count(matches)} ${matches === 1 ? 'match' : 'matches'}, ${percent(share)}`,
    );
  }

  /** The way from the root to the zoomed node, each step a button. */
  private trail(): void {
    const { flame } = this;
    const top = this.top();
    this.crumbs.hidden = top === 0;
    if (flame === null || top === 0) return;
    const path = flame.path(top);
    fill(
      this.crumbs,
      ...path.map((node, index) => {
        const name = flame.name(node);
        return index === path.length - 1
          ? h('span', { 'aria-current': 'true', title: name }, trimRight(name, 48))
          : h(
              'button',
              {
                type: 'button',
                class: 'linklike',
                title: name,
                on: { click: () => this.zoomTo(node) },
              },
              trimRight(name, 32),
            );
      }),
    );
  }

  private later(): void {
    cancelAnimationFrame(this.drawing);
    this.drawing = requestAnimationFrame(() => this.draw());
  }

  private mark(): void {
    cancelAnimationFrame(this.marking);
    this.marking = requestAnimationFrame(() => this.drawMarks());
  }

  private prepare(canvas: HTMLCanvasElement, rows: number): CanvasRenderingContext2D | null {
    const context = canvas.getContext('2d');
    if (context === null) return null;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.width * ratio), Math.round(rows * ROW * ratio)];
    // Setting a size clears, but also takes new memory.
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${rows * ROW}px`;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, rows * ROW);
    context.font = `${FONT_PX}px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = 'middle';
    return context;
  }

  private rows(top: number): number {
    return (this.flame?.depth[top] ?? 0) + this.shownLevels(top);
  }

  private draw(): void {
    const { flame, content } = this;
    this.width = this.box.clientWidth;
    if (flame === null || content === null || this.width === 0) return;
    const top = this.top();
    const first = flame.depth[top] ?? 0;
    const rows = this.rows(top);
    const context = this.prepare(this.canvas, rows);
    if (context === null) return;
    const paint = this.painter(content);
    for (const [row, node] of flame.path(top).slice(0, -1).entries())
      this.drawBox(context, node, 0, this.width, row, paint(node, true));
    for (let row = first; row < rows; row += 1)
      flame.boxes(
        flame.levels[row] ?? new Int32Array(0),
        flame.start[top] ?? 0,
        flame.width[top] ?? 0,
        this.width,
        this.found,
        ({ node, x, width }) => {
          if (width >= LEAST_PX) this.drawBox(context, node, x, width, row, paint(node, false));
        },
      );
    this.note.hidden = flame.cut === 0 && rows - first < MOST_ROWS;
    if (!this.note.hidden)
      this.note.textContent =
        flame.cut > 0
          ? `${count(flame.cut)} nodes lie deeper than is drawn.`
          : 'Deeper levels are drawn when you zoom in.';
    this.drawMarks();
  }

  /** Where a node is drawn, or null. */
  private place(node: number, top: number): { x: number; wide: number; row: number } | null {
    const { flame } = this;
    if (flame === null || node < 0) return null;
    const row = flame.depth[node] ?? 0;
    const first = flame.depth[top] ?? 0;
    if (row >= this.rows(top)) return null;
    if (row < first) return flame.path(top)[row] === node ? { x: 0, wide: this.width, row } : null;
    const scale = this.width / Math.max(flame.width[top] ?? 0, Number.MIN_VALUE);
    const x = ((flame.start[node] ?? 0) - (flame.start[top] ?? 0)) * scale;
    const wide = (flame.width[node] ?? 0) * scale;
    return x + wide <= 0 || x >= this.width ? null : { x, wide, row };
  }

  private drawMarks(): void {
    const { flame, content } = this;
    if (flame === null || content === null || this.width === 0) return;
    const top = this.top();
    const context = this.prepare(this.overlay, this.rows(top));
    if (context === null) return;
    const over = this.place(this.hovered, top);
    if (over !== null) {
      const above = over.row < (flame.depth[top] ?? 0);
      const colour = mix(
        this.painter(content)(this.hovered, above),
        parseColour(token('ink')) ?? [0, 0, 0],
        0.18,
      );
      this.drawBox(context, this.hovered, over.x, Math.max(1, over.wide), over.row, colour);
    }
    const chosen = content.selected === '' ? null : this.place(flame.find(content.selected), top);
    if (chosen === null) return;
    const room = Math.max(1, chosen.wide - (chosen.wide > 3 ? 1 : 0));
    context.strokeStyle = token('ink');
    context.lineWidth = 2;
    context.strokeRect(chosen.x + 1, chosen.row * ROW + 1, Math.max(1, room - 2), ROW - 3);
  }

  /** Levels below the zoomed node that it has. */
  private shownLevels(top: number): number {
    const { flame } = this;
    if (flame === null) return 0;
    const [from, to] = [flame.start[top] ?? 0, (flame.start[top] ?? 0) + (flame.width[top] ?? 0)];
    let levels = 1;
    for (
      let depth = (flame.depth[top] ?? 0) + 1;
      depth < flame.levels.length && levels < MOST_ROWS;
      depth += 1
    ) {
      const level = flame.levels[depth] ?? new Int32Array(0);
      const node = level[flame.firstAfter(level, from)];
      if (node === undefined || (flame.start[node] ?? 0) >= to) break;
      levels += 1;
    }
    return levels;
  }

  private drawBox(
    context: CanvasRenderingContext2D,
    node: number,
    x: number,
    wide: number,
    row: number,
    colour: Rgb,
  ): void {
    const y = row * ROW;
    const room = Math.max(1, wide - (wide > 3 ? 1 : 0));
    context.fillStyle = `rgb(${colour.join(' ')})`;
    context.fillRect(x, y, room, ROW - 1);
    // What begins left of the picture has its label where it comes into sight.
    const from = Math.max(x, 0);
    const visible = Math.min(x + room, this.width) - from;
    if (visible < LABEL_PX) return;
    const label = this.fit(context, this.flame?.name(node) ?? '', visible - 8);
    if (label === '') return;
    context.fillStyle = inkOn(colour);
    context.fillText(label, from + 4, y + ROW / 2);
  }

  private fit(context: CanvasRenderingContext2D, name: string, room: number): string {
    const text = name.slice(0, 400);
    let width = this.lengths.get(text);
    if (width === undefined) {
      width = context.measureText(text).width;
      if (this.lengths.size > 20_000) this.lengths.clear();
      this.lengths.set(text, width);
    }
    if (width <= room) return text;
    const letters = Math.floor((room / width) * text.length) - 1;
    return letters < 2 ? '' : `${text.slice(0, letters)}…`;
  }

  private painter(content: FlameContent): (node: number, above: boolean) => Rgb {
    const colour = (name: string): Rgb => parseColour(token(name)) ?? [136, 136, 136];
    const dark = document.documentElement.dataset['theme'] === 'dark';
    const [ground, plain, worse, better] = [
      colour('ground'),
      colour('all-others'),
      colour('bad'),
      colour('good'),
    ];
    const { tree } = content;
    const tokens = new Map<string, Rgb>();
    const own = (node: number): Rgb => {
      if (content.compare)
        return changed(tree.value[node] ?? 0, tree.base?.[node] ?? NaN, plain, worse, better);
      const name = tree.token?.(node);
      if (name === undefined) return nameColour(tree.name(node), dark);
      let known = tokens.get(name);
      if (known === undefined) tokens.set(name, (known = colour(name)));
      return known;
    };
    return (node, above) => {
      const base = own(node);
      return above || (this.found !== null && this.found.is[node] !== 1)
        ? mix(base, ground, 0.68)
        : base;
    };
  }

  /* ---- pointer and keys ---- */

  private under(event: MouseEvent): number {
    const { flame } = this;
    if (flame === null) return -1;
    const place = this.canvas.getBoundingClientRect();
    const [x, row] = [event.clientX - place.left, Math.floor((event.clientY - place.top) / ROW)];
    const top = this.top();
    const above = flame.path(top).slice(0, -1);
    const [head] = above.slice(row, row + 1);
    if (row < 0) return -1;
    if (head !== undefined) return head;
    const scale = (flame.width[top] ?? 0) / Math.max(1, this.width);
    return flame.at(
      (flame.depth[top] ?? 0) + row - above.length,
      (flame.start[top] ?? 0) + x * scale,
    );
  }

  private hover(event: PointerEvent): void {
    const node = this.under(event);
    if (node !== this.hovered) {
      this.hovered = node;
      this.mark();
      if (node >= 0)
        fill(
          this.tip,
          ...this.describe(node).map((line, index) => h(index === 0 ? 'b' : 'span', {}, line)),
        );
    }
    this.tip.hidden = node < 0;
    if (node < 0) return;
    const place = this.box.getBoundingClientRect();
    const [x, y] = [event.clientX - place.left, event.clientY - place.top];
    this.tip.style.left = `${Math.max(0, Math.min(x + 14, place.width - this.tip.offsetWidth - 4))}px`;
    this.tip.style.top = `${y + 18}px`;
  }

  private leave(): void {
    this.tip.hidden = true;
    if (this.hovered < 0) return;
    this.hovered = -1;
    this.mark();
  }

  private click(event: MouseEvent): void {
    // What the first click opens may move the picture away from under the second: both mean the
    // same box.
    const again = event.detail > 1;
    const node = again ? this.clicked : this.under(event);
    this.clicked = node;
    if (node < 0 || this.flame === null) return;
    // A box above the zoomed one leads back to it.
    if (again || (this.flame.depth[node] ?? 0) < (this.flame.depth[this.top()] ?? 0))
      this.zoomTo(node);
    else this.acts.choose(this.flame.key(node));
  }

  private zoomTo(node: number): void {
    if (this.flame === null) return;
    this.acts.zoom(node === 0 ? '' : this.flame.key(node));
  }

  private key(event: KeyboardEvent): void {
    const { flame, content } = this;
    if (flame === null || content === null || event.altKey || event.ctrlKey || event.metaKey)
      return;
    const chosen = flame.find(content.selected);
    const at = chosen < 0 ? this.top() : chosen;
    let to = -1;
    switch (event.key) {
      case 'ArrowDown':
        to = chosen < 0 ? at : flame.child(at);
        break;
      case 'ArrowUp':
        to = flame.parent[at] ?? -1;
        break;
      case 'ArrowLeft':
        to = flame.sibling(at, -1);
        break;
      case 'ArrowRight':
        to = flame.sibling(at, 1);
        break;
      case 'Home':
        to = this.top();
        break;
      case 'Enter':
        this.zoomTo(at);
        event.preventDefault();
        return;
      case 'Backspace':
        this.zoomTo(Math.max(0, flame.parent[this.top()] ?? 0));
        event.preventDefault();
        return;
      default:
        return;
    }
    event.preventDefault();
    if (to < 0) return;
    this.acts.choose(flame.key(to));
    this.acts.say(this.describe(to).join(', '));
  }

  private describe(index: number): string[] {
    const { flame, content } = this;
    if (flame === null || content === null) return [];
    const { value, base } = flame.tree;
    const now = value[index] ?? NaN;
    const share = (of: number): string =>
      percent(
        (flame.width[of] ?? 0) === 0 ? 0 : (flame.width[index] ?? 0) / (flame.width[of] ?? 1),
      );
    const lines = [
      trimRight(flame.name(index), 600),
      `${content.measure}: ${Number.isNaN(now) ? 'unknown' : content.format(now)}`,
      `${share(0)} of all`,
    ];
    const [top, parent] = [this.top(), flame.parent[index] ?? -1];
    if (top !== 0 && top !== index)
      lines.push(`${share(top)} of ${trimRight(flame.name(top), 40)}`);
    if (parent > 0 && parent !== top) lines.push(`${share(parent)} of its parent`);
    const then = base?.[index] ?? NaN;
    if (content.compare)
      lines.push(
        Number.isNaN(then)
          ? 'New: not in the base run'
          : `Base: ${content.format(then)} (${change((Number.isNaN(now) ? 0 : now) - then, content.format)})`,
      );
    return lines;
  }
}

function changed(now: number, base: number, plain: Rgb, worse: Rgb, better: Rgb): Rgb {
  if (Number.isNaN(base) || base === 0) return now > 0 ? worse : plain;
  const part = Math.max(-1, Math.min(1, ((now > 0 ? now : 0) / base - 1) / FULL_CHANGE));
  return mix(plain, part > 0 ? worse : better, Math.abs(part));
}
