// SPDX-License-Identifier: Apache-2.0
// How many calls took how long.

import type { ChartConfiguration } from 'chart.js';
import { token } from '../core/theme';

export interface LatencyBar {
  label: string;
  calls: number;
  slow: boolean;
  chosen: boolean;
}

export function latencyConfig(bars: readonly LatencyBar[]): ChartConfiguration {
  return {
    type: 'bar',
    data: {
      labels: bars.map((bar) => bar.label),
      datasets: [
        {
          data: bars.map((bar) => bar.calls),
          backgroundColor: bars.map((bar) => token(bar.slow ? 'input' : 'device-compute')),
          borderColor: token('ink'),
          borderWidth: bars.map((bar) => (bar.chosen ? 2 : 0)),
          categoryPercentage: 1,
          barPercentage: 0.94,
          maxBarThickness: 120,
          borderRadius: 2,
        },
      ],
    },
    options: {
      scales: {
        x: { grid: { display: false }, ticks: { maxRotation: 40, autoSkip: false } },
        y: {
          beginAtZero: true,
          border: { display: false },
          ticks: { maxTicksLimit: 5, precision: 0 },
        },
      },
      plugins: {
        tooltip: {
          callbacks: {
            label: (item) =>
              `${Number(item.raw).toLocaleString('en-US')} ${Number(item.raw) === 1 ? 'call' : 'calls'}`,
          },
        },
      },
    },
  };
}
