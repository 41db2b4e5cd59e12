// SPDX-License-Identifier: Apache-2.0
// Step time against step number, stacked by category: drag chooses a range of steps, click chooses
// one.

import type { Chart, ChartConfiguration, Plugin } from 'chart.js';
import { h } from '../core/dom';
import { percent, plural, change } from '../core/format';
import type { CsvCell } from '../core/csv';
import {
  bins,
  categoryStats,
  findStep,
  formatRange,
  parseRange,
  sourceText,
  spread,
  stepsOf,
  within,
  type Bin,
  type Range,
  type Steps,
} from '../core/steps';
import { token } from '../core/theme';
import type { UrlState } from '../core/url_state';
import { ChartCard } from './chart_card';
import { axisTime, microseconds } from './charts';
import { button } from './states';

/** More bars than this are thinner than the gaps between them. */
const MOST_BARS = 260;

/** The steps the address names. */
export interface Choice {
  range: Range | null;
  /** Place in the list; -1 for none. */
  step: number;
}

export function choiceOf(url: UrlState, data: Steps): Choice {
  const names = data.steps.map((step) => step.name);
  const wanted = url.get('step');
  return { range: parseRange(url.get('steps'), names), step: findStep(wanted, names) };
}

/** n and p go through the steps in sight and stop at the ends. */
export function neighbour(data: Steps, choice: Choice, by: number): string | null {
  const first = choice.range?.from ?? 0;
  const last = choice.range?.to ?? data.steps.length - 1;
  const next = choice.step < 0 ? (by > 0 ? first : last) : choice.step + by;
  return data.steps[Math.min(last, Math.max(first, next))]?.name ?? null;
}

interface Marks {
  range: Range | null;
  step: number;
  base: number | null;
}

function marksPlugin(list: readonly Bin[], marks: Marks): Plugin {
  const column = (chart: Chart, index: number): { left: number; right: number } | null => {
    const bar = chart.getDatasetMeta(0).data[index] as unknown as
      { x: number; width: number } | undefined;
    return bar === undefined ? null : { left: bar.x - bar.width / 2, right: bar.x + bar.width / 2 };
  };
  return {
    id: 'step-marks',
    afterDatasetsDraw: (chart) => {
      const { ctx, chartArea: area } = chart;
      const y = chart.scales['y'];
      if (y === undefined) return;
      ctx.save();
      const { range } = marks;
      if (range !== null) {
        ctx.globalAlpha = 0.68;
        ctx.fillStyle = token('ground');
        list.forEach((bin, index) => {
          const place = column(chart, index);
          if (place !== null && (bin.to < range.from || bin.from > range.to))
            ctx.fillRect(
              place.left - 1,
              area.top,
              place.right - place.left + 2,
              area.bottom - area.top - 1,
            );
        });
        ctx.globalAlpha = 1;
      }
      const chosen = list.findIndex((bin) => marks.step >= bin.from && marks.step <= bin.to);
      const place = chosen < 0 ? null : column(chart, chosen);
      if (place !== null) {
        const top = y.getPixelForValue(list[chosen]?.total ?? 0);
        ctx.strokeStyle = token('ink');
        ctx.lineWidth = 2;
        ctx.strokeRect(
          place.left - 2,
          top - 2,
          place.right - place.left + 4,
          area.bottom - top + 2,
        );
      }
      if (marks.base !== null) {
        const at = y.getPixelForValue(marks.base);
        ctx.strokeStyle = token('ink');
        ctx.lineWidth = 1.5;
        ctx.setLineDash([6, 4]);
        ctx.beginPath();
        ctx.moveTo(area.left, at);
        ctx.lineTo(area.right, at);
        ctx.stroke();
      }
      ctx.restore();
    },
  };
}

function config(data: Steps, list: readonly Bin[], marks: Marks): ChartConfiguration {
  const largest = Math.max(marks.base ?? 0, ...list.map((bin) => bin.total));
  return {
    type: 'bar',
    data: {
      labels: list.map((bin) => bin.label),
      datasets: data.categories.map((category, index) => ({
        label: category.label,
        data: list.map((bin) => bin.values[index] ?? 0),
        backgroundColor: token(category.token),
        hoverBackgroundColor: token(category.token),
        // A line of ground between the colours keeps neighbours apart for every eye.
        borderColor: token('ground'),
        borderWidth: list.length > 120 ? 0 : { top: 0.75 },
        categoryPercentage: list.length > 120 ? 1 : 0.94,
        barPercentage: list.length > 120 ? 1 : 0.9,
        maxBarThickness: 72,
      })),
    },
    options: {
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: {
          stacked: true,
          grid: { display: false },
          border: { color: token('line') },
          ticks: { maxRotation: 0, autoSkipPadding: 14 },
        },
        y: {
          stacked: true,
          beginAtZero: true,
          suggestedMax: largest * 1.02,
          border: { display: false },
          ticks: { maxTicksLimit: 6, callback: (value) => axisTime(Number(value)) },
        },
      },
      plugins: {
        tooltip: {
          displayColors: true,
          usePointStyle: false,
          itemSort: (a, b) => b.datasetIndex - a.datasetIndex,
          filter: (item) => Number(item.raw) > 0,
          callbacks: {
            title: (items) => {
              const bin = list[items[0]?.dataIndex ?? -1];
              if (bin === undefined) return '';
              return bin.from === bin.to
                ? `Step ${bin.label}: ${microseconds(bin.total)}`
                : `Steps ${bin.label}, mean: ${microseconds(bin.total)}`;
            },
            label: (item) => {
              const total = list[item.dataIndex]?.total ?? 0;
              return ` ${item.dataset.label ?? ''}: ${microseconds(Number(item.raw))} (${percent(total === 0 ? 0 : Number(item.raw) / total)})`;
            },
          },
        },
      },
    },
    plugins: [marksPlugin(list, marks)],
  };
}

