import { h } from '../core/dom';
import { joined, percent, type Quantity } from '../core/format';

export interface Tile {
  label: string;
  hint: string;
  value: number | null;
  /** How the number reads; the same unit logic is used for the delta. */
  format: (value: number) => Quantity;
  exact?: string;
  note?: string;
  base?: number | null;
  /** Which direction is good news, if any. */
  better?: 'lower' | 'higher';
}

function delta(tile: Tile, value: number, base: number): HTMLElement {
  // Less than the last digit shown is no difference to speak of.
  const rounds = tile.format(1).unit === '%' && Math.abs(value - base) < 0.0005;
  const difference = rounds ? 0 : value - base;
  const good = difference !== 0 && tile.better !== undefined && (difference < 0) === (tile.better === 'lower');
  const state = difference === 0 || tile.better === undefined ? '' : good ? ' better' : ' worse';
  const quantity = tile.format(Math.abs(difference));
  const size = joined(quantity.unit === '%' ? { value: quantity.value, unit: 'points' } : quantity);
  const ratio = base === 0 || quantity.unit === '%' ? '' : ` (${percent(Math.abs(difference / base))})`;
  return h('div', { class: `delta${state}`, title: `base: ${joined(tile.format(base))}` },
    difference === 0 ? 'same as base' : `${difference < 0 ? '−' : '+'}${size}${ratio}`,
    h('span', { class: 'offscreen' }, `${difference === 0 ? '' : ' against the base run'}${state === '' ? '' : good ? ', better' : ', worse'}`));
}

export function tiles(list: readonly Tile[]): HTMLElement {
  const element = h('dl', { class: 'tiles' });
  for (const tile of list) {
    const quantity = tile.value === null ? { value: '–', unit: '' } : tile.format(tile.value);
    element.append(h('div', { class: 'tile', title: tile.hint },
      h('dt', {}, tile.label),
      h('dd', {},
        h('span', { class: 'figure', title: tile.exact }, h('strong', {}, quantity.value), quantity.unit !== '' && h('em', {}, ` ${quantity.unit}`)),
        tile.note !== undefined && h('div', { class: 'delta', title: tile.note }, tile.note),
        tile.base !== null && tile.base !== undefined && tile.value !== null && delta(tile, tile.value, tile.base))));
  }
  return element;
}
