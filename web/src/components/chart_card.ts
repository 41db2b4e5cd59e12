// SPDX-License-Identifier: Apache-2.0
// A chart with what a chart owes its reader: a sentence that sums it up, the same data as a table,
// a picture and a CSV to take away, and the colours of the theme.

import {
  ArcElement,
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PieController,
  PointElement,
  ScatterController,
  Tooltip,
  type ChartConfiguration,
} from 'chart.js';
import { downloadBlob, downloadText, toCsv, type CsvCell } from '../core/csv';
import { fill, h } from '../core/dom';
import { onTheme, token } from '../core/theme';
import { button } from './states';

Chart.register(
  ArcElement,
  BarController,
  BarElement,
  CategoryScale,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PieController,
  PointElement,
  ScatterController,
  Tooltip,
);
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;

/** Less than this is the shake of a hand. */
const DRAG_PX = 5;

export interface ChartContent {
  /** Made anew for each theme; colours are read from tokens inside. */
  config: () => ChartConfiguration;
  summary: string;
  head: string[];
  rows: CsvCell[][];
  /** The CSV, where the table twin sums up more than one wants to read. */
  csv?: () => { head: string[]; rows: CsvCell[][] };
  /** What the table twin shows for a cell; CSV gets the value itself. */
  text?: (cell: CsvCell, column: number) => string;
  height: number;
  legend?: { label: string; token: string; outline?: boolean; line?: boolean; dashed?: boolean }[];
  pick?: (index: number) => void;
  /** Dragging over the chart chooses a run of bars; both ends count. */
  brush?: (from: number, to: number) => void;
  /**
   * Of charts along a linear x: dragging chooses a span of its values, a click one value; the wheel
   * zooms around one.
   */
  span?: (from: number, to: number) => void;
  at?: (x: number) => void;
  wheel?: (factor: number, x: number) => void;
  /** Equal for equal pictures; the card redraws only when it changes. */
  signature?: string;
}

export interface ChartCardOptions {
  title: string;
  name: string;
  note?: string;
  /** More controls in the head. */
  controls?: HTMLElement[];
}

export class ChartCard {
  readonly element: HTMLElement;
  private readonly figure = h('div', { class: 'figure-host' });
  private readonly legend = h('div', { class: 'legend' });
  private readonly heading: HTMLElement;
  private readonly note = h('small', {});
  private readonly tableButton: HTMLButtonElement;
  private readonly stopTheme: () => void;
  private content: ChartContent | null = null;
  private chart: Chart | null = null;
  private asTable = false;

  constructor(private readonly options: ChartCardOptions) {
    this.tableButton = button(
      'As table',
      () => {
        this.asTable = !this.asTable;
        this.draw();
      },
      'table',
    );
    this.tableButton.setAttribute('aria-pressed', 'false');
    this.heading = h('h2', {}, options.title);
    this.note.textContent = options.note ?? '';
    this.element = h(
      'section',
      { class: 'card chart-card', 'aria-label': options.title },
      h(
        'header',
        { class: 'card-head' },
        this.heading,
        this.note,
        h(
          'div',
          { class: 'acts' },
          ...(options.controls ?? []),
          this.tableButton,
          button('PNG', () => this.savePng()),
          button('CSV', () => this.saveCsv()),
        ),
      ),
      this.figure,
      this.legend,
    );
    this.stopTheme = onTheme(() => this.draw());
  }

  title(title: string, note: string): void {
    this.heading.textContent = title;
    this.note.textContent = note;
  }

  set(content: ChartContent): void {
    const same = content.signature !== undefined && content.signature === this.content?.signature;
    this.content = content;
    if (!same) this.draw();
  }

  /** Shows another part of a linear x without drawing everything anew. */
  look(min: number, max: number): void {
    const scale = this.chart?.options.scales?.['x'];
    if (scale === undefined || this.chart === null) return;
    scale.min = min;
    scale.max = max;
    this.chart.update('none');
  }

  destroy(): void {
    this.stopTheme();
    this.chart?.destroy();
    this.chart = null;
  }

  private draw(): void {
    const { content } = this;
    this.chart?.destroy();
    this.chart = null;
    if (content === null) return;
    this.tableButton.setAttribute('aria-pressed', String(this.asTable));
    if (this.asTable) fill(this.figure, this.twin(content));
    else this.drawCanvas(content);
    fill(
      this.legend,
      ...(content.legend ?? []).map((entry) => {
        const kind =
          entry.outline === true
            ? ' outline'
            : entry.dashed === true
              ? ' dashed'
              : entry.line === true
                ? ' line'
                : '';
        const key = h('i', { class: `key${kind}`, 'aria-hidden': 'true' });
        key.style.setProperty('--key', `var(--${entry.token})`);
        return h('span', {}, key, entry.label);
      }),
    );
    this.legend.hidden = (content.legend ?? []).length === 0 || this.asTable;
  }

