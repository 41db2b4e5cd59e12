// SPDX-License-Identifier: Apache-2.0
// The kinds of chart the pages share, as Chart.js settings in the tokens' colours.

import type { ChartConfiguration } from 'chart.js';
import { duration, joined, percent } from '../core/format';
import { trimLeft } from '../core/names';
import { token } from '../core/theme';

export interface Bar {
  label: string;
  full: string;
  value: number;
  token: string;
  /** Running share of the whole after this bar. */
  cumulative: number;
  base?: number | null;
}

export const BAR_PX = 21;

export function microseconds(value: number): string {
  return joined(duration(value));
}

/** Marks on an axis are round numbers; zeros behind the point only make noise. */
export function axisTime(value: number): string {
  if (value === 0) return '0';
  return microseconds(value)
    .replace(/\.0+(?= )/, '')
    .replace(/(\.\d*?)0+(?= )/, '$1');
}

/** Size of the labels beside bars; a letter is 0.61 of it wide. */
const LABEL_PX = 11.5;

/** Horizontal bars with a line of the running share; the base run as outlines around the bars. */
export function barsConfig(
  bars: readonly Bar[],
  measure: string,
  compare: boolean,
): ChartConfiguration {
  const mono = getComputedStyle(document.documentElement).getPropertyValue('--mono');
  return {
    type: 'bar',
    data: {
      labels: bars.map((bar) => bar.label),
      datasets: [
        {
          type: 'line',
          label: 'Cumulative',
          data: bars.map((bar) => bar.cumulative * 100),
          xAxisID: 'share',
          indexAxis: 'y',
          clip: false,
          borderColor: token('ink'),
          backgroundColor: token('ink'),
          pointBorderColor: token('ground'),
          pointBorderWidth: 1.5,
          borderWidth: 1.5,
          pointRadius: 4,
          pointHoverRadius: 5,
          order: 0,
        },
        ...(compare
          ? [
              {
                type: 'bar' as const,
                label: 'Base',
                data: bars.map((bar) => bar.base ?? 0),
                grouped: false,
                backgroundColor: 'transparent',
                borderColor: token('ink'),
                borderWidth: 1.5,
                borderSkipped: false,
                barPercentage: 0.95,
                categoryPercentage: 0.95,
                order: 1,
              },
            ]
          : []),
        {
          type: 'bar',
          label: measure,
          data: bars.map((bar) => bar.value),
          grouped: false,
          backgroundColor: bars.map((bar) => token(bar.token)),
          borderRadius: 2,
          barPercentage: 0.84,
          categoryPercentage: 0.9,
          order: 2,
        },
      ],
    },
    options: {
      indexAxis: 'y',
      interaction: { mode: 'nearest', axis: 'y', intersect: false },
      scales: {
        x: {
          beginAtZero: true,
          border: { display: false },
          ticks: { maxTicksLimit: 7, maxRotation: 0, callback: (value) => axisTime(Number(value)) },
        },
        share: {
          position: 'top',
          min: 0,
          max: 100,
          grid: { display: false },
          border: { display: false },
          ticks: { stepSize: 25, maxRotation: 0, callback: (value) => `${value} %` },
        },
        y: {
          grid: { display: false },
          border: { color: token('line') },
          ticks: {
            color: token('ink'),
            autoSkip: false,
            font: { family: mono, size: LABEL_PX },
            // A chart gives its labels at most half of its width; longer ones would be cut off.
            callback(value) {
              return trimLeft(
                this.getLabelForValue(Number(value)),
                Math.floor((this.chart.width * 0.44) / (LABEL_PX * 0.61)),
              ).replace(/^…+/, '…');
            },
          },
        },
      },
      plugins: {
        tooltip: {
          filter: (item, index) => index === 0 || item.dataset.label === 'Base',
          callbacks: {
            title: (items) => wrapped(bars[items[0]?.dataIndex ?? 0]?.full ?? ''),
            label: (item) => {
              const bar = bars[item.dataIndex];
              if (bar === undefined) return '';
              const lines = [
                `${measure}: ${microseconds(bar.value)}`,
                `Cumulative: ${percent(bar.cumulative)}`,
              ];
              if (compare)
                lines.push(
                  bar.base === null || bar.base === undefined
                    ? 'New: not in the base'
                    : `Base: ${microseconds(bar.base)}`,
                );
              return lines;
            },
          },
        },
      },
    },
  };
}

