// SPDX-License-Identifier: Apache-2.0
// Every number a person reads goes through here.

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const exactFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });

export interface Quantity {
  value: string;
  unit: string;
}

export function joined(quantity: Quantity): string {
  return quantity.unit === '' ? quantity.value : `${quantity.value} ${quantity.unit}`;
}

/** Three to four significant digits, thousands separated, no exponent. */
export function significant(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1000) return grouped.format(value);
  const decimals =
    size >= 100
      ? 1
      : size >= 10
        ? 2
        : size >= 1
          ? 2
          : Math.min(6, 2 - Math.floor(Math.log10(size)));
  return value.toFixed(decimals);
}

export function count(value: number): string {
  return grouped.format(value);
}

/** The value itself, for hover and copy. */
export function exact(value: number): string {
  return exactFormat.format(value);
}

/** Microseconds in the unit that suits them. */
export function duration(us: number): Quantity {
  const size = Math.abs(us);
  // Captures count picoseconds: what is less comes from rounding sums.
  if (size < 5e-7) return { value: '0', unit: 'µs' };
  if (size < 1) return { value: significant(us * 1000), unit: 'ns' };
  if (size < 1000) return { value: significant(us), unit: 'µs' };
  if (size < 1e6) return { value: significant(us / 1000), unit: 'ms' };
  if (size < 120e6) return { value: significant(us / 1e6), unit: 's' };
  if (size < 7200e6) return { value: significant(us / 60e6), unit: 'min' };
  return { value: significant(us / 3600e6), unit: 'h' };
}

export function bytes(value: number): Quantity {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let rest = value;
  while (Math.abs(rest) >= 1024 && unit < units.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return { value: unit === 0 ? grouped.format(rest) : significant(rest), unit: units[unit] ?? 'B' };
}

/** An amount by powers of 1000, as arithmetic is counted. */
export function scaled(value: number): Quantity {
  const units = ['', 'K', 'M', 'G', 'T', 'P', 'E'];
  let unit = 0;
  let rest = value;
  while (Math.abs(rest) >= 1000 && unit < units.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  return { value: unit === 0 ? exact(rest) : significant(rest), unit: units[unit] ?? '' };
}

/** The part that one amount is of another; 0 of nothing. */
export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** A fraction as percent with one decimal; one above 0 that rounds to 0 is "<0.1 %". */
export function percent(fraction: number): string {
  if (fraction > 0 && fraction < 0.0005) return '<0.1 %';
  if (Math.abs(fraction) >= 10) return `${grouped.format(fraction * 100)} %`;
  return `${(fraction * 100).toFixed(1)} %`;
}

/** A share as a number and its unit. */
export function asPercent(fraction: number): Quantity {
  return { value: percent(fraction).replace(' %', ''), unit: '%' };
}

/** How much something changed, always with its sign: what rounds to nothing has one too. */
export function change(value: number, show: (size: number) => string): string {
  return value === 0 ? show(0) : `${value > 0 ? '+' : '−'}${show(Math.abs(value))}`;
}

/**
 * How many decimals a column needs so that its digits line up and its small values stay visible.
 */
export function columnDecimals(values: Iterable<number | null>): number {
  let largest = 0;
  let whole = true;
  for (const value of values) {
    if (value === null) continue;
    largest = Math.max(largest, Math.abs(value));
    whole &&= Number.isInteger(value);
  }
  if (whole) return 0;
  return largest >= 1000 ? 1 : largest >= 100 ? 2 : 3;
}

/**
 * In what the microseconds of a column are shown, so that numbers stay short and its digits line
 * up.
 */
export interface TimeUnit {
  name: 'µs' | 'ms' | 's';
  /** Microseconds in one. */
  us: number;
  decimals: number;
}

/** From 10,000 µs on milliseconds, from 10,000 ms on seconds. */
export function timeUnit(values: Iterable<number | null>): TimeUnit {
  const list = [...values];
  const largest = list.reduce((most: number, value) => Math.max(most, Math.abs(value ?? 0)), 0);
  if (largest < 1e4) return { name: 'µs', us: 1, decimals: columnDecimals(list) };
  return largest < 1e7 ? { name: 'ms', us: 1e3, decimals: 3 } : { name: 's', us: 1e6, decimals: 3 };
}

/** In that unit, without it; what would be nothing there has a smaller one, and says so. */
export function inTimeUnit(us: number, unit: TimeUnit): string {
  return us !== 0 && Math.abs(us / unit.us) < 0.5 * 10 ** -unit.decimals && unit.us > 1
    ? joined(duration(us)).replace(/^-/, '−')
    : fixed(us / unit.us, unit.decimals);
}

const fixedFormats = [0, 1, 2, 3].map(
  (digits) =>
    new Intl.NumberFormat('en-US', {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }),
);

export function fixed(value: number, decimals: number): string {
  const text = (fixedFormats[decimals] ?? exactFormat).format(value);
  if (value > 0 && Number(text.replace(/,/g, '')) === 0)
    return `<${(10 ** -decimals).toFixed(decimals)}`;
  return text.replace(/^-/, '−');
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

const RUN_TIME = /(?<!\d)(\d{4})_(\d\d)_(\d\d)_(\d\d)_(\d\d)_(\d\d)(?!\d)/;

/**
 * When a run was made, to be shown. A time in its name is shown as it is written there, in any time
 * zone of server and browser.
 */
export function runTime(run: { run: string; time_ms: number; time_from: string }): Date {
  const match = run.time_from === 'name' ? RUN_TIME.exec(run.run.split('/').pop() ?? '') : null;
  if (match === null) return new Date(run.time_ms);
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map(Number);
  return new Date(year, month - 1, day, hour, minute, second);
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}

export function dateTime(date: Date): string {
  if (Number.isNaN(date.getTime())) return '–';
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  );
}

export function ago(date: Date, now: Date): string {
  const seconds = Math.max(0, (now.getTime() - date.getTime()) / 1000);
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  const days = Math.floor(seconds / 86400);
  if (days < 60) return `${plural(days, 'day')} ago`;
  if (days < 730) return `${Math.floor(days / 30.44)} months ago`;
  return `${Math.floor(days / 365.25)} years ago`;
}

/** A message of the server, which begins small and has no full stop, as a sentence. */
export function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?)]$/.test(first) ? first : `${first}.`;
}
