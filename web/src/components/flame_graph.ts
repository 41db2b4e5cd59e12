// SPDX-License-Identifier: Apache-2.0
// A flame graph hanging from its root (an icicle): boxes as wide as the amounts they stand for. One
// canvas for any number of nodes.

import { inkOn, mix, nameColour, parseColour, type Rgb } from '../core/colours';
import { fill, freshId, h } from '../core/dom';
import { change, count, percent } from '../core/format';
import { Flame, type FlameNode } from '../core/flame';
import { trimRight } from '../core/names';
import { onTheme, token } from '../core/theme';

export interface FlameContent {
  root: FlameNode;
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
const LEAST_PX = 0.4;
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
  private readonly tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
  private readonly crumbs = h('nav', { class: 'flame-crumbs', 'aria-label': 'Zoomed to' });
  private readonly note = h('p', { class: 'soft', hidden: true });
  private readonly box = h('div', { class: 'flame-box' }, this.canvas, this.tip);
  private readonly summary = h('p', { class: 'offscreen', id: freshId('flame') });
  private readonly watcher: ResizeObserver;
  private readonly stopTheme: () => void;
  private content: FlameContent | null = null;
  private flame: Flame | null = null;
  private found: Uint8Array | null = null;
  private lastSearch: FlameContent['search'] = null;
  private hovered = -1;
  private clicked = -1;
  private width = 0;
  private drawing = 0;

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
    this.watcher.disconnect();
    this.stopTheme();
  }

  set(content: FlameContent): void {
    const old = this.content;
    if (this.flame === null || old?.root !== content.root || old.byBase !== content.byBase) {
      this.flame = new Flame(content.root, content.byBase === true ? 'base' : 'value');
      this.lastSearch = null;
      this.found = null;
    }
    this.content = content;
    this.summary.textContent = content.summary;
    this.canvas.setAttribute(
      'aria-label',
      `${content.measure}: flame graph. Arrow keys walk, Enter zooms in, Backspace zooms out.`,
    );
    this.look();
    this.trail();
    this.later();
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
    const { found, count: matches, share } = flame.search(content.search);
    this.found = found;
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
        const { name } = flame.node(node);
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

  private draw(): void {
    const { flame, content } = this;
    this.width = this.box.clientWidth;
    const context = this.canvas.getContext('2d');
    if (flame === null || content === null || context === null || this.width === 0) return;
    const top = this.top();
    const [first, above] = [flame.depth[top] ?? 0, flame.path(top).slice(0, -1)];
    const shown = this.shownLevels(top);
    const rows = above.length + shown;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(rows * ROW * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${rows * ROW}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `${FONT_PX}px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = 'middle';
    const paint = this.painter(content);
    above.forEach((node, row) =>
      this.drawBox(context, node, 0, this.width, row, paint(node, true)),
    );
    for (let level = 0; level < shown; level += 1)
      this.drawLevel(context, flame, top, first + level, above.length + level, paint);
    this.note.hidden = flame.cut === 0 && shown < MOST_ROWS;
    if (!this.note.hidden)
      this.note.textContent =
        flame.cut > 0
          ? `${count(flame.cut)} nodes lie deeper than is drawn.`
          : 'Deeper levels are drawn when you zoom in.';
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

  private drawLevel(
    context: CanvasRenderingContext2D,
    flame: Flame,
    top: number,
    depth: number,
    row: number,
    paint: (node: number, above: boolean) => Rgb,
  ): void {
    const level = flame.levels[depth] ?? new Int32Array(0);
    const from = flame.start[top] ?? 0;
    const whole = flame.width[top] ?? 0;
    if (whole <= 0) return;
    const scale = this.width / whole;
    let covered = -1;
    for (let i = flame.firstAfter(level, from); i < level.length; i += 1) {
      const node = level[i] ?? 0;
      const x = ((flame.start[node] ?? 0) - from) * scale;
      if (x >= this.width) break;
      const wide = (flame.width[node] ?? 0) * scale;
      // Of many in one pixel the first is drawn, unless another is looked for.
      if (wide < LEAST_PX || (wide < 1 && Math.floor(x) === covered && this.found?.[node] !== 1))
        continue;
      covered = Math.floor(x);
      this.drawBox(context, node, x, wide, row, paint(node, false));
    }
  }

  private drawBox(
    context: CanvasRenderingContext2D,
    node: number,
    x: number,
    wide: number,
    row: number,
    colour: Rgb,
  ): void {
    const { flame, content } = this;
    if (flame === null || content === null) return;
    const { key, name } = flame.node(node);
    const y = row * ROW;
    const room = Math.max(1, wide - (wide > 3 ? 1 : 0));
    context.fillStyle = `rgb(${colour.join(' ')})`;
    context.fillRect(x, y, room, ROW - 1);
    if (content.selected !== '' && key === content.selected) {
      context.strokeStyle = token('ink');
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(1, room - 2), ROW - 3);
    }
    if (wide < LABEL_PX) return;
    const label = this.fit(context, name, room - 8);
    if (label === '') return;
    context.fillStyle = inkOn(colour);
    context.fillText(label, Math.max(x, 0) + 4, y + ROW / 2);
  }

  private fit(context: CanvasRenderingContext2D, name: string, room: number): string {
    const text = name.slice(0, 400);
    const width = context.measureText(text).width;
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
    const tokens = new Map<string, Rgb>();
    const own = (node: FlameNode): Rgb => {
      if (content.compare) return changed(node, plain, worse, better);
      if (node.token === undefined) return nameColour(node.name, dark);
      let known = tokens.get(node.token);
      if (known === undefined) {
        known = colour(node.token);
        tokens.set(node.token, known);
      }
      return known;
    };
    return (index, above) => {
      const node = (this.flame as Flame).node(index);
      const base = own(node);
      const dimmed = above || (this.found !== null && this.found[index] !== 1);
      const shown = dimmed ? mix(base, ground, 0.68) : base;
      return index === this.hovered ? mix(shown, colour('ink'), 0.18) : shown;
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
      this.later();
    }
    this.tip.hidden = node < 0;
    if (node < 0) return;
    fill(
      this.tip,
      ...this.describe(node).map((line, index) => h(index === 0 ? 'b' : 'span', {}, line)),
    );
    const place = this.box.getBoundingClientRect();
    const [x, y] = [event.clientX - place.left, event.clientY - place.top];
    this.tip.style.left = `${Math.max(0, Math.min(x + 14, place.width - this.tip.offsetWidth - 4))}px`;
    this.tip.style.top = `${y + 18}px`;
  }

  private leave(): void {
    this.tip.hidden = true;
    if (this.hovered < 0) return;
    this.hovered = -1;
    this.later();
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
    else this.acts.choose(this.flame.node(node).key);
  }

  private zoomTo(node: number): void {
    if (this.flame === null) return;
    this.acts.zoom(node === 0 ? '' : this.flame.node(node).key);
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
    this.acts.choose(flame.node(to).key);
    this.acts.say(this.describe(to).join(', '));
  }

  private describe(index: number): string[] {
    const { flame, content } = this;
    if (flame === null || content === null) return [];
    const node = flame.node(index);
    const share = (of: number): string =>
      percent(
        (flame.width[of] ?? 0) === 0 ? 0 : (flame.width[index] ?? 0) / (flame.width[of] ?? 1),
      );
    const lines = [
      trimRight(node.name, 600),
      `${content.measure}: ${content.format(node.value)}`,
      `${share(0)} of all`,
    ];
    const [top, parent] = [this.top(), flame.parent[index] ?? -1];
    if (top !== 0 && top !== index)
      lines.push(`${share(top)} of ${trimRight(flame.node(top).name, 40)}`);
    if (parent > 0 && parent !== top) lines.push(`${share(parent)} of its parent`);
    if (content.compare)
      lines.push(
        node.base === null || node.base === undefined
          ? 'New: not in the base run'
          : `Base: ${content.format(node.base)} (${change(node.value - node.base, content.format)})`,
      );
    return lines;
  }
}

function changed(node: FlameNode, plain: Rgb, worse: Rgb, better: Rgb): Rgb {
  if (node.base === null || node.base === undefined || node.base === 0)
    return node.value > 0 ? worse : plain;
  const part = Math.max(-1, Math.min(1, (node.value / node.base - 1) / FULL_CHANGE));
  return mix(plain, part > 0 ? worse : better, Math.abs(part));
}
