// SPDX-License-Identifier: Apache-2.0
// Boxes without WebGL2: pixels are written by hand and put on a 2D canvas in one go. A row of boxes
// looks the same on all of
// its lines, so one line is made and copied; tens of thousands of boxes cost no more than their
// pixels.

import { mix, type Rgb } from '../core/colours';
import type { Colouring } from './colours';
import { firstEndingAfter } from './decode';
import {
  GAP_FROM_PX,
  HATCH_LINE_PX,
  HATCH_PX,
  HIGHLIGHT,
  type Band,
  type Plain,
  type Renderer,
  type Scene,
  type Strip,
} from './renderer';
import { toX } from './viewport';

const OPAQUE = 0xff000000;
/** Without the lowest bit of each byte, so that halving moves no bit into the next one. */
const EVEN = 0xfefefefe;

/** As bytes red, green, blue, alpha lie in memory. */
function pack(colour: Rgb): number {
  return (colour[0] | (colour[1] << 8) | (colour[2] << 16) | OPAQUE) >>> 0;
}

function unpack(packed: number): Rgb {
  return [packed & 255, (packed >>> 8) & 255, (packed >>> 16) & 255];
}

class CanvasRenderer implements Renderer {
  readonly kind = 'Canvas';
  private image: ImageData;
  private pixels: Uint32Array;
  /** Colours of one line of a row, 0 where there is no box; and whether it is hatched. */
  private line = new Uint32Array(0);
  private hatched = new Uint8Array(0);

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly context: CanvasRenderingContext2D,
    private readonly colouring: Colouring,
  ) {
    this.image = context.createImageData(1, 1);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  draw(scene: Scene): void {
    const { canvas, context, colouring } = this;
    // One pixel for each of the page's, whatever the screen has: the browser enlarges boxes well,
    // and letters are not drawn here.
    const [w, h] = [Math.round(scene.width), Math.round(scene.height)];
    if (
      canvas.width !== w ||
      canvas.height !== h ||
      this.image.width !== w ||
      this.image.height !== h
    ) {
      canvas.width = w;
      canvas.height = h;
      this.image = context.createImageData(w, h);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.line = new Uint32Array(w);
      this.hatched = new Uint8Array(w);
    }
    this.pixels.fill(pack(colouring.inks.ground));
    for (const band of scene.bands) {
      for (const plain of band.plain) this.drawPlain(plain, band, w, h);
      for (const strip of band.strips) this.drawStrip(strip, band, scene, w, h);
    }
    context.putImageData(this.image, 0, 0);
  }

  forget(): void {
    // Nothing is kept for a block.
  }

  destroy(): void {
    this.canvas.width = 0;
    this.canvas.height = 0;
  }

  private drawPlain(plain: Plain, band: Band, w: number, h: number): void {
    const [left, right] = [
      Math.max(0, Math.round(plain.x)),
      Math.min(w, Math.max(Math.round(plain.x) + 1, Math.round(plain.x + plain.width))),
    ];
    const [top, bottom] = [
      Math.max(0, band.top, Math.round(plain.y)),
      Math.min(h, band.bottom, Math.round(plain.y + plain.height)),
    ];
    if (right <= left) return;
    const colour = pack(plain.colour);
    for (let y = top; y < bottom; y += 1) this.pixels.fill(colour, y * w + left, y * w + right);
  }

  private drawStrip(strip: Strip, band: Band, scene: Scene, w: number, h: number): void {
    const { block } = strip;
    for (let row = 0; row + 1 < block.rows.length; row += 1) {
      const top = Math.round(strip.top + row * strip.pitch);
      const bottom = Math.max(top + 1, Math.round(strip.top + row * strip.pitch + strip.box));
      const [first, last] = [Math.max(0, band.top, top), Math.min(h, band.bottom, bottom)];
      if (last > first) this.drawRow(strip, row, scene, w, first, last);
    }
  }

  private drawRow(
    strip: Strip,
    row: number,
    scene: Scene,
    w: number,
    top: number,
    bottom: number,
  ): void {
    const { colouring, line, hatched, pixels } = this;
    const { block } = strip;
    const { view, width, minPs, highlight } = scene;
    const [from, to] = [Math.max(strip.from, view.from), Math.min(strip.to, view.to)];
    if (to <= from) return;
    const perPs = width / (view.to - view.from);
    const [clipLeft, clipRight] = [
      Math.max(0, Math.round(toX(view, width, from))),
      Math.min(w, Math.round(toX(view, width, to))),
    ];
    const colours = colouring.of(block);
    const end = block.rows[row + 1] ?? 0;
    let [least, most, merged] = [w, 0, false];
    for (let i = firstEndingAfter(block, row, from - 1 / perPs); i < end; i += 1) {
      const start = block.start[i] ?? 0;
      if (start >= to) break;
      const length = block.duration[i] ?? 0;
      const many = (block.count[i] ?? 1) > 1;
      if (!many && length < minPs) continue;
      const x = (start - view.from) * perPs;
      const wide = length * perPs;
      let left = Math.floor(x);
      // Neighbours that touch are cut at the same pixel, so that the gap between them is never
      // lost.
      let right = Math.max(left + 1, Math.floor(x + wide) - (wide > GAP_FROM_PX ? 1 : 0));
      left = Math.max(left, clipLeft);
      right = Math.min(right, clipRight);
      if (right <= left) continue;
      let colour = colours[i] ?? 0;
      if (block.name[i] === highlight)
        colour = pack(mix(unpack(colour), colouring.inks.ink, HIGHLIGHT));
      // Boxes of a pixel or two are the most; a loop is quicker for them than a call.
      for (let at = left; at < right; at += 1) {
        line[at] = colour;
        hatched[at] = many ? 1 : 0;
      }
      merged ||= many;
      least = Math.min(least, left);
      most = Math.max(most, right);
    }
    if (most <= least) return;
    // Hatching repeats after as many lines as its lines are apart.
    const different = Math.min(bottom - top, merged ? HATCH_PX : 1);
    const halfGround = (pack(colouring.inks.ground) & EVEN) >>> 1;
    for (let y = top; y < top + different; y += 1) {
      const place = y * w;
      for (let x = least; x < most; x += 1) {
        const colour = line[x] ?? 0;
        if (colour === 0) continue;
        // Half of the colour and half of the ground, all four bytes at once.
        pixels[place + x] =
          hatched[x] === 1 && (x + y) % HATCH_PX < HATCH_LINE_PX
            ? ((((colour & EVEN) >>> 1) + halfGround) | OPAQUE) >>> 0
            : colour;
      }
    }
    for (let y = top + different; y < bottom; y += 1)
      pixels.copyWithin(y * w + least, (y - different) * w + least, (y - different) * w + most);
    line.fill(0, least, most);
  }
}

export function canvasRenderer(canvas: HTMLCanvasElement, colouring: Colouring): Renderer | null {
  const context = canvas.getContext('2d', { alpha: false });
  return context === null ? null : new CanvasRenderer(canvas, context, colouring);
}
