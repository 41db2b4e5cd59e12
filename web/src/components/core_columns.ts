// SPDX-License-Identifier: Apache-2.0
// One stacked column for each core, all in the same steps.

import type { ChartConfiguration } from 'chart.js';
import { percent } from '../core/format';
import { trimLeft } from '../core/names';
import type { CoreTime, Pod } from '../core/pod';
import { token } from '../core/theme';
import { axisTime, microseconds } from './charts';

export const times = (ratio: number): string => `${ratio.toFixed(ratio < 10 ? 2 : 1)} ×`;

export interface CoreColumns {
  pod: Pod;
  rows: readonly CoreTime[];
  /** Which steps these are, in words. */
  stepsText: string;
  /** Id of the chosen core. */
  selected: string;
  median: number;
  base: number | null;
}

export function coreColumns({
  pod,
  rows,
  stepsText,
  selected,
  median,
  base,
}: CoreColumns): ChartConfiguration {
  const core = (row: CoreTime | undefined): Pod['cores'][number] | undefined =>
    row === undefined ? undefined : pod.cores[row.core];
  const many = rows.length > 24;
  return {
    type: 'bar',
    data: {
      labels: rows.map((row) => core(row)?.label ?? ''),
      datasets: pod.categories.map((metric, index) => ({
        label: metric.label,
        data: rows.map((row) => row.values[index] ?? 0),
        backgroundColor: token(metric.token),
        hoverBackgroundColor: token(metric.token),
        borderColor: token('ground'),
        borderWidth: rows.length > 60 ? 0 : { top: 0.75 },
        barPercentage: 0.9,
        categoryPercentage: 0.92,
        maxBarThickness: 64,
      })),
    },
    options: {
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: {
          stacked: true,
          grid: { display: false },
          border: { color: token('line') },
          ticks: {
            maxRotation: rows.length > 8 ? 60 : 0,
            autoSkipPadding: 6,
            callback: (_value, index) => trimLeft(core(rows[index])?.short ?? '', many ? 10 : 18),
          },
        },
        y: {
          stacked: true,
          beginAtZero: true,
          suggestedMax: Math.max(base ?? 0, ...rows.map((row) => row.total)) * 1.02,
          border: { display: false },
          ticks: { maxTicksLimit: 6, callback: (value) => axisTime(Number(value)) },
        },
      },
      plugins: {
        tooltip: {
          displayColors: true,
          itemSort: (a, b) => b.datasetIndex - a.datasetIndex,
          filter: (item) => Number(item.raw) > 0,
          callbacks: {
            title: (items) => {
              const row = rows[items[0]?.dataIndex ?? -1];
              return row === undefined
                ? ''
                : [
                    `${core(row)?.label ?? ''} (core ${core(row)?.id ?? ''})`,
                    `${stepsText}: ${microseconds(row.total)}, ${times(row.ratio)} the median`,
                  ];
            },
            label: (item) =>
              ` ${item.dataset.label ?? ''}: ${microseconds(Number(item.raw))} (${percent(Number(item.raw) / Math.max(1e-9, rows[item.dataIndex]?.total ?? 1))})`,
            footer: (items) => {
              const bottleneck = rows[items[0]?.dataIndex ?? -1]?.bottleneck;
              return bottleneck === null || bottleneck === undefined
                ? ''
                : `Most: ${bottleneck.label}`;
            },
          },
        },
      },
    },
    plugins: [
      {
        id: 'core-marks',
        afterDatasetsDraw: (chart) => {
          const { ctx, chartArea: area } = chart;
          const y = chart.scales['y'];
          if (y === undefined) return;
          ctx.save();
          ctx.strokeStyle = token('ink');
          const line = (us: number, dash: number[]): void => {
            ctx.lineWidth = 1.5;
            ctx.setLineDash(dash);
            ctx.beginPath();
            ctx.moveTo(area.left, y.getPixelForValue(us));
            ctx.lineTo(area.right, y.getPixelForValue(us));
            ctx.stroke();
          };
          if (rows.length > 1) line(median, []);
          if (base !== null) line(base, [6, 4]);
          const at = rows.findIndex((row) => core(row)?.id === selected);
          const bar = chart.getDatasetMeta(0).data[at] as unknown as
            { x: number; width: number } | undefined;
          if (at >= 0 && bar !== undefined) {
            const up = y.getPixelForValue(rows[at]?.total ?? 0);
            ctx.setLineDash([]);
            ctx.lineWidth = 2;
            ctx.strokeRect(bar.x - bar.width / 2 - 2, up - 2, bar.width + 4, area.bottom - up + 2);
          }
          ctx.restore();
        },
      },
    ],
  };
}
