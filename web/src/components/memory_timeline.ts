// SPDX-License-Identifier: Apache-2.0
// Memory in use over time: lines by the left axis, fragmentation by the right, steps as bands
// behind them.

import type { Chart, ChartConfiguration, Plugin } from 'chart.js';
import type { CsvCell } from '../core/csv';
import { bytes, count, duration, joined, percent } from '../core/format';
import { byteStep, type Band, type MemoryPoint, type Span } from '../core/memory';
import { token } from '../core/theme';
import { ChartCard } from './chart_card';
import { axisTime, wrapped } from './charts';

export interface TimelineState {
  points: readonly MemoryPoint[];
  /** Changes when the points do. */
  version: number;
  total: number;
  bands: readonly Band[];
  whole: Span;
  /** The allocator's last event; what it left lasts. */
  lastNs: number;
  span: Span;
  peak: { ns: number; bytes: number } | null;
  /** The moment that is looked at, if it is not the peak's. */
  at: number | null;
  /** Where the chosen block was allocated. */
  chosen: number | null;
  showFree: boolean;
  summary: string;
}

export const time = (ns: number): string => joined(duration(ns / 1000));
export const size = (value: number): string => joined(bytes(value));

const SERIES = [
  { label: 'Heap', token: 'host-compute', of: (point: MemoryPoint) => point.heap },
  { label: 'Stack', token: 'input', of: (point: MemoryPoint) => point.stack },
  { label: 'Free', token: 'device-compute', of: (point: MemoryPoint) => point.free },
  {
    label: 'Fragmentation',
    token: 'kernel-launch',
    of: (point: MemoryPoint) => point.fragmentation * 100,
  },
] as const;
const HEAD = [
  'Time (ms)',
  'Stack (bytes)',
  'Heap (bytes)',
  'Free (bytes)',
  'Fragmentation',
  'Event',
  'Allocation (bytes)',
  'Requested (bytes)',
  'Op',
  'Region',
  'Data type',
  'Shape',
  'Step',
  'Address',
];
/** A table of more lines is for a program, not for a reader. */
const TWIN_ROWS = 500;
const LABEL_PX = 40;

function drawBands(chart: Chart, bands: readonly Band[]): void {
  const { ctx, chartArea: area } = chart;
  const x = chart.scales['x'];
  if (x === undefined) return;
  ctx.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textBaseline = 'top';
  let labelEnd = -Infinity;
  bands.forEach((band, index) => {
    const left = Math.max(area.left, x.getPixelForValue(band.fromNs));
    const right = Math.min(area.right, x.getPixelForValue(band.toNs));
    if (right <= area.left || left >= area.right) return;
    ctx.fillStyle = token(index % 2 === 0 ? 'ground-2' : 'ground-3');
    ctx.fillRect(left, area.top, Math.max(1, right - left), area.bottom - area.top);
    const width = ctx.measureText(band.name).width;
    if (right - left < Math.max(LABEL_PX, width + 8) || left < labelEnd) return;
    ctx.fillStyle = token('ink-2');
    ctx.fillText(band.name, left + 4, area.top + 3);
    labelEnd = left + width + 12;
  });
}

function drawLine(chart: Chart, ns: number, colour: string, dash: number[], label: string): void {
  const { ctx, chartArea: area } = chart;
  const at = chart.scales['x']?.getPixelForValue(ns) ?? NaN;
  if (!(at >= area.left && at <= area.right)) return;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(at, area.top);
  ctx.lineTo(at, area.bottom);
  ctx.stroke();
  ctx.setLineDash([]);
  const width = ctx.measureText(label).width;
  const left = at + width + 8 > area.right ? at - width - 5 : at + 5;
  ctx.fillStyle = token('ground');
  ctx.globalAlpha = 0.85;
  ctx.fillRect(left - 3, area.bottom - 19, width + 6, 16);
  ctx.globalAlpha = 1;
  ctx.fillStyle = colour;
  ctx.textBaseline = 'middle';
  ctx.fillText(label, left, area.bottom - 11);
}

