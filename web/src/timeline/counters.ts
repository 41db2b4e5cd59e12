// SPDX-License-Identifier: Apache-2.0
// What counters hold: their steps as they are drawn, and what one holds at a time. Pure.

import { bytes, exact, joined, significant } from '../core/format';
import type { TrackInfo } from './answers';
import type { Block } from './decode';
import type { RowStrip } from './hit_test';
import { toTime, type View } from './viewport';

/** A value that holds for a while; several that cannot be told apart have a range. */
export interface Step {
  from: number;
  to: number;
  low: number;
  high: number;
}

/** Values of one slot are one step as long as the slot; after it the last of them holds. */
export function stepsOf(block: Block, from: number, to: number): Step[] {
  const { counter, slot } = block;
  const steps: Step[] = [];
  if (counter === null) return steps;
  const add = (begin: number, end: number, low: number, high: number): void => {
    const step = { from: Math.max(begin, from), to: Math.min(end, to), low, high };
    if (step.to > step.from) steps.push(step);
  };
  for (let i = 0; i < counter.time.length; i += 1) {
    const begin = counter.time[i] ?? 0;
    const end = counter.time[i + 1] ?? to;
    const [low, high, last] = [counter.min[i] ?? 0, counter.max[i] ?? 0, counter.last[i] ?? 0];
    if (low === high) {
      add(begin, end, low, high);
      continue;
    }
    const apart = Math.min(end, (Math.floor(begin / slot) + 1) * slot);
    add(begin, apart, low, high);
    add(apart, end, last, last);
  }
  return steps;
}

export interface Reading extends Step {
  track: TrackInfo;
  ps: number;
}

/** What the counter under the pointer holds; null where there is none, or no value yet. */
export function readingAt(
  strips: readonly RowStrip[],
  view: View,
  width: number,
  x: number,
  y: number,
): Reading | null {
  const ps = toTime(view, width, x);
  for (const { row, block, top, box, from, to } of strips) {
    if (block.counter === null || y < top || y >= top + box || ps < from || ps >= to) continue;
    const found = stepsOf(block, from, to).find((step) => ps >= step.from && ps < step.to);
    if (found !== undefined) return { ...found, track: row.track, ps };
  }
  return null;
}

function valueText(value: number, track: TrackInfo): string {
  return track.unit === 'bytes' ? joined(bytes(value)) : exact(value);
}

export function readingText({ low, high, track }: Reading): string {
  return low === high
    ? valueText(high, track)
    : `${valueText(low, track)} to ${valueText(high, track)}`;
}

/** The most that a counter ever held, which its full height stands for. */
export function mostText(track: TrackInfo): string {
  if (track.max === undefined) return '';
  return track.unit === 'bytes' ? valueText(track.max, track) : significant(track.max);
}

export function peakText(track: TrackInfo): string {
  return track.max === undefined ? '' : `at most ${mostText(track)}`;
}
