// SPDX-License-Identifier: Apache-2.0
// What is under the pointer: binary search in the rows of the blocks that were drawn. Pure.

import { firstEndingAfter, type Block } from './decode';
import type { TrackRow } from './model';
import type { Strip } from './renderer';
import { toTime, type View } from './viewport';

export interface RowStrip extends Strip {
  row: TrackRow;
}

export interface Entry {
  row: TrackRow;
  block: Block;
  at: number;
  depth: number;
  start: number;
  duration: number;
  name: number;
  count: number;
  /** `host.track.event`; of the longest one in a merged stretch. */
  id: string;
}

/** A box thinner than a finger is hit from this far. */
const REACH_PX = 3;

export function entryOf(row: TrackRow, block: Block, at: number): Entry {
  return {
    row,
    block,
    at,
    depth: block.depth[at] ?? 0,
    start: block.start[at] ?? 0,
    duration: block.duration[at] ?? 0,
    name: block.name[at] ?? 0,
    count: block.count[at] ?? 1,
    id: `${block.track}.${block.event[at] ?? 0}`,
  };
}

export function hit(
  strips: readonly RowStrip[],
  view: View,
  width: number,
  x: number,
  y: number,
  minPs: number,
): Entry | null {
  const ps = toTime(view, width, x);
  const reach = ((view.to - view.from) / width) * REACH_PX;
  let best: Entry | null = null;
  let bestDistance = Infinity;
  for (const strip of strips) {
    if (ps < strip.from - reach || ps > strip.to + reach) continue;
    const depth = Math.floor((y - strip.top) / strip.pitch);
    const { block } = strip;
    if (depth < 0 || depth + 1 >= block.rows.length || y - strip.top < 0) continue;
    for (
      let i = firstEndingAfter(block, depth, ps - reach);
      i < (block.rows[depth + 1] ?? 0);
      i += 1
    ) {
      const start = block.start[i] ?? 0;
      const end = start + (block.duration[i] ?? 0);
      if (start > ps + reach) break;
      if ((block.count[i] ?? 1) === 1 && end - start < minPs) continue;
      const distance = ps < start ? start - ps : ps > end ? ps - end : 0;
      if (distance < bestDistance) {
        best = entryOf(strip.row, block, i);
        bestDistance = distance;
      }
    }
  }
  return best;
}

/** The edge of a box nearest to a time, within reach: what measuring holds on to. */
export function snap(
  strips: readonly RowStrip[],
  view: View,
  width: number,
  x: number,
  y: number,
): number {
  const ps = toTime(view, width, x);
  const found = hit(strips, view, width, x, y, 0);
  if (found === null || found.count > 1) return ps;
  const reach = ((view.to - view.from) / width) * 8;
  const end = found.start + found.duration;
  const [near, far] =
    Math.abs(found.start - ps) < Math.abs(end - ps) ? [found.start, end] : [end, found.start];
  return Math.abs(near - ps) <= reach ? near : Math.abs(far - ps) <= reach ? far : ps;
}
