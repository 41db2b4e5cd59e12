// SPDX-License-Identifier: Apache-2.0
// Text inside boxes: only in boxes wide enough to read it, cut where it does not fit, and never
// more than a screen can hold.

import { count } from '../core/format';
import { eventLabel, trimRight } from '../core/names';
import type { Colouring } from './colours';
import { firstEndingAfter, type Block, type Names } from './decode';
import type { Strip } from './renderer';
import { toX, type View } from './viewport';

export const MIN_LABEL_PX = 30;
const MOST_LABELS = 1500;
const MOST_LETTERS = 160;
const PAD_PX = 4;
/** A row lower than this has no room for letters. */
const MIN_ROW_PX = 12;
/** Merged stretches this close are spoken of as one. */
const JOIN_PX = 3;
const MIN_NOTE_PX = 190;

export const LABEL_FONT_PX = 11;

/** Names as they are shown in boxes, and how wide they are; measured once for each. */
export class LabelTexts {
  private readonly texts: string[] = [];
  private readonly widths: number[] = [];

  constructor(
    private readonly names: Names,
    private readonly measure: (text: string) => number,
  ) {}

  text(name: number): string {
    let text = this.texts[name];
    if (text === undefined) {
      text = trimRight(eventLabel((this.names.text[name] ?? '').slice(0, 2000)), MOST_LETTERS);
      this.texts[name] = text;
    }
    return text;
  }

  /** As much of it as fits, or nothing. */
  fit(name: number, room: number): string {
    const text = this.text(name);
    let width = this.widths[name];
    if (width === undefined) {
      width = this.measure(text);
      this.widths[name] = width;
    }
    if (width <= room) return text;
    const letters = Math.floor((room / width) * text.length) - 1;
    return letters < 2 ? '' : `${text.slice(0, letters)}…`;
  }
}

function noteText(events: number, room: number): string {
  const texts = [`${count(events)} events here; zoom in`, `${count(events)} events`];
  return texts.find((text) => text.length * 6.2 < room) ?? '';
}

export function drawLabels(
  context: CanvasRenderingContext2D,
  strips: readonly Strip[],
  view: View,
  width: number,
  texts: LabelTexts,
  colouring: Colouring,
  minPs: number,
): number {
  let drawn = 0;
  const perPs = width / (view.to - view.from);
  let ink = '';
  const notes: Note[] = [];
  for (const strip of strips) {
    if (strip.box < MIN_ROW_PX) continue;
    const { block } = strip;
    const colours = colouring.of(block);
    const [from, to] = [Math.max(strip.from, view.from), Math.min(strip.to, view.to)];
    for (let row = 0; row + 1 < block.rows.length; row += 1) {
      const top = strip.top + row * strip.pitch;
      const end = block.rows[row + 1] ?? 0;
      let run: (typeof notes)[number] | null = null;
      for (let i = firstEndingAfter(block, row, from); i < end; i += 1) {
        const start = block.start[i] ?? 0;
        if (start >= to) break;
        const left = Math.max(start, view.from);
        // The block in which the visible part begins writes the label; its neighbour would write it
        // again.
        if (left < from || drawn >= MOST_LABELS) continue;
        const length = block.duration[i] ?? 0;
        const x = toX(view, width, left);
        const right = Math.min(width, (start + length - view.from) * perPs);
        const events = block.count[i] ?? 1;
        if (events > 1) {
          if (run !== null && x - run.right <= JOIN_PX) {
            run.right = right;
            run.events += events;
          } else {
            run = { track: block.track, left: x, right, top, box: strip.box, events };
            notes.push(run);
          }
          continue;
        }
        run = null;
        const room = right - x - 2 * PAD_PX;
        if (room < MIN_LABEL_PX - 2 * PAD_PX || length < minPs) continue;
        const text = texts.fit(block.name[i] ?? 0, room);
        if (text === '') continue;
        const wanted = colouring.ink(colours[i] ?? 0);
        if (wanted !== ink) {
          ink = wanted;
          context.fillStyle = wanted;
        }
        context.fillText(text, x + PAD_PX, top + strip.box / 2 + 0.5);
        drawn += 1;
      }
    }
  }
  drawNotes(context, widest(joined(notes)), colouring);
  return drawn;
}

