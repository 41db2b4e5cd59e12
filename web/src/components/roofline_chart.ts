// SPDX-License-Identifier: Apache-2.0
// A roofline: what instructions reach (up) for how much they compute on each byte (right), below
// the roofs of the device.

import type { Chart as ChartType, ChartConfiguration, Plugin } from 'chart.js';
import { percent } from '../core/format';
import { GIBI, roofAt, type Roofs } from '../core/hlo';
import { token } from '../core/theme';
import { microseconds, wrapped } from './charts';

export interface RoofDot {
  /** FLOP per byte, and GFLOP/s; both above 0. */
  x: number;
  y: number;
  /** µs, for its size. */
  time: number;
  share: number;
  full: string;
  token: string;
  boundBy: string;
  /** The whole program: a diamond. */
  program: boolean;
}

const ROOF_TOKENS = ['ink', 'accent', 'output', 'compilation', 'collectives'];

/** Round powers of ten around all that is drawn. */
export function roofRange(
  dots: readonly RoofDot[],
  roofs: Roofs,
): { x: [number, number]; y: [number, number] } {
  const ridges = roofs.levels
    .map(({ bandwidth }) => roofs.flops / (bandwidth * GIBI))
    .filter((ridge) => ridge > 0);
  const xs = [...dots.map((dot) => dot.x), ...ridges.map((ridge) => ridge * 4)];
  const ys = [...dots.map((dot) => dot.y), ...(roofs.flops > 0 ? [roofs.flops * 1.6] : [])];
  const around = (values: readonly number[], low: number, high: number): [number, number] => {
    let [least, most] = [Infinity, 0];
    for (const value of values) {
      if (!(value > 0) || !Number.isFinite(value)) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    return most === 0
      ? [low, high]
      : [10 ** Math.floor(Math.log10(least)), 10 ** Math.ceil(Math.log10(most))];
  };
  const [x, y] = [around(xs, 0.1, 1000), around(ys, 1, 1e6)];
  // What is far below everything would press the rest into a corner.
  return { x: [Math.max(x[0], x[1] / 1e9), x[1]], y: [Math.max(y[0], y[1] / 1e9), y[1]] };
}

export function rateText(gflops: number): string {
  const units: [number, string][] = [
    [1e6, 'PFLOP/s'],
    [1e3, 'TFLOP/s'],
    [1, 'GFLOP/s'],
    [1e-3, 'MFLOP/s'],
    [1e-6, 'kFLOP/s'],
  ];
  const [size, unit] = units.find(([least]) => gflops >= least) ?? [1e-9, 'FLOP/s'];
  return `${Number((gflops / size).toPrecision(3))} ${unit}`;
}

/** Names of the roofs along their lines; Chart.js has no labels for lines. */
function roofNames(roofs: Roofs, left: number): Plugin {
  return {
    id: 'roof_names',
    afterDatasetsDraw(chart: ChartType) {
      const { ctx, chartArea, scales } = chart;
      const [x, y] = [scales['x'], scales['y']];
      if (x === undefined || y === undefined) return;
      ctx.save();
      ctx.font = `11px ${getComputedStyle(document.body).fontFamily}`;
      ctx.fillStyle = token('ink-2');
      ctx.textBaseline = 'bottom';
      if (roofs.flops > 0) {
        ctx.textAlign = 'right';
        ctx.fillText(
          `Peak ${rateText(roofs.flops)}`,
          chartArea.right - 4,
          y.getPixelForValue(roofs.flops) - 3,
        );
      }
      ctx.textAlign = 'left';
      roofs.levels.forEach(({ name, bandwidth }, index) => {
        const at = Math.max(left, (y.min * 1.2) / (bandwidth * GIBI));
        const [px, py] = [
          x.getPixelForValue(at),
          y.getPixelForValue(roofAt(roofs.flops, bandwidth, at)),
        ];
        const [qx, qy] = [
          x.getPixelForValue(at * 4),
          y.getPixelForValue(roofAt(Infinity, bandwidth, at * 4)),
        ];
        ctx.save();
        ctx.translate(px + 8, py);
        ctx.rotate(Math.atan2(qy - py, qx - px));
        // Reading and writing of one memory lie close together: the second name goes below its
        // line.
        const below = index > 0 && index % 2 === 0;
        ctx.textBaseline = below ? 'top' : 'bottom';
        ctx.fillText(
          `${name} ${Math.round(bandwidth).toLocaleString('en-US')} GiB/s`,
          0,
          below ? 3 : -3,
        );
        ctx.restore();
      });
      ctx.restore();
    },
  };
}

export function rooflineConfig(
  dots: readonly RoofDot[],
  roofs: Roofs,
  base: readonly RoofDot[],
): ChartConfiguration {
  const { x, y } = roofRange([...dots, ...base], roofs);
  const most = dots.reduce((largest, dot) => Math.max(largest, dot.program ? 0 : dot.time), 0);
  // The area of a dot says its time, from a dot that can be seen to one that hides no other.
  const radius = (dot: RoofDot): number =>
    dot.program ? 7 : 2.5 + 11 * Math.sqrt(most === 0 ? 0 : dot.time / most);
  const line = (bandwidth: number): { x: number; y: number }[] => {
    const ridge = roofs.flops > 0 ? roofs.flops / (bandwidth * GIBI) : x[1];
    return [
      { x: x[0], y: roofAt(Infinity, bandwidth, x[0]) },
      { x: ridge, y: bandwidth * GIBI * ridge },
      ...(roofs.flops > 0 ? [{ x: x[1], y: roofs.flops }] : []),
    ];
  };
  return {
    type: 'scatter',
    data: {
      datasets: [
        {
          type: 'scatter',
          label: 'Instructions',
          order: 1,
          data: dots.map((dot) => ({ x: dot.x, y: dot.y })),
          pointStyle: dots.map((dot) => (dot.program ? 'rectRot' : 'circle')),
          pointBackgroundColor: dots.map(
            (dot) => `color-mix(in srgb, ${token(dot.token)} 78%, transparent)`,
          ),
          pointBorderColor: dots.map((dot) => (dot.program ? token('ink') : token('ground'))),
          pointBorderWidth: 1,
          pointRadius: dots.map(radius),
          pointHoverRadius: dots.map((dot) => radius(dot) + 2),
        },
        ...(base.length === 0
          ? []
          : [
              {
                type: 'scatter' as const,
                label: 'Base run',
                order: 2,
                data: base.map((dot) => ({ x: dot.x, y: dot.y })),
                pointBackgroundColor: 'transparent',
                pointBorderColor: token('ink-2'),
                pointBorderWidth: 1.25,
                pointRadius: base.map(radius),
                pointHoverRadius: base.map(radius),
                pointStyle: base.map((dot) =>
                  dot.program ? ('rectRot' as const) : ('circle' as const),
                ),
              },
            ]),
        ...roofs.levels.map(({ name, bandwidth }, index) => ({
          type: 'line' as const,
          label: name,
          order: 3,
          data: line(bandwidth),
          borderColor: token(ROOF_TOKENS[index] ?? 'ink-2'),
          borderWidth: index === 0 ? 2 : 1.5,
          borderDash: index === 0 ? [] : [5, 4],
          pointRadius: 0,
          pointHitRadius: 0,
        })),
      ],
    },
    plugins: [roofNames(roofs, x[0])],
    options: {
      interaction: { mode: 'nearest', intersect: true },
      scales: {
        x: {
          type: 'logarithmic',
          min: x[0],
          max: x[1],
          title: { display: true, text: 'FLOP per byte' },
          ticks: { maxTicksLimit: 9, callback: (value) => decade(Number(value)) },
          border: { display: false },
        },
        y: {
          type: 'logarithmic',
          min: y[0],
          max: y[1],
          title: { display: true, text: 'FLOP/s' },
          ticks: {
            maxTicksLimit: 9,
            callback: (value) => (decade(Number(value)) === '' ? '' : rateText(Number(value))),
          },
          border: { display: false },
        },
      },
      plugins: {
        tooltip: {
          filter: (item) => item.datasetIndex <= (base.length === 0 ? 0 : 1),
          callbacks: {
            title: (items) =>
              wrapped(
                ((items[0]?.datasetIndex ?? 0) === 0 ? dots : base)[items[0]?.dataIndex ?? 0]
                  ?.full ?? '',
              ),
            label: (item) => {
              const dot = (item.datasetIndex === 0 ? dots : base)[item.dataIndex];
              if (dot === undefined) return '';
              return [
                `${item.datasetIndex === 0 ? '' : 'Base run: '}${rateText(dot.y)} at ${Number(dot.x.toPrecision(3))} FLOP/byte`,
                `Self time: ${microseconds(dot.time)}${dot.program ? '' : ` (${percent(dot.share)})`}`,
                ...(dot.boundBy === '' ? [] : [`Bound by ${dot.boundBy}`]),
              ];
            },
          },
        },
      },
    },
  };
}

/** Only powers of ten: between them the marks of a logarithmic axis run into one another. */
function decade(value: number): string {
  const power = Math.log10(value);
  return Math.abs(power - Math.round(power)) < 1e-9
    ? Number(value.toPrecision(1)).toLocaleString('en-US', { maximumFractionDigits: 6 })
    : '';
}
