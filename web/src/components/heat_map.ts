// SPDX-License-Identifier: Apache-2.0
// Rows times columns as colour. A thousand rows are drawn as pixels, of which each shows the
// largest value in it.

import { fill, h } from '../core/dom';
import { onTheme, token } from '../core/theme';

export interface HeatMapContent {
  rows: number;
  columns: number;
  /** NaN leaves a cell empty. */
  value: (row: number, column: number) => number;
  rowLabel: (row: number) => string;
  columnLabel: (column: number) => string;
  describe: (row: number, column: number) => string[];
  /** What a screen reader hears instead of the picture. */
  summary: string;
  token: string;
  format: (value: number) => string;
  /** Marked row and columns; -1 for none. */
  row: number;
  from: number;
  to: number;
  pick: (row: number, column: number) => void;
}

const MOST_HEIGHT = 420;
const ROW_MOST = 26;
const AXIS_PX = 20;
const SHADES = 256;

const font = (): string => `12px ${getComputedStyle(document.body).fontFamily}`;

type Rgb = [number, number, number];

function rgb(colour: string, context: CanvasRenderingContext2D): Rgb {
  // The canvas resolves any way to write a colour, system colours too.
  context.fillStyle = '#888888';
  context.fillStyle = colour;
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(String(context.fillStyle));
  return hex === null
    ? [136, 136, 136]
    : [parseInt(hex[1] ?? '', 16), parseInt(hex[2] ?? '', 16), parseInt(hex[3] ?? '', 16)];
}

const toLinear = (value: number): number => (value / 255) ** 2.2;
const toByte = (value: number): number => Math.round(255 * value ** (1 / 2.2));

function ramp(low: Rgb, high: Rgb): Uint8ClampedArray {
  const shades = new Uint8ClampedArray(SHADES * 3);
  for (let i = 0; i < SHADES; i += 1) {
    const share = i / (SHADES - 1);
    low.forEach((value, channel) => {
      shades[i * 3 + channel] = toByte(
        toLinear(value) * (1 - share) + toLinear(high[channel] ?? 0) * share,
      );
    });
  }
  return shades;
}

export class HeatMap {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', { role: 'img' });
  private readonly tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
  private readonly box = h('div', { class: 'heat-box' }, this.canvas, this.tip);
  private readonly scale = h('div', { class: 'heat-scale', 'aria-hidden': 'true' });
  private readonly stopTheme: () => void;
  private readonly watcher: ResizeObserver;
  private content: HeatMapContent | null = null;
  private area = { left: 0, top: 0, width: 1, height: 1 };
  private width = 0;