type Note = {
  track: string;
  left: number;
  right: number;
  top: number;
  box: number;
  events: number;
};

/** Stretches that go on in the next block. */
function joined(notes: readonly Note[]): Note[] {
  const byTop = new Map<number, Note[]>();
  for (const note of notes) {
    const row = byTop.get(note.top);
    const last = row?.[row.length - 1];
    if (last !== undefined && note.left - last.right <= JOIN_PX && note.left >= last.left) {
      last.right = Math.max(last.right, note.right);
      last.events += note.events;
    } else if (row === undefined) {
      byTop.set(note.top, [{ ...note }]);
    } else {
      row.push({ ...note });
    }
  }
  return [...byTop.values()].flat();
}

/** One note for a track is enough; it must not hide what it speaks of. */
function widest(notes: readonly Note[]): Note[] {
  const best = new Map<string, Note>();
  for (const note of notes) {
    const other = best.get(note.track);
    if (other === undefined || note.right - note.left > other.right - other.left)
      best.set(note.track, note);
  }
  return [...best.values()];
}

function drawNotes(
  context: CanvasRenderingContext2D,
  notes: readonly Note[],
  { inks }: Colouring,
): void {
  for (const note of notes) {
    if (note.right - note.left < MIN_NOTE_PX) continue;
    const text = noteText(note.events, note.right - note.left - 16);
    if (text === '') continue;
    const wide = context.measureText(text).width + 10;
    const x = (note.left + note.right - wide) / 2;
    context.fillStyle = `rgb(${inks.ground.join(',')})`;
    context.fillRect(x, note.top + 1, wide, note.box - 2);
    context.fillStyle = `rgb(${inks.ink2.join(',')})`;
    context.fillText(text, x + 5, note.top + note.box / 2 + 0.5);
  }
}

/** How many boxes are in sight, and how many events they stand for. */
export function countDrawn(
  strips: readonly Strip[],
  view: View,
  minPs: number,
): { boxes: number; events: number } {
  let boxes = 0;
  let events = 0;
  for (const { block, from, to } of strips) {
    const [low, high] = [Math.max(from, view.from), Math.min(to, view.to)];
    if (high <= low) continue;
    for (let row = 0; row + 1 < block.rows.length; row += 1) {
      const end = block.rows[row + 1] ?? 0;
      for (let i = firstEndingAfter(block, row, low); i < end; i += 1) {
        const start = block.start[i] ?? 0;
        if (start >= high) break;
        // An event that began before belongs to the strip it began in, or to the left edge of the
        // view.
        if (start < low && low !== view.from) continue;
        const many = block.count[i] ?? 1;
        if (many === 1 && (block.duration[i] ?? 0) < minPs) continue;
        boxes += 1;
        events += many;
      }
    }
  }
  return { boxes, events };
}

/** Row of an event in the blocks at hand; null where none of them has it. */
export function depthOf(blocks: readonly Block[], event: number, start: number): number | null {
  for (const block of blocks) {
    for (let row = 0; row + 1 < block.rows.length; row += 1) {
      for (
        let i = firstEndingAfter(block, row, start - 1);
        i < (block.rows[row + 1] ?? 0) && (block.start[i] ?? 0) <= start;
        i += 1
      ) {
        if (
          block.event[i] === event ||
          ((block.count[i] ?? 1) > 1 &&
            (block.start[i] ?? 0) <= start &&
            (block.start[i] ?? 0) + (block.duration[i] ?? 0) > start)
        )
          return row;
      }
    }
  }
  return null;
}