function drawPeak(chart: Chart, peak: { ns: number; bytes: number }): void {
  const { ctx, chartArea: area } = chart;
  const at = chart.scales['x']?.getPixelForValue(peak.ns) ?? NaN;
  const top = chart.scales['y']?.getPixelForValue(peak.bytes) ?? NaN;
  if (!(at >= area.left && at <= area.right) || !Number.isFinite(top)) return;
  const y = Math.max(area.top, top);
  ctx.fillStyle = token('ink');
  ctx.strokeStyle = token('ground');
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(at, y - 1);
  ctx.lineTo(at - 6, y - 11);
  ctx.lineTo(at + 6, y - 11);
  ctx.closePath();
  ctx.fill();
  ctx.stroke();
  const label = `Peak ${size(peak.bytes)}`;
  ctx.font = `600 11px ${getComputedStyle(document.body).fontFamily}`;
  const width = ctx.measureText(label).width;
  ctx.textBaseline = 'middle';
  ctx.fillText(label, at + 10 + width > area.right ? at - 10 - width : at + 10, y - 6);
}

function tooltip(point: MemoryPoint): string[] {
  const sign = point.gives ? '−' : '+';
  const lines = [
    `In use: ${size(point.heap + point.stack)} (heap ${size(point.heap)}, stack ${size(point.stack)})`,
    `Free: ${size(point.free)} · fragmentation ${percent(point.fragmentation)}`,
    `${point.gives ? 'Freed' : 'Allocated'}: ${sign}${size(point.bytes)}, requested ${size(point.requested)}`,
  ];
  lines.push(...wrapped(`Op: ${point.op === '' ? 'not recorded' : point.op}`));
  const of = [point.region, point.type === 'INVALID' ? '' : point.type, point.shape]
    .filter((part) => part !== '')
    .join(' · ');
  if (of !== '') lines.push(...wrapped(of));
  lines.push(`Step ${point.step}`);
  return lines;
}

export class MemoryTimeline {
  readonly card: ChartCard;
  private state: TimelineState | null = null;
  private drawn = '';

  constructor(
    controls: HTMLElement[],
    private readonly on: {
      at: (ns: number) => void;
      span: (from: number, to: number) => void;
      wheel: (factor: number, ns: number) => void;
    },
  ) {
    this.card = new ChartCard({ title: 'Memory over time', name: 'memory_timeline', controls });
  }

  destroy(): void {
    this.card.destroy();
  }

  show(state: TimelineState): void {
    const { points, span } = state;
    this.state = state;
    const zoomed = span.from > state.whole.from || span.to < state.whole.to;
    const signature = JSON.stringify([state.version, state.showFree, zoomed, state.bands.length]);
    const reduced = points.length < state.total && !zoomed;
    this.card.title(
      'Memory over time',
      `${reduced ? `${count(state.total)} events, highs and lows are drawn` : ''}${reduced ? '; ' : ''}click to see what is in use at that time, drag or scroll to zoom`,
    );
    const series = this.series();
    const cells = (point: MemoryPoint): CsvCell[] => [
      point.ns / 1e6,
      point.stack,
      point.heap,
      point.free,
      point.fragmentation,
      point.gives ? 'deallocation' : 'allocation',
      point.bytes,
      point.requested,
      point.op,
      point.region,
      point.type,
      point.shape,
      point.step,
      point.address,
    ];
    const inSight = points.filter((point) => point.ns >= span.from && point.ns <= span.to);
    this.card.set({
      signature,
      summary: state.summary,
      height: 300,
      config: () => this.config(),
      head: HEAD,
      rows: inSight.slice(0, TWIN_ROWS).map(cells),
      csv: () => ({ head: HEAD, rows: inSight.map(cells) }),
      text: (cell, column) =>
        typeof cell !== 'number'
          ? String(cell ?? '–')
          : column === 0
            ? time(cell * 1e6)
            : column === 4
              ? percent(cell)
              : column === 12
                ? String(cell)
                : size(cell),
      legend: [
        ...series.map((one) => ({
          label: one.label,
          token: one.token,
          line: one.label !== 'Fragmentation',
          dashed: one.label === 'Fragmentation',
        })),
        ...(state.bands.some((band) => band.toNs > span.from && band.fromNs < span.to)
          ? [{ label: 'Steps', token: 'ground-3' }]
          : []),
      ],
      at: this.on.at,
      span: this.on.span,
      wheel: this.on.wheel,
    });
    if (this.drawn === signature) this.card.look(span.from, span.to);
    this.drawn = signature;
  }

