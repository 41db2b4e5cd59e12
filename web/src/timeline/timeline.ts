// SPDX-License-Identifier: Apache-2.0
// The timeline itself: canvases, names and scrolling put together. Its callers tell it what to
// show; it tells them what a
// person does with it.

import { fill, h } from '../core/dom';
import { count } from '../core/format';
import { eventLabel, trimRight } from '../core/names';
import { onTheme } from '../core/theme';
import type { Density, EventInfo, Hit, TraceInfo, TraceServer } from './answers';
import { canvasRenderer } from './canvas_renderer';
import { Colouring, readInks, type ColourMode } from './colours';
import { readingAt, readingText, stepsOf, type Reading } from './counters';
import { Names } from './decode';
import { glRenderer } from './gl_renderer';
import { entryOf, hit, snap, type Entry, type RowStrip } from './hit_test';
import { countDrawn, depthOf, LABEL_FONT_PX, LabelTexts } from './labels';
import type { Area, Mark } from './marks';
import { boxTop, rowsBetween, type Layout, type Row, type TrackRow } from './model';
import { Motion } from './motion';
import { FONT, Overlay, timeText, type Arrow, type Outline, type OverlayBand } from './overlay';
import { Pointers, type Mode, type Point, type PointerTarget } from './pointer';
import type { Band, Plain, Renderer } from './renderer';
import { drawHead, MAP_HEIGHT, RULER_HEIGHT, STEPS_HEIGHT, stepsBetween, TraceMap } from './ruler';
import { TileStore, type Place } from './tiles';
import { TrackNames, type TrackActions } from './track_names';
import {
  around,
  blocksIn,
  centred,
  levelFor,
  panBy,
  showing,
  tickLabel,
  ticks,
  toTime,
  toX,
  whole,
  zoomAbout,
  type View,
} from './viewport';

export interface Counts {
  boxes: number;
  events: number;
  psPerPixel: number;
  waiting: boolean;
  error: unknown;
}

export interface TimelineEvents {
  /** Somebody moved the view; called for each frame. */
  moved(): void;
  pick(entry: Entry | null): void;
  /** A counter of memory was clicked on at a time; false where that leads nowhere. */
  pickMemory(reading: Reading): boolean;
  area(area: Area | null): void;
  measured(range: { from: number; to: number } | null): void;
  pickStep(index: number): void;
  pickMark(index: number): void;
  counts(counts: Counts): void;
}

/** `see` zooms as far as it takes to see it. */
export type Reveal = 'scroll' | 'show' | 'see' | 'centre' | 'fit';

/** What is shown beside the events themselves. */
export interface Shown {
  layout: Layout;
  colour: ColourMode;
  minPs: number;
  mode: Mode;
  marks: readonly Mark[];
  area: Area | null;
  measure: { from: number; to: number } | null;
  /** Place in the list of steps; -1 for none. */
  step: number;
  flows: boolean;
}

/** Letters of a name beside the pointer. */
const MOST_TIP = 160;
/** Requests are thought about this often, not in every frame. */
const WANT_MS = 45;
const COUNT_MS = 200;
/** Time without movement after which neighbours are fetched. */
const IDLE_MS = 160;

export class Timeline implements PointerTarget {
  readonly element: HTMLElement;
  readonly area = h('div', {
    class: 'trace-area',
    tabindex: '0',
    role: 'application',
    'aria-label': 'Timeline',
    'aria-describedby': 'trace-live',
  });
  readonly motion: Motion;
  readonly store: TileStore;
  readonly names = new Names();
  readonly colouring: Colouring;
  readonly facts = h('div', { class: 'trace-facts' });
  readonly corner = h('div', { class: 'trace-corner' });
  private readonly probe = h('i', { hidden: true });
  private readonly map = h('canvas', { class: 'trace-map', 'aria-hidden': 'true' });
  private readonly head = h('canvas', { class: 'trace-ruler', 'aria-hidden': 'true' });
  private base = h('canvas', { class: 'trace-base', 'aria-hidden': 'true' });
  private readonly top = h('canvas', { class: 'trace-top', 'aria-hidden': 'true' });
  private readonly guide = h('div', { class: 'trace-guide', hidden: true });
  private readonly tip = h('div', { class: 'trace-tip', hidden: true, 'aria-hidden': 'true' });
  private readonly spacer = h('div', { class: 'trace-spacer' });
  private readonly layer = h('div', { class: 'trace-layer' });
  readonly body = h('div', { class: 'trace-body' });
  private readonly column: TrackNames;
  private renderer: Renderer;
  private readonly overlay: Overlay;
  private readonly small: TraceMap;
  private readonly texts: LabelTexts;
  private readonly pointers: Pointers;
  private readonly watcher: ResizeObserver;
  private readonly noTheme: () => void;
  private shown: Shown;
  private frame = 0;
  private size = { width: 0, height: 0, scale: 1 };
  private strips: RowStrip[] = [];
  private pinnedStrips: RowStrip[] = [];
  private wantedAt = 0;
  private movedAt = 0;
  private countedAt = 0;
  private timer: number | undefined;
  private hovered: Entry | null = null;
  private reading: Reading | null = null;
  private pointer: Point | null = null;
  private isQuiet = false;
  private selected: EventInfo | null = null;
  private hits: readonly Hit[] = [];
  private density: Density | null = null;
  private hitDepths = new Map<string, number>();
  private dragBox: { from: number; to: number } | null = null;
  private dragArea: Area | null = null;
  private dragMeasure: { from: number; to: number; y: number } | null = null;
  private measureY = 40;

