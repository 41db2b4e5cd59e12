// SPDX-License-Identifier: Apache-2.0
// What may be typed into a filter box. Pure: text in, predicate out.

export type Test<T> = (value: T) => boolean;

export interface TextFilter {
  test: Test<string>;
  /** Why the text is no filter, for the box to show; everything passes then. */
  problem: string | null;
}

const all = (): boolean => true;

/** Words that must all occur (any case), or one regular expression. */
export function textFilter(query: string, regex: boolean): TextFilter {
  if (query.trim() === '') return { test: all, problem: null };
  if (regex) {
    try {
      const pattern = new RegExp(query, 'i');
      return { test: (text) => pattern.test(text), problem: null };
    } catch (error) {
      return {
        test: all,
        problem: error instanceof Error ? error.message : 'not a regular expression',
      };
    }
  }
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return {
    test: (text) => {
      const lower = text.toLowerCase();
      return words.every((word) => lower.includes(word));
    },
    problem: null,
  };
}

/**
 * What a picture looks for: null for nothing, and the same test for the same words, so that it knows
 * that nothing changed.
 */
export class NameSearch {
  private key = '';
  private test: Test<string> | null = null;

  find(query: string, regex: boolean): Test<string> | null {
    const key = `${query}|${regex}`;
    if (key !== this.key) {
      const filter = textFilter(query, regex);
      this.key = key;
      this.test = query.trim() === '' || filter.problem !== null ? null : filter.test;
    }
    return this.test;
  }
}

/** Filter of one text column: a part of it, `=exact`, `!without`, or `/expression/`. */
export function columnTextFilter(query: string): TextFilter {
  const text = query.trim();
  if (text.startsWith('=')) {
    const wanted = text.slice(1);
    return { test: (value) => value === wanted, problem: null };
  }
  if (text.startsWith('!') && text.length > 1) {
    const unwanted = text.slice(1).toLowerCase();
    return { test: (value) => !value.toLowerCase().includes(unwanted), problem: null };
  }
  if (text.length > 2 && text.startsWith('/') && text.endsWith('/'))
    return textFilter(text.slice(1, -1), true);
  return textFilter(text, false);
}

export interface NumberFilter {
  test: Test<number | null>;
  problem: string | null;
}

export interface NumberMeaning {
  /** Typed numbers are multiplied by this; 0.01 where fractions are shown as percent. */
  scale?: number;
  /** The column holds microseconds, so `2ms` may be typed. */
  time?: boolean;
}

const TIME_UNITS: Record<string, number> = { ns: 1e-3, us: 1, µs: 1, μs: 1, ms: 1e3, s: 1e6 };
const COUNT_UNITS: Record<string, number> = {
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  p: 1e15,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
  '%': 1,
};

function readNumber(text: string, meaning: NumberMeaning): number | null {
  const match = /^([-+−]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)([a-zµμ%]*)$/i.exec(
    text.replace(/[,_]/g, ''),
  );
  if (match === null) return null;
  const value = Number((match[1] ?? '').replace('−', '-'));
  const unit = (match[2] ?? '').toLowerCase();
  const factor =
    unit === '' ? 1 : ((meaning.time === true ? TIME_UNITS[unit] : undefined) ?? COUNT_UNITS[unit]);
  return factor === undefined ? null : value * factor * (meaning.scale ?? 1);
}

/**
 * Bare numbers typed below a column of milliseconds mean milliseconds. They get their unit at once:
 * in a
 * link it must not depend on what the column is shown in.
 */
export function withUnit(query: string, unit: string): string {
  return unit === '' || unit === 'µs'
    ? query
    : query.replace(/((?:\d[\d,_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)(?![\w.,µμ%])/gi, `$1${unit}`);
}

function oneNumberTest(part: string, meaning: NumberMeaning): Test<number> | null {
  const range = /^(.*?)\.\.(.*)$/.exec(part);
  if (range !== null) {
    const [, lowText = '', highText = ''] = range;
    const low = lowText === '' ? -Infinity : readNumber(lowText, meaning);
    const high = highText === '' ? Infinity : readNumber(highText, meaning);
    if (low === null || high === null || (lowText === '' && highText === '')) return null;
    return (value) => value >= low && value <= high;
  }
  const match = /^(>=|<=|!=|>|<|=)?(.+)$/.exec(part);
  const bound = match === null ? null : readNumber(match[2] ?? '', meaning);
  if (match === null || bound === null) return null;
  // Typed decimals rarely are the stored double, so equality means equal to nine digits.
  const near = (value: number): boolean => Math.abs(value - bound) <= Math.abs(bound) * 1e-9;
  switch (match[1]) {
    case '>':
      return (value) => value > bound;
    case '>=':
      return (value) => value >= bound;
    case '<':
      return (value) => value < bound;
    case '<=':
      return (value) => value <= bound;
    case '!=':
      return (value) => !near(value);
    default:
      return near;
  }
}

/** `>100`, `<=5`, `10..20`, `=3`, `2ms..1s`; several, separated by blanks, must all hold. */
export function numberFilter(query: string, meaning: NumberMeaning = {}): NumberFilter {
  const text = query
    .trim()
    .replace(/(>=|<=|!=|>|<|=)\s+/g, '$1')
    .replace(/\s*\.\.\s*/g, '..');
  if (text === '') return { test: all, problem: null };
  const tests: Test<number>[] = [];
  for (const part of text.split(/\s+/)) {
    const test = oneNumberTest(part, meaning);
    if (test === null)
      return { test: all, problem: `“${part}” is not a number filter; try >100, <=5 or 10..20` };
    tests.push(test);
  }
  return { test: (value) => value !== null && tests.every((test) => test(value)), problem: null };
}
