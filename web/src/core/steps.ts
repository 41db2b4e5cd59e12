// SPDX-License-Identifier: Apache-2.0
// Steps and the categories their time is split into, read from the tables of overview and input
// pipeline. Pure.

import { records, text, amount, type GvizTable } from './gviz';
import { trimRight } from './names';

export interface Category {
  id: string;
  label: string;
  /** For legends and narrow places. */
  short: string;
  token: string;
  /** Stem of the properties `<stem>_time_ms_avg` and so on. */
  stem: string;
}

const GENERIC: readonly Category[] = [
  {
    id: 'devicecomputetimems',
    label: 'Device compute',
    short: 'Device compute',
    token: 'device-compute',
    stem: 'device_compute',
  },
  {
    id: 'devicetodevicetimems',
    label: 'Device to device',
    short: 'Device to device',
    token: 'device-to-device',
    stem: 'device_to_device',
  },
  {
    id: 'devicecollectivestimems',
    label: 'Device collectives',
    short: 'Collectives',
    token: 'collectives',
    stem: 'device_collectives',
  },
  {
    id: 'hostcomputetimems',
    label: 'Host compute',
    short: 'Host compute',
    token: 'host-compute',
    stem: 'host_compute',
  },
  {
    id: 'kernellaunchtimems',
    label: 'Kernel launch',
    short: 'Kernel launch',
    token: 'kernel-launch',
    stem: 'kernel_launch',
  },
  { id: 'infeedtimems', label: 'Input', short: 'Input', token: 'input', stem: 'infeed' },
  { id: 'outfeedtimems', label: 'Output', short: 'Output', token: 'output', stem: 'outfeed' },
  {
    id: 'compiletimems',
    label: 'Compilation',
    short: 'Compilation',
    token: 'compilation',
    stem: 'compile',
  },
  {
    id: 'othertimems',
    label: 'All others',
    short: 'All others',
    token: 'all-others',
    stem: 'other',
  },
];

const TPU: readonly Category[] = [
  {
    id: 'tccomputetimems',
    label: 'TensorCore compute',
    short: 'Compute',
    token: 'device-compute',
    stem: 'tc_compute',
  },
  {
    id: 'scv0computetimems',
    label: 'SparseCore compute',
    short: 'SparseCore',
    token: 'device-to-device',
    stem: 'scv0_compute',
  },
  {
    id: 'scv0infeedtimems',
    label: 'SparseCore input',
    short: 'SparseCore input',
    token: 'compilation',
    stem: 'scv0_infeed',
  },
  {
    id: 'tcinfeedtimems',
    label: 'TensorCore input',
    short: 'Input',
    token: 'input',
    stem: 'tc_infeed',
  },
  {
    id: 'tcoutfeedtimems',
    label: 'TensorCore output',
    short: 'Output',
    token: 'output',
    stem: 'tc_outfeed',
  },
  {
    id: 'tcidletimems',
    label: 'TensorCore idle',
    short: 'Idle',
    token: 'all-others',
    stem: 'tc_idle',
  },
  {
    id: 'hosttransfertimems',
    label: 'Host transfer',
    short: 'Host transfer',
    token: 'host-compute',
    stem: 'host_transfer',
  },
];

/**
 * The nine categories of a step, in the palette's order: every page that colours by category uses
 * these.
 */
export const CATEGORIES: readonly Pick<Category, 'label' | 'short' | 'token'>[] = GENERIC;

/** The time of a step beyond the sum of its categories is shown as a category of its own. */
const REST: Category = {
  id: 'rest',
  label: 'Not broken down',
  short: 'Not broken down',
  token: 'line',
  stem: 'rest',
};

/** Characters of a module's name beside a chart; names are as long as a program makes them. */
const MODULE_ROOM = 60;

/** Rounding of printed numbers is no difference. */
const NOTICED = 1e-4;

export interface Step {
  name: string;
  /** Microseconds, one for each category. */
  values: number[];
  total: number;
  /** Share of the step that waits for input, from least to most over the cores; TPU only. */
  infeed: { average: number; min: number; max: number } | null;
}

export interface Steps {
  tpu: boolean;
  categories: readonly Category[];
  steps: Step[];
  /**
   * Largest step time over all cores, averaged over the steps, as the server says; microseconds.
   */
  slowest: number | null;
  properties: Readonly<Record<string, string>>;
}

export function properties(table: GvizTable | undefined): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [key, value] of Object.entries(table?.p ?? {})) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      found[key] = String(value);
  }
  return found;
}

/** What is said beside every chart of steps that are not marked ones; '' for marked steps. */
export function sourceText(found: Readonly<Record<string, string>>, room = MODULE_ROOM): string {
  return found['step_source'] === 'module'
    ? `steps are executions of module ${trimRight(found['step_module'] ?? '', room)}`.trim()
    : '';
}

/** `12.3%`, `12.3` and `12.3 %` as a fraction; null where there is no number, such as `-nan`. */
export function fraction(value: string | undefined): number | null {
  const match = /^\s*(-?\d+(?:\.\d+)?)\s*%?\s*$/.exec(value ?? '');
  return match === null ? null : Number(match[1]) / 100;
}