  constructor(
    private trace: TraceInfo,
    server: TraceServer,
    shown: Shown,
    view: View,
    actions: TrackActions,
    private readonly tell: TimelineEvents,
  ) {
    this.shown = shown;
    document.body.append(this.probe);
    this.colouring = new Colouring(this.names, readInks(this.probe), shown.colour);
    this.store = new TileStore(
      server,
      this.names,
      () => this.arrived(),
      (block) => this.renderer.forget(block),
    );
    this.column = new TrackNames(actions);
    this.layer.append(this.column.element, this.area);
    this.spacer.append(this.layer);
    this.body.append(this.spacer);
    this.renderer = this.makeRenderer();
    const measuring = document.createElement('canvas').getContext('2d');
    if (measuring !== null) measuring.font = `${LABEL_FONT_PX}px ${FONT}`;
    this.texts = new LabelTexts(
      this.names,
      (text) => measuring?.measureText(text).width ?? text.length * 6,
    );
    this.small = new TraceMap(this.map, trace);
    this.overlay = new Overlay(this.top, this.colouring, this.texts);
    this.area.append(this.base, this.top, this.guide, this.tip);
    this.element = h(
      'div',
      { class: 'trace-frame' },
      h('div', { class: 'trace-head' }, this.facts, this.map, this.corner, this.head),
      this.body,
    );
    this.motion = new Motion(
      view,
      () => this.trace.duration_ps,
      () => this.onMotion(),
      () => this.focusTime(),
    );
    this.pointers = new Pointers(this.area, this);
    this.wireHead();
    this.body.addEventListener('scroll', () => this.invalidate(), { passive: true });
    this.watcher = new ResizeObserver(() => this.measureSize());
    this.watcher.observe(this.body);
    this.noTheme = onTheme(() => {
      this.colouring.set(readInks(this.probe), this.shown.colour);
      this.invalidate();
    });
    this.motion.jump(view);
  }

  destroy(): void {
    this.watcher.disconnect();
    this.noTheme();
    this.motion.stop();
    cancelAnimationFrame(this.frame);
    window.clearTimeout(this.timer);
    this.store.clear();
    this.renderer.destroy();
    this.probe.remove();
    this.element.remove();
  }

  get kind(): string {
    return this.renderer.kind;
  }

  get view(): View {
    return this.motion.view;
  }

  get width(): number {
    return this.size.width;
  }

  set(shown: Shown): void {
    const before = this.shown;
    this.shown = shown;
    if (shown.colour !== before.colour) this.colouring.set(this.colouring.inks, shown.colour);
    this.area.dataset['mode'] = shown.mode;
    this.spacer.style.height = `${shown.layout.height + shown.layout.pinnedHeight}px`;
    this.wantedAt = 0;
    this.invalidate();
  }

  /**
   * Shows the rest of the same trace, once it is there. The track at the upper edge stays where it
   * is, unless that is the top.
   */
  complete(trace: TraceInfo, shown: Shown): void {
    const { scrollTop } = this.body;
    const before = this.shown.layout;
    const head = this.head.offsetHeight;
    const above = before.rows.find((row) => row.y + row.height > scrollTop);
    this.trace = trace;
    // Only now does the server know which events are steps: they are called by the step's name.
    if (trace.steps.length > 0) this.store.expire();
    this.small.set(trace);
    this.sizeHead();
    this.set(shown);
    const now = shown.layout.rows.find((row) => row.key === above?.key);
    if (scrollTop <= 0 || above === undefined || now === undefined) return;
    this.body.scrollTop =
      scrollTop +
      now.y -
      above.y +
      shown.layout.pinnedHeight -
      before.pinnedHeight +
      this.head.offsetHeight -
      head;
  }

  /** Once there were steps there is room for those of other hosts, which may have none. */
  private get lane(): boolean {
    return this.trace.steps_host !== null || this.trace.steps.length > 0;
  }

  /** The steps of another host. */
  setSteps(trace: TraceInfo): void {
    this.trace = trace;
    this.sizeHead();
    this.invalidate();
  }

  private sizeHead(): void {
    this.head.style.height = `${RULER_HEIGHT + (this.lane ? STEPS_HEIGHT : 0)}px`;
  }