  private drawCanvas(content: ChartContent): void {
    const canvas = h('canvas', { role: 'img', 'aria-label': content.summary });
    const box = h('div', { class: 'canvas-box' }, canvas);
    box.style.height = `${content.height}px`;
    fill(this.figure, box);
    Chart.defaults.color = token('ink-2');
    Chart.defaults.borderColor = token('line');
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    Object.assign(Chart.defaults.plugins.tooltip, {
      backgroundColor: token('ink'),
      titleColor: token('ground'),
      bodyColor: token('ground'),
      footerColor: token('ground'),
      padding: 10,
      cornerRadius: 6,
      boxPadding: 4,
      displayColors: false,
    });
    const config = content.config();
    config.options ??= {};
    const { pick } = content;
    if (pick !== undefined) {
      config.options.onClick = (_event, elements): void => {
        const [first] = elements;
        // Chart.js draws when this returns. The choice may draw another chart, or leave the page,
        // only after that.
        if (first !== undefined) setTimeout(() => this.content?.pick?.(first.index));
      };
      config.options.onHover = (_event, elements): void => {
        canvas.style.cursor = elements.length > 0 ? 'pointer' : 'default';
      };
    }
    if (content.at !== undefined) {
      config.options.onClick = (event, _elements, chart): void => {
        const { left, right } = chart.chartArea;
        if (event.x === null || event.x < left || event.x > right) return;
        const value = chart.scales['x']?.getValueForPixel(event.x);
        if (value !== undefined) setTimeout(() => this.content?.at?.(value));
      };
    }
    this.chart = new Chart(canvas, config);
    if (content.brush !== undefined || content.span !== undefined) this.brushOn(box, canvas);
    if (content.wheel !== undefined) {
      canvas.addEventListener(
        'wheel',
        (event) => {
          const value = this.chart?.scales['x']?.getValueForPixel(event.offsetX);
          if (value === undefined || event.deltaY === 0) return;
          event.preventDefault();
          this.content?.wheel?.(1.0015 ** event.deltaY, value);
        },
        { passive: false },
      );
    }
  }

  /** A drag marks a span; a movement too short for a drag stays a click. */
  private brushOn(box: HTMLElement, canvas: HTMLCanvasElement): void {
    const mark = h('div', { class: 'brush', hidden: true });
    box.append(mark);
    canvas.classList.add('brushable');
    let start: number | null = null;
    let dragged = false;
    const x = (event: PointerEvent): number => event.clientX - canvas.getBoundingClientRect().left;
    const end = (): void => {
      start = null;
      mark.hidden = true;
    };
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      start = x(event);
      dragged = false;
    });
    canvas.addEventListener('pointermove', (event) => {
      const area = this.chart?.chartArea;
      if (start === null || area === undefined) return;
      if (!dragged && Math.abs(x(event) - start) < DRAG_PX) return;
      if (!dragged) canvas.setPointerCapture(event.pointerId);
      dragged = true;
      const clamp = (value: number): number => Math.min(area.right, Math.max(area.left, value));
      const [left, right] = [clamp(Math.min(start, x(event))), clamp(Math.max(start, x(event)))];
      mark.hidden = false;
      mark.style.left = `${left}px`;
      mark.style.width = `${right - left}px`;
      mark.style.top = `${area.top}px`;
      mark.style.height = `${area.bottom - area.top}px`;
    });
    canvas.addEventListener('pointerup', (event) => {
      const scale = this.chart?.scales['x'];
      const bars = this.chart?.data.labels?.length ?? 0;
      if (start !== null && dragged && scale !== undefined && this.content?.span !== undefined) {
        const at = (px: number): number => Number(scale.getValueForPixel(px) ?? 0);
        const [from, to] = [at(Math.min(start, x(event))), at(Math.max(start, x(event)))];
        setTimeout(() => this.content?.span?.(from, to));
      } else if (start !== null && dragged && scale !== undefined && bars > 0) {
        const at = (px: number): number =>
          Math.min(bars - 1, Math.max(0, Math.round(Number(scale.getValueForPixel(px) ?? 0))));
        const [from, to] = [at(Math.min(start, x(event))), at(Math.max(start, x(event)))];
        // The click that follows belongs to this chart.
        setTimeout(() => this.content?.brush?.(from, to));
      }
      end();
    });
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener(
      'click',
      (event) => {
        if (!dragged) return;
        event.stopImmediatePropagation();
        dragged = false;
      },
      { capture: true },
    );
  }

  private twin(content: ChartContent): HTMLElement {
    const { pick } = content;
    const show = content.text ?? ((cell: CsvCell) => (cell === null ? '–' : String(cell)));
    const body = h('tbody');
    content.rows.forEach((row, index) => {
      const line = h('tr');
      row.forEach((cell, column) => {
        const text = show(cell, column);
        if (column > 0)
          line.append(
            h(
              'td',
              {
                class: typeof cell === 'number' ? 'number' : undefined,
                title: cell === null ? undefined : String(cell),
              },
              text,
            ),
          );
        else if (pick === undefined) line.append(h('th', { scope: 'row' }, text));
        else
          line.append(
            h(
              'th',
              { scope: 'row' },
              h(
                'button',
                { type: 'button', class: 'linklike', on: { click: () => pick(index) } },
                text,
              ),
            ),
          );
      });
      body.append(line);
    });
    return h(
      'div',
      {
        class: 'twin',
        tabindex: '0',
        role: 'group',
        'aria-label': `${this.options.title}, as table`,
      },
      h(
        'table',
        {},
        h('caption', {}, content.summary),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ...content.head.map((head, column) =>
              h(
                'th',
                {
                  scope: 'col',
                  class: typeof content.rows[0]?.[column] === 'number' ? 'number' : undefined,
                },
                head,
              ),
            ),
          ),
        ),
        body,
      ),
    );
  }

  private savePng(): void {
    const source = this.chart?.canvas;
    if (source === undefined) {
      this.asTable = false;
      this.draw();
      if (this.chart !== null) this.savePng();
      return;
    }
    // The canvas is transparent; a picture needs its ground.
    const copy = h('canvas', { width: source.width, height: source.height });
    const context = copy.getContext('2d');
    if (context === null) return;
    context.fillStyle = token('ground');
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(source, 0, 0);
    copy.toBlob((blob) => {
      if (blob !== null) downloadBlob(`${this.options.name}.png`, blob);
    });
  }

  private saveCsv(): void {
    if (this.content === null) return;
    const { head, rows } = this.content.csv?.() ?? this.content;
    downloadText(`${this.options.name}.csv`, toCsv(head, rows), 'text/csv');
  }
}
