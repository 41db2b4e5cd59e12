// SPDX-License-Identifier: Apache-2.0
// The pod viewer's answer as flat arrays: a thousand hosts times hundreds of steps stay cheap to
// walk.

import { median } from './steps';

export interface PodAnswer {
  deviceType?: string;
  /** As the files are called; what programs call their hosts may be the same for all of them. */
  hosts?: string[];
  podStatsSequence?: { podStatsMap?: PodStep[] };
  stepBreakdownEvents?: { id: number; name: string }[];
  diagnostics?: { info?: string[]; warnings?: string[]; errors?: string[] };
  moduleSteps?: number;
  stepSource?: string;
  stepModule?: string;
}

interface PodStep {
  stepNum?: number | string;
  podStatsPerCore?: Record<string, PodRecord>;
}

interface PodRecord {
  hostName?: string;
  totalDurationUs?: number;
  stepBreakdownUs?: Record<string, number>;
  bottleneck?: string;
}

export interface Metric {
  key: string;
  label: string;
  token: string;
}

/** By the id of the category in the answer. */
const CATEGORIES: readonly Metric[] = [
  { key: 'compute', label: 'Device compute', token: 'device-compute' },
  { key: 'device_to_device', label: 'Device to device', token: 'device-to-device' },
  { key: 'collectives', label: 'Device collectives', token: 'collectives' },
  { key: 'host', label: 'Host compute', token: 'host-compute' },
  { key: 'launch', label: 'Kernel launch', token: 'kernel-launch' },
  { key: 'input', label: 'Input', token: 'input' },
  { key: 'output', label: 'Output', token: 'output' },
  { key: 'compilation', label: 'Compilation', token: 'compilation' },
  { key: 'others', label: 'All others', token: 'all-others' },
];
const REST: Metric = { key: 'rest', label: 'Not broken down', token: 'line' };

export interface Core {
  id: string;
  host: string;
  /** The host, with the core where a host has several. */
  label: string;
  /** Without the domain that all hosts share. */
  short: string;
}

/** The part that all names end with, from a dot on; hosts of a cluster differ before it. */
function domain(names: readonly string[]): string {
  const [first = ''] = names;
  for (let at = first.indexOf('.'); at > 0; at = first.indexOf('.', at + 1)) {
    const end = first.slice(at);
    if (names.length > 1 && names.every((name) => name.endsWith(end) && name.length > end.length))
      return end;
  }
  return '';
}

export interface Pod {
  device: string;
  cores: Core[];
  steps: string[];
  categories: Metric[];
  /** Index (step * cores + core) * categories + category; microseconds. */
  values: Float64Array;
  /** Index step * cores + core; NaN where a core has no such step. */
  totals: Float64Array;
  /** How many executions of a module could stand in for steps; null where none could. */
  moduleSteps: string | null;
  /** As the tables of steps have it: step_source, step_module. */
  found: Readonly<Record<string, string>>;
  messages: { severity: 'info' | 'warning' | 'error'; message: string }[];
}

const finite = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value)
    ? value
    : typeof value === 'string' && value !== '' && Number.isFinite(Number(value))
      ? Number(value)
      : 0;

export function readPod(answer: PodAnswer): Pod {
  const map = answer.podStatsSequence?.podStatsMap ?? [];
  const hosts = new Map<string, string>();
  for (const step of map) {
    for (const [id, record] of Object.entries(step.podStatsPerCore ?? {})) {
      if (!hosts.has(id))
        hosts.set(id, answer.hosts?.[Math.floor(Number(id) / 1000)] ?? record.hostName ?? '');
    }
  }
  const perHost = new Map<string, number>();
  for (const host of hosts.values()) perHost.set(host, (perHost.get(host) ?? 0) + 1);
  const end = domain([...perHost.keys()]);
  const cores = [...hosts]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([id, host]): Core => {
      const named = (name: string): string =>
        host === '' ? `core ${id}` : (perHost.get(host) ?? 0) > 1 ? `${name} · ${id}` : name;
      return {
        id,
        host,
        label: named(host),
        short: named(host.slice(0, host.length - end.length)),
      };
    });
  const place = new Map(cores.map((core, index) => [core.id, index]));
  const ordered = [...map].sort((a, b) => finite(a.stepNum) - finite(b.stepNum));
  const width = CATEGORIES.length + 1;
  const values = new Float64Array(ordered.length * cores.length * width);
  const totals = new Float64Array(ordered.length * cores.length).fill(NaN);
  let hasRest = false;
  ordered.forEach((step, stepAt) => {
    for (const [id, record] of Object.entries(step.podStatsPerCore ?? {})) {
      const cell = stepAt * cores.length + (place.get(id) ?? 0);
      const total = finite(record.totalDurationUs);
      let rest = total;
      CATEGORIES.forEach((_category, index) => {
        const value = finite(record.stepBreakdownUs?.[String(index + 1)]);
        values[cell * width + index] = value;
        rest -= value;
      });
      totals[cell] = total;
      if (rest > total * 1e-4) {
        values[cell * width + width - 1] = rest;
        hasRest = true;
      }
    }
  });
  const { info = [], warnings = [], errors = [] } = answer.diagnostics ?? {};
  return {
    device: answer.deviceType ?? '',
    cores,
    steps: ordered.map((step, index) => String(step.stepNum ?? index)),
    values,
    totals,
    categories: hasRest ? [...CATEGORIES, REST] : [...CATEGORIES],
    moduleSteps: finite(answer.moduleSteps) > 0 ? String(answer.moduleSteps) : null,
    found: { step_source: answer.stepSource ?? '', step_module: answer.stepModule ?? '' },
    messages: [
      ...errors.map((message) => ({ severity: 'error' as const, message })),
      ...warnings.map((message) => ({ severity: 'warning' as const, message })),
      ...info.map((message) => ({ severity: 'info' as const, message })),
    ],
  };
}