  select(event: EventInfo | null): void {
    this.selected = event;
    this.invalidate();
  }

  /**
   * Events that were found, as far as they are known, and how many there are where in the whole
   * trace.
   */
  found(hits: readonly Hit[], density: Density | null): void {
    this.hits = hits;
    this.density = density;
    this.hitDepths.clear();
    this.invalidate();
  }

  /** Shows only these names in full colour. */
  only(test: ((name: string) => boolean) | null): void {
    this.colouring.only(test);
    this.invalidate();
  }

  /** Time under the pointer, else the middle of the view: where keys zoom. */
  focusTime(): number {
    const { view } = this;
    if (this.pointer !== null) return toTime(view, this.size.width, this.pointer.x);
    return (view.from + view.to) / 2;
  }

  get hasPointer(): boolean {
    return this.pointer !== null;
  }

  /**
   * Scrolls so that a track can be seen, and, unless told only to scroll, moves so that the time
   * can.
   */
  reveal(track: string, from: number, to: number, depth: number, how: Reveal): void {
    const { layout } = this.shown;
    const row = layout.rows.find(
      (one): one is TrackRow => one.kind === 'track' && one.key === track,
    );
    if (row !== undefined && !layout.pinned.some((one) => one.key === track)) {
      const room = this.size.height - layout.pinnedHeight;
      const [top, bottom] = [boxTop(row, depth) - 8, boxTop(row, depth + 1) + 8];
      const { scrollTop } = this.body;
      if (top < scrollTop || bottom > scrollTop + room)
        this.body.scrollTop = Math.max(0, (top + bottom) / 2 - room / 2);
    }
    if (how === 'scroll') return;
    const { duration_ps: duration } = this.trace;
    const view = this.motion.target;
    if (how === 'see') this.motion.glide(showing(view, this.size.width, from, to, duration));
    else if (how === 'fit') this.motion.glide(around(from, to, duration, 0.4));
    else if (how === 'centre') this.motion.glide(centred(view, (from + to) / 2, duration));
    else if (
      to < view.from + (view.to - view.from) * 0.02 ||
      from > view.to - (view.to - view.from) * 0.02
    )
      this.motion.glide(
        centred(view, Math.min((from + to) / 2, from + (view.to - view.from) * 0.4), duration),
      );
  }

  scrollBy(pixels: number): void {
    this.body.scrollTop += pixels;
  }

  cancelPointer(): boolean {
    return this.pointers.cancel();
  }

  /** The box at a time on a track, whatever its depth: what arrows go to. */
  nearest(track: TrackRow, ps: number): Entry | null {
    const strips = [...this.pinnedStrips, ...this.strips].filter(
      (strip) => strip.row.key === track.key,
    );
    const { width } = this.size;
    const [first] = strips;
    if (first === undefined) return null;
    const exact = hit(
      strips,
      this.view,
      width,
      toX(this.view, width, ps),
      first.top + 1,
      this.shown.minPs,
    );
    if (exact !== null) return exact;
    let best: Entry | null = null;
    for (const { block } of strips) {
      for (let i = block.rows[0] ?? 0; i < (block.rows[1] ?? 0); i += 1) {
        const entry = entryOf(track, block, i);
        const distance = Math.max(entry.start - ps, ps - entry.start - entry.duration, 0);
        if (
          best === null ||
          distance < Math.max(best.start - ps, ps - best.start - best.duration, 0)
        )
          best = entry;
      }
    }
    return best;
  }