  private series(): (typeof SERIES)[number][] {
    const { state } = this;
    if (state === null) return [];
    return SERIES.filter((one) =>
      one.label === 'Free'
        ? state.showFree
        : one.label !== 'Stack' || state.points.some((point) => point.stack !== 0),
    );
  }

  private config(): ChartConfiguration {
    const state = this.state as TimelineState;
    const { points } = state;
    const last = points[points.length - 1];
    // The points of a window end before the profile does.
    const tail =
      last !== undefined && last.ns >= state.lastNs && state.whole.to > last.ns
        ? [{ ...last, ns: state.whole.to }]
        : [];
    const drawn = [...points, ...tail];
    const under = (index: number): MemoryPoint | undefined =>
      points[Math.min(index, points.length - 1)];
    const zoomed = state.span.from > state.whole.from || state.span.to < state.whole.to;
    const marks: Plugin = {
      id: 'memory-marks',
      beforeDatasetsDraw: (chart) => {
        chart.ctx.save();
        drawBands(chart, this.state?.bands ?? []);
        chart.ctx.restore();
      },
      afterDatasetsDraw: (chart) => {
        const now = this.state;
        if (now === null) return;
        chart.ctx.save();
        if (now.peak !== null) drawPeak(chart, now.peak);
        chart.ctx.font = `11px ${getComputedStyle(document.body).fontFamily}`;
        if (now.chosen !== null)
          drawLine(chart, now.chosen, token('ink-2'), [2, 3], 'allocated here');
        if (now.at !== null) drawLine(chart, now.at, token('accent'), [], time(now.at));
        chart.ctx.restore();
      },
    };
    return {
      type: 'line',
      data: {
        datasets: this.series().map((one) => ({
          label: one.label,
          yAxisID: one.label === 'Fragmentation' ? 'share' : 'y',
          data: drawn.map((point) => ({ x: point.ns, y: one.of(point) })),
          borderColor: token(one.token),
          backgroundColor: token(one.token),
          stepped: true as const,
          borderWidth: one.label === 'Fragmentation' ? 1.25 : 2,
          borderDash: one.label === 'Fragmentation' ? [4, 3] : [],
          pointRadius: points.length === 1 ? 3 : 0,
          pointHoverRadius: 4,
          order: one.label === 'Heap' ? 0 : 1,
        })),
      },
      options: {
        parsing: false,
        normalized: true,
        layout: { padding: { top: 14 } },
        interaction: { mode: 'index', axis: 'x', intersect: false },
        scales: {
          x: {
            type: 'linear',
            min: state.span.from,
            max: state.span.to,
            grid: { display: false },
            border: { color: token('line') },
            ticks: {
              maxRotation: 0,
              autoSkipPadding: 24,
              maxTicksLimit: 9,
              callback: (value) => axisTime(Number(value) / 1000),
            },
          },
          y: {
            beginAtZero: !zoomed,
            border: { display: false },
            grace: '4%',
            afterBuildTicks: (axis) => {
              const step = byteStep(axis.max - axis.min, 6);
              axis.ticks = [];
              for (
                let value = Math.ceil(axis.min / step) * step;
                value <= axis.max && axis.ticks.length < 20;
                value += step
              )
                axis.ticks.push({ value });
            },
            ticks: { callback: (value) => size(Number(value)).replace(/\.0+(?= )/, '') },
          },
          share: {
            position: 'right',
            min: 0,
            max: 100,
            grid: { display: false },
            border: { display: false },
            ticks: { stepSize: 25, callback: (value) => `${value} %` },
          },
        },
        plugins: {
          tooltip: {
            filter: (_item, index) => index === 0,
            callbacks: {
              title: (items) => {
                const point = under(items[0]?.dataIndex ?? 0);
                return point === undefined
                  ? ''
                  : `${time(point.ns)}: ${point.gives ? 'deallocation' : 'allocation'}`;
              },
              label: (item) => {
                const point = under(item.dataIndex);
                return point === undefined ? '' : tooltip(point);
              },
            },
          },
        },
      },
      plugins: [marks],
    };
  }
}
