// SPDX-License-Identifier: Apache-2.0
// Share of each step that the cores of a TPU wait for input: the average, and from the least to the
// most.

import type { ChartConfiguration } from 'chart.js';
import { fill, h } from '../core/dom';
import { percent, plural } from '../core/format';
import {
  bins,
  infeedBins,
  parseRange,
  sourceText,
  type InfeedBin,
  type Range,
  type Steps,
} from '../core/steps';
import { token } from '../core/theme';
import type { UrlState } from '../core/url_state';
import { ChartCard } from './chart_card';

const MOST_BARS = 260;

function config(list: readonly InfeedBin[], baseMean: number | null): ChartConfiguration {
  const shares = (of: (bin: InfeedBin) => number): number[] => list.map((bin) => of(bin) * 100);
  return {
    type: 'bar',
    data: {
      labels: list.map((bin) => bin.label),
      datasets: [
        {
          type: 'line',
          label: 'Average',
          data: shares((bin) => bin.average),
          borderColor: token('ink'),
          backgroundColor: token('ink'),
          borderWidth: 1.5,
          pointRadius: list.length > 60 ? 0 : 2.5,
          pointHoverRadius: 4,
        },
        ...(baseMean === null
          ? []
          : [
              {
                type: 'line' as const,
                label: 'Average of the base run',
                data: list.map(() => baseMean * 100),
                borderColor: token('ink'),
                borderDash: [6, 4],
                borderWidth: 1.5,
                pointRadius: 0,
                pointHoverRadius: 0,
              },
            ]),
        {
          label: 'Minimum to maximum',
          data: list.map((bin): [number, number] => [bin.min * 100, bin.max * 100]),
          backgroundColor: token('input'),
          hoverBackgroundColor: token('input'),
          categoryPercentage: list.length > 120 ? 1 : 0.94,
          barPercentage: list.length > 120 ? 1 : 0.9,
          maxBarThickness: 72,
          minBarLength: 2,
        },
      ],
    },
    options: {
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: {
          grid: { display: false },
          border: { color: token('line') },
          ticks: { maxRotation: 0, autoSkipPadding: 14 },
        },
        y: {
          beginAtZero: true,
          suggestedMax: 5,
          max: list.some((bin) => bin.max > 0.9) ? 100 : undefined,
          border: { display: false },
          ticks: { maxTicksLimit: 6, callback: (value) => `${Number(value)} %` },
        },
      },
      plugins: {
        tooltip: {
          callbacks: {
            title: (items) => `Step ${items[0]?.label ?? ''}`,
            label: (item) =>
              Array.isArray(item.raw)
                ? ` ${percent(Number(item.raw[0]) / 100)} to ${percent(Number(item.raw[1]) / 100)} over the cores`
                : ` ${item.dataset.label ?? ''}: ${percent(Number(item.raw) / 100)}`,
          },
        },
      },
    },
  };
}

export class InfeedChart {
  readonly element = h('div', {});
  private readonly card: ChartCard;
  private data: Steps | null = null;
  private version = 0;

  constructor(private readonly url: UrlState) {
    this.card = new ChartCard({ title: 'Waiting for input', name: 'infeed' });
  }

  destroy(): void {
    this.card.destroy();
  }

  /** Empty where the steps do not say it: it is measured on TPUs. */
  set(data: Steps, base: Steps | null): void {
    if (data !== this.data) this.version += 1;
    this.data = data;
    const names = data.steps.map((step) => step.name);
    const range: Range = parseRange(this.url.get('steps'), names) ?? {
      from: 0,
      to: names.length - 1,
    };
    const known = data.steps.some((step) => step.infeed !== null);
    fill(this.element, known && this.card.element);
    if (!known) return;
    const list = infeedBins(data, bins(data, range, MOST_BARS));
    const all = infeedBins(data, bins(data, range, 1))[0];
    const baseAll =
      base === null || base.steps.every((step) => step.infeed === null)
        ? undefined
        : infeedBins(base, bins(base, { from: 0, to: base.steps.length - 1 }, 1))[0];
    const how = list.some((bin) => bin.steps > 1)
      ? 'each bar stands for several steps'
      : 'share of each step, over the cores';
    this.card.title(
      'Waiting for input',
      [sourceText(data.properties), how].filter((part) => part !== '').join('; '),
    );
    const baseMean = baseAll?.average ?? null;
    this.card.set({
      signature: JSON.stringify([this.version, range, baseMean]),
      height: 180,
      config: () => config(list, baseMean),
      summary: `${plural(range.to - range.from + 1, 'step')}: cores wait for input for ${percent(all?.average ?? 0)} of the step on average, from ${percent(all?.min ?? 0)} to ${percent(all?.max ?? 0)}${baseMean === null ? '' : `; ${percent(baseMean)} in the base run`}.`,
      head: ['Step', 'Average', 'Min', 'Max'],
      rows: list.map((bin) => [bin.label, bin.average, bin.min, bin.max]),
      text: (cell, column) =>
        column > 0 && typeof cell === 'number' ? percent(cell) : String(cell ?? '–'),
      legend: [
        { label: 'Average of the cores', token: 'ink', line: true },
        { label: 'Minimum to maximum', token: 'input' },
        ...(baseMean === null
          ? []
          : [
              {
                label: `Average of the base run, ${percent(baseMean)}`,
                token: 'ink',
                dashed: true,
              },
            ]),
      ],
    });
  }
}
