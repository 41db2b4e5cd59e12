// SPDX-License-Identifier: Apache-2.0
// Which part of the trace is in sight, and where on the screen a time is. Pure; times in
// picoseconds from the trace's begin.

export interface View {
  from: number;
  to: number;
}

/** Closer than this there is nothing: one picosecond is a hundred pixels. */
export const MIN_SPAN_PS = 10;

export function span(view: View): number {
  return view.to - view.from;
}

export function toX(view: View, width: number, ps: number): number {
  return ((ps - view.from) / (view.to - view.from)) * width;
}

export function toTime(view: View, width: number, x: number): number {
  return view.from + (x / width) * (view.to - view.from);
}

/** The whole trace and a little air around it. */
export function whole(duration: number): View {
  const size = Math.max(duration, MIN_SPAN_PS);
  return { from: -0.01 * size, to: 1.01 * size };
}

/**
 * Keeps a view within a trace: never wider than all of it, never further out than half of itself.
 */
export function clamp(view: View, duration: number): View {
  const all = whole(duration);
  const size = Math.min(Math.max(span(view), MIN_SPAN_PS), span(all));
  const middle = (view.from + view.to) / 2;
  const from = Math.min(Math.max(middle - size / 2, all.from), all.to - size);
  return Number.isFinite(from) ? { from, to: from + size } : all;
}

/** Zooms; the time under the pointer stays there. A factor above one shows more. */
export function zoomAbout(view: View, at: number, factor: number, duration: number): View {
  const size = Math.min(Math.max(span(view) * factor, MIN_SPAN_PS), span(whole(duration)));
  const part = (at - view.from) / span(view);
  return clamp({ from: at - part * size, to: at + (1 - part) * size }, duration);
}

export function panBy(view: View, ps: number, duration: number): View {
  return clamp({ from: view.from + ps, to: view.to + ps }, duration);
}

/** An interval with room around it, for "fit". */
export function around(from: number, to: number, duration: number, room = 0.1): View {
  const size = Math.max(to - from, MIN_SPAN_PS);
  return clamp({ from: from - size * room, to: from + size * (1 + room) }, duration);
}

/** The same zoom, with that time in the middle. */
export function centred(view: View, at: number, duration: number): View {
  const half = span(view) / 2;
  return clamp({ from: at - half, to: at + half }, duration);
}

/** An event is seen when it is so wide. */
const SEEN_PX = 24;
/** Events without length are looked at as if they had this. */
const SEEN_LEAST_PS = 10_000;

/**
 * A view in which all of an interval can be seen, and is wide enough for that; the same one where
 * that is so already.
 */
export function showing(
  view: View,
  width: number,
  from: number,
  to: number,
  duration: number,
): View {
  const length = Math.max(to - from, SEEN_LEAST_PS);
  const size = Math.max(
    length * 1.1,
    Math.min(span(view), (length * Math.max(1, width)) / SEEN_PX),
  );
  const edge = span(view) * 0.02;
  if (size === span(view) && from >= view.from + edge && to <= view.to - edge) return view;
  const middle = (from + to) / 2;
  return clamp({ from: middle - size / 2, to: middle + size / 2 }, duration);
}

/** Between two views: position and zoom run together, so that the way feels straight. */
export function between(a: View, b: View, part: number): View {
  const size = Math.exp(Math.log(span(a)) * (1 - part) + Math.log(span(b)) * part);
  // The point both views agree on stays where it is; without one the middle moves.
  const [sizeA, sizeB] = [span(a), span(b)];
  if (Math.abs(sizeA - sizeB) > 1e-9 * sizeA) {
    const fixed = (a.from * sizeB - b.from * sizeA) / (sizeB - sizeA);
    const from = fixed + ((a.from - fixed) * size) / sizeA;
    return { from, to: from + size };
  }
  const from = a.from + (b.from - a.from) * part;
  return { from, to: from + size };
}

export function near(a: View, b: View): boolean {
  const limit = span(b) * 5e-4;
  return Math.abs(a.from - b.from) < limit && Math.abs(a.to - b.to) < limit;
}

/** A level whose slots (2^level ps) are about a pixel wide: 0.71 to 1.41 of it. */
export function levelFor(view: View, width: number): number {
  return Math.min(52, Math.max(0, Math.round(Math.log2(span(view) / Math.max(1, width)))));
}

/**
 * Tiles are asked for and kept in blocks of this many; four tiles of 512 slots are about a screen.
 */
export const BLOCK_TILES = 4;
export const TILE_SLOTS = 512;

export function blockSpan(level: number): number {
  return 2 ** level * TILE_SLOTS * BLOCK_TILES;
}

/** Blocks of a level that touch the view, within the trace. */
export function blocksIn(
  view: View,
  level: number,
  duration: number,
): { first: number; last: number } {
  const size = blockSpan(level);
  const first = Math.max(0, Math.floor(view.from / size));
  const last = Math.min(Math.floor(Math.max(0, duration) / size), Math.floor(view.to / size));
  return { first, last };
}

export interface Tick {
  ps: number;
  /** Labelled; the others are short lines between. */
  major: boolean;
}

/** Ticks at 1, 2 or 5 times a power of ten, labelled ones at least `room` pixels apart. */
export function ticks(view: View, width: number, room: number): { step: number; list: Tick[] } {
  const raw = (span(view) / Math.max(1, width)) * room;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(
    1,
    power * (raw / power <= 1 ? 1 : raw / power <= 2 ? 2 : raw / power <= 5 ? 5 : 10),
  );
  const minor = step / 5;
  const list: Tick[] = [];
  const first = Math.ceil(view.from / minor);
  const last = Math.floor(view.to / minor);
  for (let i = first; i <= last && list.length < 2000; i += 1)
    list.push({ ps: i * minor, major: i % 5 === 0 });
  return { step, list };
}

const UNITS = [
  { ps: 1e12, name: 's' },
  { ps: 1e9, name: 'ms' },
  { ps: 1e6, name: 'µs' },
  { ps: 1e3, name: 'ns' },
  { ps: 1, name: 'ps' },
];

/** A time on the ruler, with the digits that `step` needs and no more: `1.25 s`, `131.204 ms`. */
export function tickLabel(ps: number, step: number): string {
  const size = Math.max(Math.abs(ps), step);
  const unit = UNITS.find((one) => size >= one.ps) ?? { ps: 1, name: 'ps' };
  const decimals = Math.max(0, -Math.floor(Math.log10(step / unit.ps) + 1e-9));
  const text = (Math.abs(ps) / unit.ps).toLocaleString('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return ps === 0 ? '0' : `${ps < 0 ? '−' : ''}${text} ${unit.name}`;
}