/** A number for each cell: the step's time (-1) or one category's. */
export function cellValue(pod: Pod, step: number, core: number, metric: number): number {
  const cell = step * pod.cores.length + core;
  const total = pod.totals[cell] ?? NaN;
  if (metric < 0 || Number.isNaN(total)) return total;
  return pod.values[cell * (CATEGORIES.length + 1) + metric] ?? 0;
}

export interface CoreTime {
  core: number;
  total: number;
  values: number[];
  /** The category the most time goes to. */
  bottleneck: Metric | null;
  /** In times of the median core. */
  ratio: number;
  /** The category that is furthest above the median, and by how much. */
  excess: { metric: Metric; by: number; ratio: number | null } | null;
  slowestStep: number;
  max: number;
}

/** What each core did in these steps, as a mean, beside the median of all cores. */
export function coreTimes(pod: Pod, from: number, to: number): CoreTime[] {
  const rows = pod.cores.map((_core, core): CoreTime => {
    const values = pod.categories.map(() => 0);
    let [total, seen, max, slowestStep] = [0, 0, -1, from];
    for (let step = from; step <= to; step += 1) {
      const time = cellValue(pod, step, core, -1);
      if (Number.isNaN(time)) continue;
      seen += 1;
      total += time;
      if (time > max) {
        max = time;
        slowestStep = step;
      }
      for (let index = 0; index < values.length; index += 1)
        values[index] = (values[index] ?? 0) + cellValue(pod, step, core, index);
    }
    const mean = values.map((value) => (seen === 0 ? 0 : value / seen));
    const largest = mean.reduce(
      (best, value, index) => (value > (mean[best] ?? 0) ? index : best),
      0,
    );
    return {
      core,
      total: seen === 0 ? NaN : total / seen,
      values: mean,
      bottleneck: (mean[largest] ?? 0) > 0 ? (pod.categories[largest] ?? null) : null,
      ratio: 1,
      excess: null,
      slowestStep,
      max: Math.max(0, max),
    };
  });
  const present = rows.filter((row) => !Number.isNaN(row.total));
  const middle = median(present.map((row) => row.total));
  const middles = pod.categories.map((_category, index) =>
    median(present.map((row) => row.values[index] ?? 0)),
  );
  for (const row of present) {
    row.ratio = middle === 0 ? 1 : row.total / middle;
    row.values.forEach((value, index) => {
      const metric = pod.categories[index];
      const by = value - (middles[index] ?? 0);
      if (metric !== undefined && by > (row.excess?.by ?? 0))
        row.excess = {
          metric,
          by,
          ratio: (middles[index] ?? 0) > 0 ? value / (middles[index] ?? 1) : null,
        };
    });
  }
  return present;
}

/** The same for the steps of one core: with a single host the slow ones are steps, not hosts. */
export interface StepTime {
  step: number;
  total: number;
  ratio: number;
  excess: CoreTime['excess'];
}

export function stepTimes(pod: Pod, core: number): StepTime[] {
  const present = pod.steps
    .map((_step, step) => step)
    .filter((step) => !Number.isNaN(cellValue(pod, step, core, -1)));
  const middle = median(present.map((step) => cellValue(pod, step, core, -1)));
  const middles = pod.categories.map((_category, index) =>
    median(present.map((step) => cellValue(pod, step, core, index))),
  );
  return present.map((step) => {
    const total = cellValue(pod, step, core, -1);
    let excess: CoreTime['excess'] = null;
    pod.categories.forEach((metric, index) => {
      const value = cellValue(pod, step, core, index);
      const by = value - (middles[index] ?? 0);
      if (by > (excess?.by ?? 0))
        excess = {
          metric,
          by,
          ratio: (middles[index] ?? 0) > 0 ? value / (middles[index] ?? 1) : null,
        };
    });
    return { step, total, ratio: middle === 0 ? 1 : total / middle, excess };
  });
}