  constructor() {
    this.element = h('div', { class: 'heat' }, this.box, this.scale);
    this.stopTheme = onTheme(() => this.draw());
    this.watcher = new ResizeObserver(() => {
      if (this.box.clientWidth !== this.width) this.draw();
    });
    this.watcher.observe(this.box);
    this.canvas.addEventListener('pointermove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
    });
    this.canvas.addEventListener('click', (event) => {
      const cell = this.cellAt(event);
      if (cell !== null) this.content?.pick(cell.row, cell.column);
    });
  }

  destroy(): void {
    this.stopTheme();
    this.watcher.disconnect();
  }

  set(content: HeatMapContent): void {
    this.content = content;
    this.canvas.setAttribute('aria-label', content.summary);
    this.draw();
  }

  private draw(): void {
    const { content } = this;
    this.width = this.box.clientWidth;
    if (content === null || this.width === 0 || content.rows === 0 || content.columns === 0) return;
    const height = Math.min(MOST_HEIGHT, content.rows * ROW_MOST);
    const context = this.canvas.getContext('2d');
    if (context !== null) context.font = font();
    const widest = Math.max(
      0,
      ...Array.from(
        { length: Math.min(content.rows, 50) },
        (_row, row) => context?.measureText(content.rowLabel(row)).width ?? 0,
      ),
    );
    const left = Math.min(this.width < 520 ? 84 : 160, Math.ceil(widest) + 12);
    this.area = { left, top: 4, width: Math.max(40, this.width - left - 2), height };
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round((height + 4 + AXIS_PX) * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${height + 4 + AXIS_PX}px`;
    if (context === null) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.cells(context, content);
    this.labels(context, content);
    this.marks(context, content);
  }

  private cells(context: CanvasRenderingContext2D, content: HeatMapContent): void {
    const { area } = this;
    const rows = Math.min(content.rows, Math.floor(area.height));
    const columns = Math.min(content.columns, Math.floor(area.width));
    const values = new Float64Array(rows * columns).fill(NaN);
    let [low, high] = [Infinity, -Infinity];
    for (let row = 0; row < content.rows; row += 1) {
      const y = Math.floor((row * rows) / content.rows);
      for (let column = 0; column < content.columns; column += 1) {
        const value = content.value(row, column);
        if (Number.isNaN(value)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
        const at = y * columns + Math.floor((column * columns) / content.columns);
        const before = values[at] ?? NaN;
        if (!(before >= value)) values[at] = value;
      }
    }
    const shades = ramp(rgb(token('ground-3'), context), rgb(token(content.token), context));
    const picture = context.createImageData(columns, rows);
    values.forEach((value, at) => {
      if (Number.isNaN(value)) return;
      const shade =
        high > low ? Math.round(((value - low) / (high - low)) * (SHADES - 1)) : SHADES >> 1;
      for (let channel = 0; channel < 3; channel += 1)
        picture.data[at * 4 + channel] = shades[shade * 3 + channel] ?? 0;
      picture.data[at * 4 + 3] = 255;
    });
    const small = h('canvas', { width: columns, height: rows });
    small.getContext('2d')?.putImageData(picture, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, area.left, area.top, area.width, area.height);
    // Gaps help the eye to count while there is room for them.
    context.fillStyle = token('ground');
    if (area.height / rows >= 8)
      for (let row = 1; row < rows; row += 1)
        context.fillRect(area.left, area.top + (row * area.height) / rows - 0.5, area.width, 1);
    if (area.width / columns >= 8)
      for (let column = 1; column < columns; column += 1)
        context.fillRect(
          area.left + (column * area.width) / columns - 0.5,
          area.top,
          1,
          area.height,
        );
    const bar = h('canvas', { width: SHADES, height: 1 });
    const line = bar.getContext('2d');
    if (line !== null) {
      const strip = line.createImageData(SHADES, 1);
      for (let i = 0; i < SHADES; i += 1) {
        for (let channel = 0; channel < 3; channel += 1)
          strip.data[i * 4 + channel] = shades[i * 3 + channel] ?? 0;
        strip.data[i * 4 + 3] = 255;
      }
      line.putImageData(strip, 0, 0);
    }
    fill(
      this.scale,
      h('span', {}, Number.isFinite(low) ? content.format(low) : '–'),
      bar,
      h('span', {}, Number.isFinite(high) ? content.format(high) : '–'),
    );
  }

  private labels(context: CanvasRenderingContext2D, content: HeatMapContent): void {
    const { area } = this;
    context.fillStyle = token('ink-2');
    context.font = font();
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    const rowPx = area.height / content.rows;
    const every = Math.max(1, Math.ceil(15 / rowPx));
    const room = area.left - 10;
    let last = -Infinity;
    for (let row = 0; row < content.rows; row += every) {
      const y = area.top + Math.min(area.height - 6, Math.max(6, (row + 0.5) * rowPx));
      if (y - last < 14) continue;
      last = y;
      let label = content.rowLabel(row);
      // The end of a host's name tells hosts apart.
      while (label.length > 3 && context.measureText(label).width > room)
        label = `…${label.slice(label.startsWith('…') ? 2 : 1)}`;
      context.fillText(label, area.left - 6, y);
    }
    context.textAlign = 'center';
    context.textBaseline = 'top';
    const columnPx = area.width / content.columns;
    const widest = Math.max(
      ...[0, content.columns - 1].map(
        (column) => context.measureText(content.columnLabel(column)).width,
      ),
    );
    const step = Math.max(1, Math.ceil((widest + 18) / columnPx));
    for (let column = 0; column < content.columns; column += step) {
      const x = area.left + (column + 0.5) * columnPx;
      if (x + widest / 2 <= this.width)
        context.fillText(content.columnLabel(column), x, area.top + area.height + 5);
    }
  }

  private marks(context: CanvasRenderingContext2D, content: HeatMapContent): void {
    const { area } = this;
    context.strokeStyle = token('ink');
    context.lineWidth = 2;
    if (content.from >= 0) {
      const columnPx = area.width / content.columns;
      context.strokeRect(
        area.left + content.from * columnPx,
        area.top,
        Math.max(2, (content.to - content.from + 1) * columnPx),
        area.height,
      );
    }
    if (content.row >= 0) {
      const rowPx = area.height / content.rows;
      context.strokeRect(area.left, area.top + content.row * rowPx, area.width, Math.max(2, rowPx));
    }
  }

  private cellAt(event: MouseEvent): { row: number; column: number } | null {
    const { content, area } = this;
    const place = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - place.left - area.left, event.clientY - place.top - area.top];
    if (content === null || x < 0 || y < 0 || x >= area.width || y >= area.height) return null;
    return {
      row: Math.min(content.rows - 1, Math.floor((y / area.height) * content.rows)),
      column: Math.min(content.columns - 1, Math.floor((x / area.width) * content.columns)),
    };
  }

  private hover(event: PointerEvent): void {
    const { content } = this;
    const cell = this.cellAt(event);
    this.tip.hidden = cell === null;
    this.canvas.style.cursor = cell === null ? 'default' : 'pointer';
    if (cell === null || content === null) return;
    const lines = content.describe(cell.row, cell.column);
    fill(this.tip, ...lines.map((line, index) => h(index === 0 ? 'b' : 'span', {}, line)));
    const place = this.box.getBoundingClientRect();
    const x = event.clientX - place.left;
    this.tip.style.left = `${Math.max(0, x + 14 + this.tip.offsetWidth > place.width ? x - this.tip.offsetWidth - 14 : x + 14)}px`;
    this.tip.style.top = `${event.clientY - place.top + 14}px`;
  }
}