/** Tooltips do not wrap by themselves; names of kernels run to thousands of letters. */
export function wrapped(text: string): string[] {
  const lines: string[] = text.slice(0, 480).match(/.{1,72}/gs) ?? [];
  if (text.length > 480) lines.push('…');
  return lines;
}

export interface Slice {
  label: string;
  full: string;
  value: number;
  token: string;
}

export function pieConfig(slices: readonly Slice[], measure: string): ChartConfiguration {
  const total = slices.reduce((sum, slice) => sum + slice.value, 0);
  return {
    type: 'pie',
    data: {
      labels: slices.map((slice) => slice.label),
      datasets: [
        {
          data: slices.map((slice) => slice.value),
          backgroundColor: slices.map((slice) => token(slice.token)),
          borderColor: token('ground'),
          borderWidth: 1.5,
        },
      ],
    },
    options: {
      plugins: {
        tooltip: {
          callbacks: {
            title: (items) => wrapped(slices[items[0]?.dataIndex ?? 0]?.full ?? ''),
            label: (item) => {
              const value = slices[item.dataIndex]?.value ?? 0;
              return [
                `${measure}: ${microseconds(value)}`,
                `Share: ${percent(total === 0 ? 0 : value / total)}`,
              ];
            },
          },
        },
      },
    },
  };
}

export interface Dot {
  x: number;
  y: number;
  full: string;
  token: string;
}

/**
 * Launches against average time, both logarithmic: the upper right corner is where the time goes.
 */
export function scatterConfig(dots: readonly Dot[]): ChartConfiguration {
  return {
    type: 'scatter',
    data: {
      datasets: [
        {
          data: dots.map(({ x, y }) => ({ x, y })),
          pointBackgroundColor: dots.map((dot) => token(dot.token)),
          pointBorderColor: token('ground'),
          pointBorderWidth: 0.75,
          pointRadius: 4.5,
          pointHoverRadius: 6.5,
        },
      ],
    },
    options: {
      scales: {
        x: {
          type: 'logarithmic',
          title: { display: true, text: 'Launches' },
          ticks: { maxTicksLimit: 8, callback: (value) => Number(value).toLocaleString('en-US') },
          border: { display: false },
        },
        y: {
          type: 'logarithmic',
          title: { display: true, text: 'Average time' },
          ticks: { maxTicksLimit: 8, callback: (value) => axisTime(Number(value)) },
          border: { display: false },
        },
      },
      plugins: {
        tooltip: {
          callbacks: {
            title: (items) => wrapped(dots[items[0]?.dataIndex ?? 0]?.full ?? ''),
            label: (item) => {
              const dot = dots[item.dataIndex];
              return dot === undefined
                ? ''
                : [
                    `${dot.x.toLocaleString('en-US')} × ${microseconds(dot.y)}`,
                    `Total: ${microseconds(dot.x * dot.y)}`,
                  ];
            },
          },
        },
      },
    },
  };
}

export function histogramConfig(
  buckets: readonly { from_us: number; to_us: number; count: number }[],
): ChartConfiguration {
  return {
    type: 'bar',
    data: {
      labels: buckets.map((bucket) => axisTime(bucket.from_us)),
      datasets: [
        {
          data: buckets.map((bucket) => bucket.count),
          backgroundColor: token('accent'),
          categoryPercentage: 1,
          barPercentage: 0.92,
          borderRadius: 1,
        },
      ],
    },
    options: {
      scales: {
        x: { grid: { display: false }, ticks: { maxRotation: 0, maxTicksLimit: 5 } },
        y: {
          beginAtZero: true,
          border: { display: false },
          ticks: { maxTicksLimit: 4, precision: 0 },
        },
      },
      plugins: {
        tooltip: {
          callbacks: {
            title: (items) => {
              const bucket = buckets[items[0]?.dataIndex ?? 0];
              return bucket === undefined
                ? ''
                : `${microseconds(bucket.from_us)} to ${microseconds(bucket.to_us)}`;
            },
            label: (item) => `${Number(item.raw).toLocaleString('en-US')} times`,
          },
        },
      },
    },
  };
}
