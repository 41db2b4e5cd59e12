// SPDX-License-Identifier: Apache-2.0
// The part above the tracks: times, marks, steps, and the whole trace in small.

import { inkOn, type Rgb } from '../core/colours';
import { trimRight } from '../core/names';
import type { Density, StepInfo, TraceInfo } from './answers';
import type { Colouring } from './colours';
import type { Mark } from './marks';
import { fitCanvas, FONT, timeText } from './overlay';
import { tickLabel, ticks, toX, whole, type View } from './viewport';

export const RULER_HEIGHT = 24;
export const STEPS_HEIGHT = 26;
export const MAP_HEIGHT = 38;
/** Labels nearer than this run into each other. */
const TICK_ROOM_PX = 96;

const rgb = (colour: Rgb): string => `rgb(${colour.join(',')})`;

/** Steps that touch an interval; they come in order of their start. */
export function stepsBetween(
  steps: readonly StepInfo[],
  from: number,
  to: number,
): { first: number; last: number } {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const step = steps[middle];
    if (step !== undefined && step.start_ps + step.duration_ps <= from) low = middle + 1;
    else high = middle;
  }
  let last = low - 1;
  while (last + 1 < steps.length && (steps[last + 1]?.start_ps ?? Infinity) < to) last += 1;
  return { first: low, last };
}

const HIT_LOW = 4;
const HIT_HIGH = 9;

/**
 * How high the mark is of each pixel with a hit; `place` is the pixel of a slot. One hit can be
 * seen beside a thousand.
 */
export function hitHeights(
  counts: readonly number[],
  place: (slot: number) => number,
): Map<number, number> {
  const pixels = new Map<number, number>();
  counts.forEach((hits, slot) => {
    if (hits > 0) pixels.set(place(slot), (pixels.get(place(slot)) ?? 0) + hits);
  });
  const most = Math.log1p(Math.max(1, ...pixels.values()));
  return new Map(
    [...pixels].map(([x, hits]) => [
      x,
      HIT_LOW +
        Math.round(
          (HIT_HIGH - HIT_LOW) *
            (most <= Math.LN2 ? 0 : (Math.log1p(hits) - Math.LN2) / (most - Math.LN2)),
        ),
    ]),
  );
}

export interface HeadScene {
  view: View;
  width: number;
  scale: number;
  steps: readonly StepInfo[];
  /** Whether there is a line for them, which may be empty. */
  lane: boolean;
  /** Place in the list; -1 for none. */
  step: number;
  marks: readonly Mark[];
  hover: number | null;
}

export function drawHead(canvas: HTMLCanvasElement, scene: HeadScene, { inks }: Colouring): void {
  const { view, width, steps } = scene;
  const height = RULER_HEIGHT + (scene.lane ? STEPS_HEIGHT : 0);
  const context = fitCanvas(canvas, width, height, scene.scale);
  if (context === null) return;
  context.textBaseline = 'middle';
  context.font = `11px ${FONT}`;
  const { step: distance, list } = ticks(view, width, TICK_ROOM_PX);
  for (const tick of list) {
    const x = Math.round(toX(view, width, tick.ps)) + 0.5;
    context.fillStyle = rgb(tick.major ? inks.ink2 : inks.line);
    context.fillRect(
      x - 0.5,
      tick.major ? RULER_HEIGHT - 9 : RULER_HEIGHT - 5,
      1,
      tick.major ? 9 : 5,
    );
    if (!tick.major) continue;
    context.fillStyle = rgb(inks.ink2);
    context.fillText(tickLabel(tick.ps, distance), x + 4, 9);
  }
  scene.marks.forEach((mark, index) => {
    const x = toX(view, width, mark.ps);
    if (x < -100 || x > width + 10) return;
    context.fillStyle = rgb(inks.accent);
    context.beginPath();
    context.moveTo(x - 5, 1);
    context.lineTo(x + 5, 1);
    context.lineTo(x, 9);
    context.fill();
    const text = trimRight(mark.label || String(index + 1), 24);
    const wide = context.measureText(text).width + 8;
    context.fillRect(x + 5, 1, wide, 14);
    context.fillStyle = inkOn(inks.accent);
    context.fillText(text, x + 9, 8.5);
  });
  const { first, last } = stepsBetween(steps, view.from, view.to);
  let reached = -Infinity;
  for (let i = first; i <= last; i += 1) {
    const step = steps[i];
    if (step === undefined) continue;
    const left = Math.max(0, toX(view, width, step.start_ps));
    const right = Math.min(width, toX(view, width, step.start_ps + step.duration_ps));
    // Thousands of steps in a few pixels are one grey line.
    if (right - reached < 0.7) continue;
    reached = right;
    const chosen = i === scene.step;
    const colour = chosen
      ? inks.accent
      : (inks.categories[inks.categories.length - 1] ?? inks.ink2);
    context.fillStyle = rgb(colour);
    context.fillRect(left, RULER_HEIGHT + 4, Math.max(1, right - left - 1), STEPS_HEIGHT - 9);
    if (right - left < 22) continue;
    const name = /^\d+$/.test(step.name) ? `step ${step.name}` : step.name;
    const room = Math.floor((right - left - 8) / 6);
    // The number is what tells steps apart, so it is what stays.
    const text =
      [`${name} · ${timeText(step.duration_ps)}`, name, /\d+$/.exec(step.name)?.[0] ?? ''].find(
        (one) => one.length <= room,
      ) ?? '';
    context.fillStyle = inkOn(colour);
    context.fillText(text, left + 4, RULER_HEIGHT + 4 + (STEPS_HEIGHT - 9) / 2);
  }
  if (scene.hover !== null) {
    const text = tickLabel(scene.hover, Math.max(1, distance / 100));
    const x = toX(view, width, scene.hover);
    context.font = `600 11px ${FONT}`;
    const wide = context.measureText(text).width + 10;
    const at = Math.min(width - wide, Math.max(0, x - wide / 2));
    context.fillStyle = rgb(inks.ink);
    context.fillRect(at, 0, wide, 16);
    context.fillStyle = rgb(inks.ground);
    context.fillText(text, at + 5, 8.5);
  }
}

