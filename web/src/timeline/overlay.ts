// SPDX-License-Identifier: Apache-2.0
// What lies over the boxes: labels, the selection, the area, marks, found events, and arrows along
// links.

import { duration, joined } from '../core/format';
import type { Rgb } from '../core/colours';
import type { Colouring } from './colours';
import type { RowStrip } from './hit_test';
import { drawLabels, LABEL_FONT_PX, type LabelTexts } from './labels';
import type { Mark } from './marks';
import { toX, type View } from './viewport';

export interface Outline {
  from: number;
  to: number;
  top: number;
  height: number;
}

export interface Arrow {
  fromPs: number;
  fromY: number;
  toPs: number;
  toY: number;
}

export interface OverlayBand {
  top: number;
  bottom: number;
  strips: readonly RowStrip[];
  selected: Outline | null;
  hits: readonly Outline[];
  /** Rows an area covers. */
  area: readonly { top: number; height: number }[];
}

export interface OverlayScene {
  view: View;
  width: number;
  height: number;
  scale: number;
  bands: readonly OverlayBand[];
  area: { from: number; to: number } | null;
  measure: { from: number; to: number; y: number } | null;
  zoomBox: { from: number; to: number } | null;
  marks: readonly Mark[];
  arrows: readonly Arrow[];
  minPs: number;
}

const rgb = (colour: Rgb, alpha = 1): string =>
  `rgba(${colour[0]},${colour[1]},${colour[2]},${alpha})`;

/** Letters of the page; a canvas does not inherit them. */
export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

export function timeText(ps: number): string {
  return joined(duration(ps / 1e6));
}

export function fitCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  scale: number,
): CanvasRenderingContext2D | null {
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  const context = canvas.getContext('2d');
  if (context === null) return null;
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

export class Overlay {
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly colouring: Colouring,
    private readonly texts: LabelTexts,
  ) {}

  draw(scene: OverlayScene): void {
    const { view, width, height } = scene;
    const context = fitCanvas(this.canvas, width, height, scene.scale);
    if (context === null) return;
    const { inks } = this.colouring;
    const x = (ps: number): number => Math.min(width + 10, Math.max(-10, toX(view, width, ps)));
    context.textBaseline = 'middle';
    context.font = `${LABEL_FONT_PX}px ${FONT}`;
    for (const band of scene.bands) {
      if (band.bottom <= band.top) continue;
      context.save();
      context.beginPath();
      context.rect(0, band.top, width, band.bottom - band.top);
      context.clip();
      drawLabels(context, band.strips, view, width, this.texts, this.colouring, scene.minPs);
      if (scene.area !== null) {
        context.fillStyle = rgb(inks.accent, 0.16);
        const [left, right] = [x(scene.area.from), x(scene.area.to)];
        for (const row of band.area) context.fillRect(left, row.top, right - left, row.height);
      }
      context.strokeStyle = rgb(inks.ink);
      context.lineWidth = 1;
      for (const one of band.hits) {
        const [left, right] = [x(one.from), x(one.to)];
        context.strokeRect(
          left - 0.5,
          one.top - 0.5,
          Math.max(2, right - left) + 1,
          one.height + 1,
        );
      }
      if (band.selected !== null) {
        const { from, to, top, height: tall } = band.selected;
        const [left, right] = [x(from), Math.max(x(from) + 2, x(to))];
        context.lineWidth = 3;
        context.strokeStyle = rgb(inks.ground);
        context.strokeRect(left - 0.5, top - 0.5, right - left + 1, tall + 1);
        context.lineWidth = 2;
        context.strokeStyle = rgb(inks.ink);
        context.strokeRect(left - 1, top - 1, right - left + 2, tall + 2);
      }
      context.restore();
    }
    this.drawArrows(context, scene, x);
    if (scene.area !== null) this.drawEdges(context, scene.area, x, height, inks.accent);
    for (const mark of scene.marks) this.drawLine(context, x(mark.ps), height, inks.accent, [5, 3]);
    if (scene.zoomBox !== null) {
      const [left, right] = [x(scene.zoomBox.from), x(scene.zoomBox.to)].sort((a, b) => a - b) as [
        number,
        number,
      ];
      context.fillStyle = rgb(inks.ink, 0.14);
      context.fillRect(left, 0, right - left, height);
      this.drawEdges(context, scene.zoomBox, x, height, inks.ink);
    }
    if (scene.measure !== null) this.drawMeasure(context, scene, scene.measure, x);
  }

  private drawLine(
    context: CanvasRenderingContext2D,
    at: number,
    height: number,
    colour: Rgb,
    dash: number[] = [],
  ): void {
    context.strokeStyle = rgb(colour);
    context.lineWidth = 1;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(Math.round(at) + 0.5, 0);
    context.lineTo(Math.round(at) + 0.5, height);
    context.stroke();
    context.setLineDash([]);
  }

  private drawEdges(
    context: CanvasRenderingContext2D,
    range: { from: number; to: number },
    x: (ps: number) => number,
    height: number,
    colour: Rgb,
  ): void {
    this.drawLine(context, x(range.from), height, colour);
    this.drawLine(context, x(range.to), height, colour);
  }

  private drawMeasure(
    context: CanvasRenderingContext2D,
    { height, width }: OverlayScene,
    range: { from: number; to: number; y: number },
    x: (ps: number) => number,
  ): void {
    const { inks } = this.colouring;
    this.drawEdges(context, range, x, height, inks.ink);
    const [left, right] = [x(Math.min(range.from, range.to)), x(Math.max(range.from, range.to))];
    const y = Math.min(height - 14, Math.max(14, range.y));
    context.strokeStyle = rgb(inks.ink);
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(right, y);
    context.stroke();
    const text = timeText(Math.abs(range.to - range.from));
    context.font = `600 12px ${FONT}`;
    const wide = context.measureText(text).width + 12;
    const at = Math.min(width - wide - 2, Math.max(2, (left + right - wide) / 2));
    context.fillStyle = rgb(inks.ink);
    context.fillRect(at, y - 10, wide, 20);
    context.fillStyle = rgb(inks.ground);
    context.fillText(text, at + 6, y + 0.5);
  }

  private drawArrows(
    context: CanvasRenderingContext2D,
    { arrows, height }: OverlayScene,
    x: (ps: number) => number,
  ): void {
    const { inks } = this.colouring;
    for (const arrow of arrows) {
      const [x0, x1] = [x(arrow.fromPs), x(arrow.toPs)];
      const [y0, y1] = [arrow.fromY, arrow.toY].map((y) =>
        Math.min(height + 20, Math.max(-20, y)),
      ) as [number, number];
      const bend = Math.min(80, Math.max(18, Math.abs(x1 - x0) / 2));
      for (const [colour, wide] of [
        [inks.ground, 4],
        [inks.ink, 1.6],
      ] as const) {
        context.strokeStyle = rgb(colour);
        context.lineWidth = wide;
        context.beginPath();
        context.moveTo(x0, y0);
        context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
        context.stroke();
      }
      context.fillStyle = rgb(inks.ink);
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x1 - 8, y1 - 4.5);
      context.lineTo(x1 - 8, y1 + 4.5);
      context.fill();
    }
  }
}