  /**
   * Names of merged stretches and events under the pointer stay readable while nothing else is
   * drawn.
   */
  invalidate(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  // ---- what pointers mean

  mode(): Mode {
    return this.shown.mode;
  }

  hover(at: Point | null): void {
    this.pointer = at;
    this.isQuiet = false;
    const before = this.hovered;
    this.hovered = at === null ? null : this.at(at);
    this.read(at);
    const ps = at === null ? null : toTime(this.view, this.size.width, at.x);
    this.guide.hidden = at === null;
    if (at !== null) this.guide.style.transform = `translateX(${at.x}px)`;
    this.showTip(at);
    if (before?.name !== this.hovered?.name || before?.count !== this.hovered?.count)
      this.invalidate();
    this.drawHeadNow(ps);
  }

  /**
   * The keyboard is in use: the event under the pointer is announced again when the pointer moves.
   */
  quiet(): void {
    this.isQuiet = true;
    this.tip.hidden = true;
  }

  /** The pointer rests, and what is under it moved. */
  private followPointer(): void {
    if (this.pointer === null) return;
    const before = this.hovered;
    this.hovered = this.at(this.pointer);
    const value = this.reading;
    this.read(this.pointer);
    const same =
      value?.ps === this.reading?.ps &&
      value?.high === this.reading?.high &&
      value?.low === this.reading?.low &&
      before?.id === this.hovered?.id &&
      before?.count === this.hovered?.count &&
      before?.start === this.hovered?.start;
    if (!same && !this.isQuiet) this.showTip(this.pointer);
  }

  click(at: Point): void {
    const entry = this.at(at);
    if (entry !== null && entry.count > 1) {
      // A box of several events is zoomed in on.
      this.motion.glide(
        zoomAbout(
          this.motion.target,
          toTime(this.view, this.size.width, at.x),
          0.2,
          this.trace.duration_ps,
        ),
      );
      return;
    }
    const reading = this.readingAt(at);
    if (reading?.track.allocator !== undefined && this.tell.pickMemory(reading)) return;
    this.tell.pick(entry);
  }

  fit(at: Point): void {
    const entry = this.at(at);
    if (entry !== null && entry.count === 1)
      this.motion.glide(
        around(entry.start, entry.start + entry.duration, this.trace.duration_ps, 0.4),
      );
  }

  panBy(dx: number, dy: number): void {
    const { view } = this;
    if (dx !== 0)
      this.motion.jump(
        panBy(
          view,
          (-dx / Math.max(1, this.size.width)) * (view.to - view.from),
          this.trace.duration_ps,
        ),
      );
    if (dy !== 0) this.body.scrollTop -= dy;
  }

  zoom(x: number, factor: number): void {
    const { target } = this.motion;
    this.motion.glide(
      zoomAbout(target, toTime(target, this.size.width, x), factor, this.trace.duration_ps),
    );
  }

  drag(kind: 'select' | 'zoom' | 'measure', from: Point, to: Point, done: boolean): void {
    const { view } = this;
    const { width } = this.size;
    this.hover(null);
    const [a, b] =
      kind === 'measure'
        ? [
            snap(this.allStrips(), view, width, from.x, from.y),
            snap(this.allStrips(), view, width, to.x, to.y),
          ]
        : [toTime(view, width, from.x), toTime(view, width, to.x)];
    const [first, last] = [
      Math.max(0, Math.min(a, b)),
      Math.min(this.trace.duration_ps, Math.max(a, b)),
    ];
    if (kind === 'zoom') {
      this.dragBox = done ? null : { from: first, to: last };
      if (done) this.motion.glide({ from: first, to: Math.max(last, first + 10) });
    } else if (kind === 'measure') {
      this.dragMeasure = done ? null : { from: a, to: b, y: to.y };
      this.measureY = to.y;
      if (done) this.tell.measured({ from: first, to: last });
    } else {
      const area = {
        from: first,
        to: last,
        tracks: this.tracksBetween(Math.min(from.y, to.y), Math.max(from.y, to.y)),
      };
      this.dragArea = done ? null : area;
      if (done) this.tell.area(area.tracks.length === 0 || last <= first ? null : area);
    }
    this.invalidate();
  }

  cancelDrag(): void {
    this.dragBox = null;
    this.dragArea = null;
    this.dragMeasure = null;
    this.invalidate();
  }

  // ---- rows

  /** Where a row's y is on the screen. */
  private offset(row: Row): number {
    const { layout } = this.shown;
    return row.kind === 'track' && row.pinned ? 0 : layout.pinnedHeight - this.body.scrollTop;
  }

  private visibleRows(): Row[] {
    const { layout } = this.shown;
    return rowsBetween(
      layout.rows,
      this.body.scrollTop,
      this.body.scrollTop + this.size.height - layout.pinnedHeight,
    );
  }

  private tracksBetween(top: number, bottom: number): string[] {
    const { layout } = this.shown;
    const found: string[] = [];
    for (const row of [...layout.pinned, ...this.visibleRows()]) {
      const y = row.y + this.offset(row);
      if (y + row.height <= top || y >= bottom) continue;
      if (row.kind === 'track') found.push(row.key);
      // A folded process stands for all its tracks.
      else if (!row.open) found.push(...row.process.tracks.map((track) => track.id));
    }
    return [...new Set(found)];
  }

  private allStrips(): RowStrip[] {
    return [...this.pinnedStrips, ...this.strips];
  }

  private at({ x, y }: Point): Entry | null {
    const { pinnedHeight } = this.shown.layout;
    return hit(
      y < pinnedHeight ? this.pinnedStrips : this.strips,
      this.view,
      this.size.width,
      x,
      y,
      this.shown.minPs,
    );
  }

  private readingAt({ x, y }: Point): Reading | null {
    const { pinnedHeight } = this.shown.layout;
    const strips = y < pinnedHeight ? this.pinnedStrips : this.strips;
    return readingAt(strips, this.view, this.size.width, x, y);
  }

  private read(at: Point | null): void {
    this.reading = at === null ? null : this.readingAt(at);
    this.area.classList.toggle('leads', this.reading?.track.allocator !== undefined);
  }

  // ---- drawing

  private makeRenderer(): Renderer {
    const made = glRenderer(this.base, this.colouring);
    if (made !== null) {
      this.base.addEventListener('webglcontextlost', (event) => {
        event.preventDefault();
        this.useCanvas();
      });
      return made;
    }
    const fallback =
      canvasRenderer(this.base, this.colouring) ?? canvasRenderer(this.freshBase(), this.colouring);
    if (fallback === null) throw new Error('this browser supports neither WebGL2 nor 2D canvases');
    return fallback;
  }

  /** A canvas that had a WebGL context never gives another. */
  private freshBase(): HTMLCanvasElement {
    const canvas = h('canvas', { class: 'trace-base', 'aria-hidden': 'true' });
    canvas.style.width = this.base.style.width;
    canvas.style.height = this.base.style.height;
    this.base.replaceWith(canvas);
    this.base = canvas;
    return canvas;
  }

  private useCanvas(): void {
    if (this.renderer.kind === 'Canvas') return;
    const fallback = canvasRenderer(this.freshBase(), this.colouring);
    if (fallback !== null) this.renderer = fallback;
    this.invalidate();
  }

  private measureSize(): void {
    const box = this.area.getBoundingClientRect();
    this.layer.style.height = `${this.body.clientHeight}px`;
    const scale = Math.min(3, window.devicePixelRatio || 1);
    this.size = {
      width: Math.max(1, Math.floor(box.width)),
      height: Math.max(1, this.body.clientHeight),
      scale,
    };
    for (const canvas of [this.base, this.top]) {
      canvas.style.width = `${this.size.width}px`;
      canvas.style.height = `${this.size.height}px`;
    }
    // The bar beside the tracks is not above them.
    for (const canvas of [this.map, this.head]) canvas.style.width = `${this.size.width}px`;
    this.wantedAt = 0;
    // A canvas that changed its size is empty until it is drawn.
    this.draw();
  }

  private onMotion(): void {
    this.movedAt = performance.now();
    this.invalidate();
    this.tell.moved();
  }

  private arrived(): void {
    this.hitDepths.clear();
    this.invalidate();
  }

  private stripsOf(rows: readonly Row[], level: number): RowStrip[] {
    const strips: RowStrip[] = [];
    const { first, last } = blocksIn(this.view, level, this.trace.duration_ps);
    for (const row of rows) {
      if (row.kind !== 'track') continue;
      const top = boxTop(row) + this.offset(row);
      for (let index = first; index <= last; index += 1) {
        for (const piece of this.store.cover(row.key, level, index))
          strips.push({ ...piece, row, top, pitch: row.pitch, box: row.box });
      }
    }
    return strips;
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { size, shown, view } = this;
    if (size.width <= 1 || !this.element.isConnected) return;
    this.store.tick();
    const { layout } = shown;
    const level = levelFor(view, size.width);
    const rows = this.visibleRows();
    this.pinnedStrips = this.stripsOf(layout.pinned, level);
    this.strips = this.stripsOf(rows, level);
    const bands: Band[] = [
      {
        top: 0,
        bottom: Math.min(size.height, layout.pinnedHeight),
        plain: this.plain(layout.pinned, this.pinnedStrips),
        strips: this.pinnedStrips,
      },
      {
        top: layout.pinnedHeight,
        bottom: size.height,
        plain: this.plain(rows, this.strips),
        strips: this.strips,
      },
    ];
    this.followPointer();
    const highlight = this.hovered !== null && this.hovered.count === 1 ? this.hovered.name : -1;
    this.renderer.draw({ ...size, view, bands, minPs: shown.minPs, highlight });
    this.drawTop(bands, rows);
    this.drawHeadNow(this.pointer === null ? null : toTime(view, size.width, this.pointer.x));
    this.small.draw(view, size.width, size.scale, this.density, shown.marks, this.colouring);
    this.column.show([
      ...rows.map((row) => ({ row, top: row.y + this.offset(row), over: false })),
      ...layout.pinned.map((row) => ({ row, top: row.y, over: true })),
    ]);
    this.after(rows, level);
  }

  private plain(rows: readonly Row[], strips: readonly RowStrip[]): Plain[] {
    const { size, view } = this;
    const { inks } = this.colouring;
    const plain: Plain[] = [];
    for (const row of rows) {
      const y = row.y + this.offset(row);
      if (row.kind === 'process')
        plain.push({ x: 0, y, width: size.width, height: row.height, colour: inks.ground2 });
      else if (row.pinned)
        plain.push({ x: 0, y, width: size.width, height: row.height, colour: inks.accentSoft });
    }
    for (const tick of ticks(view, size.width, 96).list) {
      if (tick.major)
        plain.push({
          x: Math.round(toX(view, size.width, tick.ps)),
          y: 0,
          width: 1,
          height: size.height,
          colour: inks.line,
        });
    }
    for (const row of rows)
      plain.push({
        x: 0,
        y: Math.round(row.y + this.offset(row) + row.height) - 1,
        width: size.width,
        height: 1,
        colour: inks.line,
      });
    for (const strip of strips) this.counter(strip, plain);
    return plain;
  }

  private counter(strip: RowStrip, plain: Plain[]): void {
    const { size, view } = this;
    const most = strip.row.track.max ?? 0;
    if (strip.block.counter === null || !(most > 0)) return;
    // A counter computes nothing.
    const colour = this.colouring.inks.categories.at(-1) ?? this.colouring.inks.ink2;
    const steps = stepsOf(
      strip.block,
      Math.max(strip.from, view.from),
      Math.min(strip.to, view.to),
    );
    for (const { from, to, high } of steps) {
      const left = toX(view, size.width, from);
      const tall = Math.max(1, (Math.max(0, high) / most) * strip.box);
      plain.push({
        x: left,
        y: strip.top + strip.box - tall,
        width: Math.max(1, toX(view, size.width, to) - left),
        height: tall,
        colour,
      });
    }
  }

  private outline(track: string, start: number, duration: number, depth: number): Outline | null {
    const row = this.rowOf(track);
    if (row === null) return null;
    return {
      from: start,
      to: start + duration,
      top: boxTop(row, Math.min(depth, Math.max(0, row.track.depth - 1))) + this.offset(row),
      height: row.box,
    };
  }

  private rowOf(track: string): TrackRow | null {
    const { layout } = this.shown;
    return (
      layout.pinned.find((row) => row.key === track) ??
      layout.rows.find((row): row is TrackRow => row.kind === 'track' && row.key === track) ??
      null
    );
  }

  private drawTop(bands: readonly Band[], rows: readonly Row[]): void {
    const { size, shown, selected } = this;
    const area = this.dragArea ?? shown.area;
    const chosen = area === null ? null : new Set(area.tracks);
    const covered = (list: readonly Row[]): { top: number; height: number }[] =>
      list
        .filter(
          (row) =>
            chosen !== null &&
            (chosen.size === 0 ||
              (row.kind === 'track'
                ? chosen.has(row.key)
                : !row.open && row.process.tracks.some((track) => chosen.has(track.id)))),
        )
        .map((row) => ({ top: row.y + this.offset(row), height: row.height }));
    const outline =
      selected === null
        ? null
        : this.outline(selected.track, selected.start_ps, selected.duration_ps, selected.depth);
    const pinnedOutline =
      selected !== null && shown.layout.pinned.some((row) => row.key === selected.track);
    const inSight = new Set(rows.map((row) => row.key));
    const hits = (pinned: boolean): Outline[] =>
      this.hits.flatMap((one) => {
        if (one.start_ps > this.view.to || one.start_ps + one.duration_ps < this.view.from)
          return [];
        const isPinned = shown.layout.pinned.some((row) => row.key === one.track);
        if (isPinned !== pinned || (!isPinned && !inSight.has(one.track))) return [];
        const found = this.outline(one.track, one.start_ps, one.duration_ps, this.hitDepth(one));
        return found === null ? [] : [found];
      });
    const over: OverlayBand[] = bands.map((band, index) => ({
      top: band.top,
      bottom: band.bottom,
      strips: index === 0 ? this.pinnedStrips : this.strips,
      hits: this.hits.length === 0 ? [] : hits(index === 0),
      selected: (index === 0) === pinnedOutline ? outline : null,
      area: covered(index === 0 ? shown.layout.pinned : rows),
    }));
    this.overlay.draw({
      ...size,
      view: this.view,
      bands: over,
      area,
      zoomBox: this.dragBox,
      marks: shown.marks,
      minPs: shown.minPs,
      measure:
        this.dragMeasure ??
        (shown.measure === null ? null : { ...shown.measure, y: this.measureY }),
      arrows:
        shown.flows && selected !== null && outline !== null ? this.arrows(selected, outline) : [],
    });
  }

  private hitDepth(one: Hit): number {
    if (one.depth !== undefined) return one.depth;
    let depth = this.hitDepths.get(one.id);
    if (depth === undefined) {
      const blocks = this.allStrips()
        .filter((strip) => strip.row.key === one.track)
        .map((strip) => strip.block);
      depth = depthOf(blocks, Number(one.id.split('.')[2]), one.start_ps) ?? 0;
      this.hitDepths.set(one.id, depth);
    }
    return depth;
  }

  private arrows(selected: EventInfo, outline: Outline): Arrow[] {
    const list: Arrow[] = [];
    const middle = outline.top + outline.height / 2;
    for (const link of selected.flows) {
      const other = this.outline(link.track, link.start_ps, link.duration_ps, link.depth);
      if (other === null) continue;
      const there = other.top + other.height / 2;
      if (link.direction === 'out')
        list.push({ fromPs: selected.start_ps, fromY: middle, toPs: link.start_ps, toY: there });
      else list.push({ fromPs: link.start_ps, fromY: there, toPs: selected.start_ps, toY: middle });
    }
    return list;
  }

  private drawHeadNow(hover: number | null): void {
    drawHead(
      this.head,
      {
        view: this.view,
        ...this.size,
        steps: this.trace.steps,
        lane: this.lane,
        step: this.shown.step,
        marks: this.shown.marks,
        hover,
      },
      this.colouring,
    );
  }

  private showTip(at: Point | null): void {
    const { hovered: entry, reading } = this;
    this.tip.hidden = at === null || (entry === null && reading === null);
    if (at === null) return;
    if (entry !== null) this.tellOf(entry);
    else if (reading !== null) this.tellValue(reading);
    else return;
    const { width, height } = this.size;
    const box = this.tip.getBoundingClientRect();
    this.tip.style.transform = `translate(${Math.max(0, Math.min(at.x + 14, width - box.width - 4))}px, ${at.y + 20 + box.height > height ? at.y - box.height - 10 : at.y + 18}px)`;
  }

  private tellValue(reading: Reading): void {
    const { view, size } = this;
    const time = tickLabel(reading.ps, (view.to - view.from) / size.width);
    fill(
      this.tip,
      h('b', {}, `${readingText(reading)} at ${time}`),
      h(
        'span',
        {},
        reading.track.allocator === undefined
          ? reading.track.name
          : `${reading.track.name}. Click for what holds it.`,
      ),
    );
  }

  private tellOf(entry: Entry): void {
    const name = this.names.text[entry.name] ?? '';
    fill(
      this.tip,
      h(
        'b',
        {},
        entry.count > 1 ? `${count(entry.count)} events` : trimRight(eventLabel(name), MOST_TIP),
      ),
      h(
        'span',
        {},
        entry.count > 1
          ? `${timeText(entry.duration)}, ${Math.round(((entry.block.busy[entry.at] ?? 0) / 255) * 100)} % busy; longest: ${trimRight(eventLabel(name), MOST_TIP)}. Click to zoom in.`
          : timeText(entry.duration),
      ),
    );
  }

  // ---- requests and counts

  private after(rows: readonly Row[], level: number): void {
    const now = performance.now();
    const rest = this.movedAt + IDLE_MS - now;
    let again = rest > 0 ? rest : Infinity;
    if (now - this.wantedAt >= WANT_MS) {
      this.wantedAt = now;
      this.store.want(this.wanted(rows, rest <= 0));
    } else {
      again = Math.min(again, this.wantedAt + WANT_MS - now);
    }
    if (now - this.countedAt >= COUNT_MS) {
      this.countedAt = now;
      const counts = [this.strips, this.pinnedStrips].map((strips) =>
        countDrawn(strips, this.view, this.shown.minPs),
      );
      this.tell.counts({
        boxes: counts.reduce((sum, one) => sum + one.boxes, 0),
        events: counts.reduce((sum, one) => sum + one.events, 0),
        psPerPixel: (this.view.to - this.view.from) / this.size.width,
        waiting: this.missing(rows, level),
        error: this.store.error,
      });
    } else {
      again = Math.min(again, this.countedAt + COUNT_MS - now);
    }
    // Postponed work is done in a later frame, even if nothing else is to be done.
    window.clearTimeout(this.timer);
    if (Number.isFinite(again)) this.timer = window.setTimeout(() => this.invalidate(), again + 1);
  }

  private missing(rows: readonly Row[], level: number): boolean {
    const { first, last } = blocksIn(this.view, level, this.trace.duration_ps);
    for (const row of [...this.shown.layout.pinned, ...rows]) {
      for (let index = first; row.kind === 'track' && index <= last; index += 1) {
        if (this.store.get(row.key, level, index) === null) return true;
      }
    }
    return false;
  }

  /**
   * Most urgent first: blocks in sight, then, once nothing moves, those that will probably be in
   * sight next.
   */
  private wanted(rows: readonly Row[], idle: boolean): Place[] {
    const { trace, size, motion, shown } = this;
    const { duration_ps: duration } = trace;
    const level = levelFor(motion.target, size.width);
    const root = levelFor(whole(duration), size.width);
    const places: Place[] = [];
    const tracks = [...shown.layout.pinned, ...rows].flatMap((row) =>
      row.kind === 'track' ? [row] : [],
    );
    const add = (row: TrackRow, at: number, index: number): void => {
      places.push({ track: row.key, rows: row.track.depth, level: at, index, keep: at >= root });
    };
    const { first, last } = blocksIn(motion.target, level, duration);
    const middle = (first + last) / 2;
    const order = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i).sort(
      (a, b) => Math.abs(a - middle) - Math.abs(b - middle),
    );
    for (const index of order) for (const row of tracks) add(row, level, index);
    if (!idle) return places;
    const most = Math.floor(duration / (2 ** level * 2048));
    for (const row of tracks) add(row, root, 0);
    for (const index of [last + 1, first - 1])
      if (index >= 0 && index <= most) for (const row of tracks) add(row, level, index);
    if (level + 1 < root) {
      const out = blocksIn(
        {
          from: 2 * motion.target.from - motion.target.to,
          to: 2 * motion.target.to - motion.target.from,
        },
        level + 1,
        duration,
      );
      for (let index = out.first; index <= out.last; index += 1)
        for (const row of tracks) add(row, level + 1, index);
    }
    const { scrollTop } = this.body;
    for (const row of rowsBetween(
      shown.layout.rows,
      scrollTop - size.height / 2,
      scrollTop + size.height * 1.5,
    )) {
      if (row.kind === 'track' && !rows.includes(row))
        for (const index of order) add(row, level, index);
    }
    return places;
  }