/** Density of events over the whole trace, devices above host threads. */
function drawDensity(
  context: CanvasRenderingContext2D,
  trace: TraceInfo,
  width: number,
  { inks }: Colouring,
): void {
  const all = whole(trace.duration_ps);
  const { slots, host, device } = trace.density;
  const strip = (values: readonly number[], top: number, height: number, colour: Rgb): void => {
    context.fillStyle = rgb(colour);
    for (let i = 0; i < slots; i += 1) {
      const value = values[i] ?? 0;
      if (value <= 0) continue;
      const left = toX(all, width, (i / slots) * trace.duration_ps);
      const right = toX(all, width, ((i + 1) / slots) * trace.duration_ps);
      // The square root keeps quiet stretches visible beside busy ones.
      const tall = Math.max(1, Math.sqrt(value / 255) * height);
      context.fillRect(left, top + height - tall, Math.max(0.75, right - left - 0.25), tall);
    }
  };
  const room = MAP_HEIGHT - 6;
  const [hostInk, deviceInk] = [inks.categories[8] ?? inks.ink2, inks.categories[0] ?? inks.ink2];
  const [anyDevice, anyHost] = [device, host].map((values) => values.some((value) => value > 0));
  if (anyDevice === true && anyHost === true) {
    strip(device, 2, room / 2, deviceInk);
    strip(host, 4 + room / 2, room / 2, hostInk);
  } else {
    strip(anyDevice === true ? device : host, 3, room, anyDevice === true ? deviceInk : hostInk);
  }
}

/** Where something was found: each pixel with a hit has a mark, the higher the more there are. */
function drawHits(
  context: CanvasRenderingContext2D,
  { from_ps: from, to_ps: to, counts }: Density,
  all: View,
  width: number,
  ink: Rgb,
): void {
  const heights = hitHeights(counts, (index) =>
    Math.floor(toX(all, width, from + ((index + 0.5) / counts.length) * (to - from))),
  );
  context.fillStyle = rgb(ink);
  for (const [x, height] of heights) context.fillRect(x, 0, 1, height);
}

/**
 * The whole trace in small, with the part in sight framed. The density changes rarely, so it is
 * drawn once and copied.
 */
export class TraceMap {
  private readonly store = document.createElement('canvas');
  private drawn = '';
  private marked: Density | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private trace: TraceInfo,
  ) {}

  /** More is known of the same trace. */
  set(trace: TraceInfo): void {
    this.trace = trace;
    this.drawn = '';
  }

  draw(
    view: View,
    width: number,
    scale: number,
    hits: Density | null,
    marks: readonly Mark[],
    colouring: Colouring,
  ): void {
    const { inks } = colouring;
    const key = `${width}/${scale}/${colouring.version}`;
    const all = whole(this.trace.duration_ps);
    if (key !== this.drawn || hits !== this.marked) {
      this.drawn = key;
      this.marked = hits;
      const density = fitCanvas(this.store, width, MAP_HEIGHT, scale);
      if (density !== null) drawDensity(density, this.trace, width, colouring);
      if (density !== null && hits !== null) drawHits(density, hits, all, width, inks.ink);
    }
    const context = fitCanvas(this.canvas, width, MAP_HEIGHT, scale);
    if (context === null) return;
    context.drawImage(this.store, 0, 0, width, MAP_HEIGHT);
    context.fillStyle = rgb(inks.accent);
    for (const mark of marks)
      context.fillRect(Math.round(toX(all, width, mark.ps)), 0, 2, MAP_HEIGHT);
    const [left, right] = [toX(all, width, view.from), toX(all, width, view.to)];
    context.fillStyle = `rgba(${inks.ground.join(',')},0.72)`;
    context.fillRect(0, 0, left, MAP_HEIGHT);
    context.fillRect(right, 0, width - right, MAP_HEIGHT);
    context.strokeStyle = rgb(inks.accent);
    context.lineWidth = 1.5;
    context.strokeRect(
      Math.max(0.75, left),
      0.75,
      Math.max(2, Math.min(width - 1.5, right) - Math.max(0.75, left)),
      MAP_HEIGHT - 1.5,
    );
  }
}