export function readSteps(table: GvizTable | undefined): Steps {
  const cols = table?.cols ?? [];
  const ids = new Set(cols.map((col) => col.id.toLowerCase()));
  const tpu = ids.has('tccomputetimems');
  const known = (tpu ? TPU : GENERIC).filter((category) => ids.has(category.id));
  const list = table === undefined || cols.length === 0 ? [] : records(table);
  const steps = list.map((record, index): Step => {
    const values = known.map((category) => Math.max(0, amount(record, category.id)) * 1000);
    const sum = values.reduce((a, b) => a + b, 0);
    // TPU tables have no column of the whole; older ones of other devices have none either.
    const total = ids.has('steptimems') ? amount(record, 'steptimems') * 1000 : sum;
    const name = text(record, 'stepnum') || text(record, 'stepname') || String(index);
    const part = (id: string): number => amount(record, id) / 100;
    return {
      name,
      total,
      values,
      infeed: ids.has('infeedpercentaverage')
        ? {
            average: part('infeedpercentaverage'),
            min: part('infeedpercentmin'),
            max: part('infeedpercentmax'),
          }
        : null,
    };
  });
  const rest = steps.map((step) => step.total - step.values.reduce((a, b) => a + b, 0));
  const found = properties(table);
  const hasRest = rest.some(
    (value, index) => value > NOTICED * (steps[index]?.total ?? 0) && value > 0,
  );
  if (hasRest) steps.forEach((step, index) => step.values.push(Math.max(0, rest[index] ?? 0)));
  const slowest = Number(found['steptime_ms_average'] ?? NaN);
  return {
    tpu,
    steps,
    categories: hasRest ? [...known, REST] : known,
    properties: found,
    slowest: Number.isFinite(slowest) && slowest > 0 ? slowest * 1000 : null,
  };
}

export interface Spread {
  mean: number;
  min: number;
  max: number;
  sd: number;
}

/** Deviation of a sample (n − 1), as the server prints it. */
export function spread(values: readonly number[]): Spread {
  if (values.length === 0) return { mean: 0, min: 0, max: 0, sd: 0 };
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  let [min, max, squares] = [Infinity, -Infinity, 0];
  for (const value of values) {
    min = Math.min(min, value);
    max = Math.max(max, value);
    squares += (value - mean) ** 2;
  }
  return { mean, min, max, sd: values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1)) };
}