export class StepChart {
  readonly element: HTMLElement;
  private readonly card: ChartCard;
  private readonly box: HTMLInputElement;
  private readonly all: HTMLButtonElement;
  private data: Steps | null = null;
  private version = 0;

  constructor(
    private readonly url: UrlState,
    title = 'Step time',
  ) {
    this.box = h('input', {
      type: 'text',
      class: 'steps-box',
      'aria-label': 'Steps to show, such as 3-8',
      placeholder: 'all steps',
      autocomplete: 'off',
      spellcheck: 'false',
      title: 'Steps to show, such as 3-8',
      on: { change: () => this.typed() },
    });
    this.all = button('All steps', () => url.set({ steps: null }));
    this.card = new ChartCard({ title, name: 'step_time', controls: [this.all, this.box] });
    this.element = this.card.element;
  }

  destroy(): void {
    this.card.destroy();
  }

  private typed(): void {
    const { data } = this;
    if (data === null) return;
    const names = data.steps.map((step) => step.name);
    const range = parseRange(this.box.value, names);
    const wrong = range === null && this.box.value.trim() !== '';
    this.box.setAttribute('aria-invalid', String(wrong));
    if (!wrong) this.url.set({ steps: formatRange(range, names) || null });
  }

  set(data: Steps, base: Steps | null): void {
    if (data !== this.data) this.version += 1;
    this.data = data;
    const choice = choiceOf(this.url, data);
    const names = data.steps.map((step) => step.name);
    const everything: Range = { from: 0, to: data.steps.length - 1 };
    // With too many steps to tell apart, only the chosen ones are drawn.
    const crowded = data.steps.length > MOST_BARS;
    const list = bins(
      data,
      crowded && choice.range !== null ? choice.range : everything,
      MOST_BARS,
    );
    const size = list[0] === undefined ? 1 : list[0].to - list[0].from + 1;
    const baseMean =
      base === null || base.steps.length === 0
        ? null
        : spread(base.steps.map((step) => step.total)).mean;
    const marks: Marks = {
      range: crowded ? null : choice.range,
      step: choice.step,
      base: baseMean,
    };
    if (document.activeElement !== this.box) {
      this.box.value = formatRange(choice.range, names);
      this.box.setAttribute('aria-invalid', 'false');
    }
    this.all.hidden = choice.range === null;
    const how =
      size > 1
        ? `each bar is the mean of ${size} steps; drag to see fewer`
        : 'drag to choose steps, click to choose one';
    this.card.title(
      'Step time',
      [
        stepsOf(data.properties) === '' ? '' : `of ${stepsOf(data.properties)}`,
        sourceText(data.properties),
        how,
      ]
        .filter((part) => part !== '')
        .join('; '),
    );
    const times = spread(within(data.steps, choice.range).map((step) => step.total));
    const shown = within(data.steps, choice.range).length;
    const [largest] = categoryStats(data, choice.range).sort((a, b) => b.share - a.share);
    const summary =
      `${plural(shown, 'step')}${choice.range === null ? '' : ` of ${data.steps.length}`}, ${microseconds(times.min)} to ${microseconds(times.max)}, mean ${microseconds(times.mean)}` +
      `${largest === undefined ? '' : `; the largest part is ${largest.category.label} with ${percent(largest.share)}`}` +
      `${baseMean === null ? '' : `; ${change(times.mean - baseMean, microseconds)} against the base run`}.`;
    const head = [
      'Step',
      'Total (µs)',
      ...data.categories.map((category) => `${category.label} (µs)`),
    ];
    this.card.set({
      signature: JSON.stringify([this.version, choice, baseMean]),
      summary,
      height: 244,
      config: () => config(data, list, marks),
      head: head.map((one) => one.replace(' (µs)', '')),
      rows: list.map((bin) => [bin.label, bin.total, ...bin.values]),
      text: (cell: CsvCell) => (typeof cell === 'number' ? microseconds(cell) : String(cell ?? '')),
      csv: () => ({
        head,
        rows: within(data.steps, choice.range).map((step) => [
          step.name,
          step.total,
          ...step.values,
        ]),
      }),
      legend: [
        // Colours that are nowhere in the picture need no explanation.
        ...data.categories
          .filter((_category, index) => data.steps.some((step) => (step.values[index] ?? 0) > 0))
          .map((category) => ({ label: category.short, token: category.token })),
        ...(baseMean === null
          ? []
          : [
              {
                label: `Average of the base run, ${microseconds(baseMean)}`,
                token: 'ink',
                dashed: true,
              },
            ]),
      ],
      pick: (index) => {
        const bin = list[index];
        if (bin === undefined) return;
        if (bin.to > bin.from) this.url.set({ steps: formatRange(bin, names), step: null });
        else
          this.url.set({
            step: this.url.get('step') === names[bin.from] ? null : (names[bin.from] ?? null),
          });
      },
      brush: (from, to) => {
        const [first, last] = [list[from], list[to]];
        if (first === undefined || last === undefined) return;
        this.url.set({ steps: formatRange({ from: first.from, to: last.to }, names) || null });
      },
    });
  }
}