  // ---- what is above the tracks

  private wireHead(): void {
    const { map, head } = this;
    const all = whole(this.trace.duration_ps);
    let grab: { kind: 'move' | 'left' | 'right' | 'new'; start: number; view: View } | null = null;
    const timeAt = (event: PointerEvent): number =>
      toTime(all, this.size.width, event.clientX - map.getBoundingClientRect().left);
    map.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      map.setPointerCapture(event.pointerId);
      const ps = timeAt(event);
      const reach = ((all.to - all.from) / this.size.width) * 6;
      const { view } = this;
      const kind =
        Math.abs(ps - view.from) < reach
          ? 'left'
          : Math.abs(ps - view.to) < reach
            ? 'right'
            : ps > view.from && ps < view.to && view.to - view.from < (all.to - all.from) * 0.98
              ? 'move'
              : 'new';
      grab = { kind, start: ps, view };
    });
    map.addEventListener('pointermove', (event) => {
      if (grab === null) return;
      const ps = timeAt(event);
      const { view, start, kind } = grab;
      if (kind === 'move')
        this.motion.jump({ from: view.from + ps - start, to: view.to + ps - start });
      else if (kind === 'left') this.motion.jump({ from: Math.min(ps, view.to - 10), to: view.to });
      else if (kind === 'right')
        this.motion.jump({ from: view.from, to: Math.max(ps, view.from + 10) });
      else if (Math.abs(ps - start) > ((all.to - all.from) / this.size.width) * 4)
        this.motion.jump({ from: Math.min(ps, start), to: Math.max(ps, start) });
    });
    const end = (event: PointerEvent): void => {
      // A click beside the frame brings it there.
      if (grab?.kind === 'new' && this.view === grab.view)
        this.motion.glide(centred(this.view, timeAt(event), this.trace.duration_ps));
      grab = null;
    };
    map.addEventListener('pointerup', end);
    map.addEventListener('pointercancel', () => {
      grab = null;
    });
    map.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        this.motion.glide(
          zoomAbout(
            this.motion.target,
            toTime(all, this.size.width, event.clientX - map.getBoundingClientRect().left),
            event.deltaY > 0 ? 1.25 : 0.8,
            this.trace.duration_ps,
          ),
        );
      },
      { passive: false },
    );
    let from: Point | null = null;
    let dragged = false;
    const at = (event: PointerEvent): Point => {
      const box = head.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    head.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      head.setPointerCapture(event.pointerId);
      from = at(event);
      dragged = false;
    });
    head.addEventListener('pointermove', (event) => {
      const here = at(event);
      if (from === null) return;
      if (Math.abs(here.x - from.x) > 4) dragged = true;
      // Dragging along the ruler measures.
      if (dragged) this.drag('measure', { x: from.x, y: -100 }, { x: here.x, y: 24 }, false);
    });
    head.addEventListener('pointerup', (event) => {
      const here = at(event);
      const start = from;
      from = null;
      if (start === null) return;
      if (dragged) this.drag('measure', { x: start.x, y: -100 }, { x: here.x, y: 24 }, true);
      else this.clickHead(here);
    });
    head.addEventListener('pointercancel', () => {
      from = null;
      this.cancelDrag();
    });
    head.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        if (event.deltaY !== 0)
          this.zoom(
            event.clientX - head.getBoundingClientRect().left,
            event.deltaY > 0 ? 1.25 : 0.8,
          );
      },
      { passive: false },
    );
    map.style.height = `${MAP_HEIGHT}px`;
    this.sizeHead();
  }

  private clickHead({ x, y }: Point): void {
    const { width } = this.size;
    const ps = toTime(this.view, width, x);
    if (y > RULER_HEIGHT) {
      const { first, last } = stepsBetween(this.trace.steps, ps, ps + 1);
      if (first <= last) this.tell.pickStep(first);
      return;
    }
    const reach = ((this.view.to - this.view.from) / width) * 12;
    const mark = this.shown.marks.findIndex(
      (one) => ps >= one.ps - reach && ps <= one.ps + 3 * reach,
    );
    if (mark >= 0) this.tell.pickMark(mark);
  }
}