export function median(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** `train 12` is step 12. */
function numberOf(name: string): number | null {
  const match = /(\d+)\s*$/.exec(name);
  return match === null ? null : Number(match[1]);
}

/** Place of a step. One page knows it as `train 12` and another as `12`; -1 for none. */
export function findStep(wanted: string, names: readonly string[]): number {
  if (wanted === '') return -1;
  const exact = names.indexOf(wanted);
  const number = numberOf(wanted);
  return exact >= 0 || number === null
    ? exact
    : names.findIndex((name) => numberOf(name) === number);
}

export interface Range {
  from: number;
  to: number;
}

/** `steps=3-8` as places in the list; null means all of them. Names need not be numbers. */
export function parseRange(value: string, names: readonly string[]): Range | null {
  const wanted = value.trim();
  if (wanted === '' || names.length === 0) return null;
  const ordered = (a: number, b: number): Range => ({ from: Math.min(a, b), to: Math.max(a, b) });
  const single = names.indexOf(wanted);
  if (single >= 0) return { from: single, to: single };
  for (let at = wanted.indexOf('-', 1); at >= 0; at = wanted.indexOf('-', at + 1)) {
    const [left, right] = [wanted.slice(0, at).trim(), wanted.slice(at + 1).trim()];
    const [from, to] = [names.indexOf(left), names.lastIndexOf(right)];
    if (from >= 0 && to >= 0) return ordered(from, to);
    // A range of another run may reach beyond this one.
    const [start, end] = [numberOf(left), numberOf(right)];
    if (start !== null && end !== null) {
      const [low, high] = [Math.min(start, end), Math.max(start, end)];
      const inside = names.flatMap((name, index) => {
        const number = numberOf(name);
        return number !== null && number >= low && number <= high ? [index] : [];
      });
      const [first, last] = [inside[0], inside[inside.length - 1]];
      return first === undefined || last === undefined ? null : { from: first, to: last };
    }
  }
  return null;
}

export function formatRange(range: Range | null, names: readonly string[]): string {
  if (range === null || (range.from <= 0 && range.to >= names.length - 1)) return '';
  const [from, to] = [names[range.from] ?? '', names[range.to] ?? ''];
  return range.from === range.to ? from : `${from}-${to}`;
}

export function within<T>(list: readonly T[], range: Range | null): readonly T[] {
  return range === null ? list : list.slice(range.from, range.to + 1);
}

export interface CategoryStat extends Spread {
  category: Category;
  /** Of the time of the steps. */
  share: number;
}

export function categoryStats(data: Steps, range: Range | null): CategoryStat[] {
  const steps = within(data.steps, range);
  const whole = steps.reduce((sum, step) => sum + step.total, 0);
  return data.categories.map((category, index) => {
    const values = steps.map((step) => step.values[index] ?? 0);
    return {
      category,
      ...spread(values),
      share: whole === 0 ? 0 : values.reduce((a, b) => a + b, 0) / whole,
    };
  });
}

export function shareOf(data: Steps, range: Range | null, ...stems: string[]): number {
  return categoryStats(data, range)
    .filter((stat) => stems.includes(stat.category.stem))
    .reduce((sum, stat) => sum + stat.share, 0);
}

/** Microseconds of a step, on average. */
export function meanOf(data: Steps, range: Range | null, ...stems: string[]): number {
  return categoryStats(data, range)
    .filter((stat) => stems.includes(stat.category.stem))
    .reduce((sum, stat) => sum + stat.mean, 0);
}

/**
 * Whose steps are shown where several hosts have them; '' for one host, and where every host's
 * count.
 */
export function stepsOf(found: Readonly<Record<string, string>>): string {
  const [host, hosts] = [found['steps_of_host'] ?? '', found['step_hosts'] ?? ''];
  if (host === '' || hosts === '') return '';
  return found['slowest_host'] === host
    ? `${host}, the slowest of ${hosts} hosts`
    : `${host}, one of ${hosts} hosts`;
}

export interface Headline {
  mean: number;
  sd: number;
  /** The rows are those of the fastest core, and another one is slower. */
  ofSlowest: boolean;
}

/**
 * The mean time of a step on its slowest host or core, where that is more than the rows say; else
 * null.
 */
export function slowestOfEach(data: Steps): number | null {
  const own = spread(data.steps.map((step) => step.total)).mean;
  // The printed number has one decimal of a millisecond, so it is taken only where it says
  // something else.
  return data.slowest === null || data.slowest <= own * 1.01 + 50 ? null : data.slowest;
}

/** The average step: of the host that is shown, or of TPUs the slowest core in each step. */
export function headline(data: Steps, range: Range | null): Headline {
  const own = spread(within(data.steps, range).map((step) => step.total));
  const slowest = range === null && stepsOf(data.properties) === '' ? slowestOfEach(data) : null;
  if (slowest === null) return { mean: own.mean, sd: own.sd, ofSlowest: false };
  const sd = Number(data.properties['steptime_ms_standard_deviation'] ?? NaN);
  return { mean: slowest, sd: Number.isFinite(sd) ? sd * 1000 : 0, ofSlowest: true };
}

export interface Bin {
  from: number;
  to: number;
  label: string;
  values: number[];
  total: number;
}

/**
 * At most `most` bars: neighbouring steps become one bar with their mean, so that thousands still
 * draw.
 */
export function bins(data: Steps, window: Range, most: number): Bin[] {
  const n = window.to - window.from + 1;
  const size = Math.max(1, Math.ceil(n / most));
  const list: Bin[] = [];
  for (let from = window.from; from <= window.to; from += size) {
    const to = Math.min(window.to, from + size - 1);
    const part = data.steps.slice(from, to + 1);
    const mean = (of: (step: Step) => number): number =>
      part.reduce((sum, step) => sum + of(step), 0) / Math.max(1, part.length);
    list.push({
      from,
      to,
      label:
        from === to
          ? (part[0]?.name ?? '')
          : `${part[0]?.name ?? ''}–${part[part.length - 1]?.name ?? ''}`,
      values: data.categories.map((_category, index) => mean((step) => step.values[index] ?? 0)),
      total: mean((step) => step.total),
    });
  }
  return list;
}

/** Share of the steps of a bar that the cores wait for input. */
export interface InfeedBin {
  label: string;
  steps: number;
  average: number;
  min: number;
  max: number;
}

/** Steps that do not say it count for nothing. */
export function infeedBins(data: Steps, list: readonly Bin[]): InfeedBin[] {
  return list.map((bin) => {
    const known = data.steps
      .slice(bin.from, bin.to + 1)
      .flatMap((step) => (step.infeed === null ? [] : [step.infeed]));
    return {
      label: bin.label,
      steps: bin.to - bin.from + 1,
      average: known.reduce((sum, one) => sum + one.average, 0) / Math.max(1, known.length),
      min: known.reduce((least, one) => Math.min(least, one.min), known[0]?.min ?? 0),
      max: known.reduce((most, one) => Math.max(most, one.max), 0),
    };
  });
}

/**
 * Of `2 (num tasks per host = 1)`: how many programs ran, and how many on each host where that is
 * not one.
 */
export function tasks(text: string, hosts: number): string {
  const match = /^(\d+) \(num tasks per host = (\d+)\)$/.exec(text);
  if (match === null) return text;
  const [, all = '', each = ''] = match;
  return hosts < 2 || each === '1' || each === all ? all : `${all}, ${each} on each host`;
}
