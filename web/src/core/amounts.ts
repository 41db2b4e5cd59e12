// SPDX-License-Identifier: Apache-2.0
// Amounts of the profile's quantities, as a person reads them.

import { bytes, count, duration, exact, joined, significant } from './format';
import type { Quantity as Shown } from './format';
import type { Unit } from './profile';

const STEPS = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/** Large counts by thousands. */
export function flops(value: number): Shown {
  let unit = 0;
  let rest = value;
  while (Math.abs(rest) >= 1000 && unit < STEPS.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  return {
    value: unit === 0 && Number.isInteger(rest) ? count(rest) : significant(rest),
    unit: `${STEPS[unit] ?? ''}FLOP`,
  };
}

export function quantity(unit: Unit): (value: number) => Shown {
  switch (unit) {
    case 'us':
      return duration;
    case 'bytes':
      return bytes;
    case 'flops':
      return flops;
    default:
      return (value) => ({
        value: Number.isInteger(value) ? count(value) : significant(value),
        unit: '',
      });
  }
}

export function amount(unit: Unit): (value: number) => string {
  const show = quantity(unit);
  return (value) => joined(show(value));
}

const WORDS: Record<Unit, string> = { us: ' µs', bytes: ' bytes', flops: ' operations', count: '' };

export function exactAmount(unit: Unit, value: number): string {
  return `${exact(value)}${WORDS[unit]}`;
}
