// SPDX-License-Identifier: Apache-2.0
import type { StepCounts } from '../core/compare';
import { h } from '../core/dom';
import { change, duration, joined, percent, type Quantity } from '../core/format';

export interface Tile {
  label: string;
  hint: string;
  value: number | null;
  /** How the number reads; the same unit logic is used for the delta. */
  format: (value: number) => Quantity;
  exact?: string;
  note?: string;
  base?: number | null;
  /**
   * The time per step by which a share is compared: the same share of a shorter step is less time.
   * Lower is better.
   */
  perStep?: { now: number; base: number | null };
  /**
   * Which direction is good news, if any. A share alone is neither: it also falls when all else
   * grows.
   */
  better?: 'lower' | 'higher';
}

/** The change of a time that was summed over a whole run: per step, where both runs have steps. */
export function timeChange(
  now: number,
  base: number | null,
  steps: StepCounts | null,
): Pick<Tile, 'base' | 'perStep'> {
  return { base, ...shareChange(now, base, steps) };
}

/**
 * The change of a share, as that of the time it is: per step, where both runs have steps; else only
 * that of the share.
 */
export function shareChange(
  now: number,
  base: number | null,
  steps: StepCounts | null,
): Pick<Tile, 'perStep'> {
  return steps === null || base === null
    ? {}
    : { perStep: { now: now / steps.now, base: base / steps.base } };
}

interface Change {
  now: number;
  base: number;
  format: Tile['format'];
  better: Tile['better'];
  /** Behind the change, e.g. ` per step`. */
  of: string;
}

function delta(tile: Tile, { now, base, format, better, of }: Change): HTMLElement {
  // Less than the last digit shown is no difference to speak of.
  const rounds = format(1).unit === '%' && Math.abs(now - base) < 0.0005;
  const difference = rounds ? 0 : now - base;
  const good = difference !== 0 && better !== undefined && difference < 0 === (better === 'lower');
  const state = difference === 0 || better === undefined ? '' : good ? ' better' : ' worse';
  const quantity = format(Math.abs(difference));
  const size = joined(quantity.unit === '%' ? { value: quantity.value, unit: 'points' } : quantity);
  const ratio =
    base === 0 || quantity.unit === '%' ? '' : `(${change(difference / base, percent)})`;
  const share =
    tile.base === null || tile.base === undefined || of === ''
      ? ''
      : `, ${joined(tile.format(tile.base))}`;
  return h(
    'div',
    { class: `delta${state}`, title: `base: ${joined(format(base))}${of}${share}` },
    difference === 0 ? `same${of} as base` : `${difference < 0 ? '−' : '+'}${size}${of}`,
    ...(difference === 0 || ratio === '' ? [] : [' ', h('span', { class: 'ratio' }, ratio)]),
    h(
      'span',
      { class: 'offscreen' },
      `${difference === 0 ? '' : ' against the base run'}${state === '' ? '' : good ? ', better' : ', worse'}`,
    ),
  );
}

function changeOf(tile: Tile): Change | null {
  const { value, base, perStep } = tile;
  if (perStep !== undefined)
    return perStep.base === null
      ? null
      : {
          now: perStep.now,
          base: perStep.base,
          format: duration,
          better: 'lower',
          of: ' per step',
        };
  return value === null || base === null || base === undefined
    ? null
    : { now: value, base, format: tile.format, better: tile.better, of: '' };
}

export function tiles(list: readonly Tile[]): HTMLElement {
  const element = h('dl', { class: 'tiles' });
  for (const tile of list) {
    const quantity = tile.value === null ? { value: '–', unit: '' } : tile.format(tile.value);
    const compared = changeOf(tile);
    element.append(
      h(
        'div',
        { class: 'tile', title: tile.hint },
        h('dt', {}, tile.label),
        h(
          'dd',
          {},
          h(
            'span',
            { class: 'figure', title: tile.exact },
            h('strong', {}, quantity.value),
            quantity.unit !== '' && h('em', {}, ` ${quantity.unit}`),
          ),
          tile.note !== undefined && h('div', { class: 'delta', title: tile.note }, tile.note),
          compared !== null && delta(tile, compared),
        ),
      ),
    );
  }
  return element;
}
