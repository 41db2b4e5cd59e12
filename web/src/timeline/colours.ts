// SPDX-License-Identifier: Apache-2.0
// The colour of an event: by category, by name or by duration; the same everywhere.

import { durationColour, inkOn, mix, nameColour, parseColour, type Rgb } from '../core/colours';
import { CATEGORIES } from '../core/steps';
import { token } from '../core/theme';
import type { Block, Names } from './decode';

export type ColourMode = 'category' | 'name' | 'duration';

/** Colours of the page as the theme has them now, system colours resolved. */
export interface Inks {
  ground: Rgb;
  ground2: Rgb;
  line: Rgb;
  ink: Rgb;
  ink2: Rgb;
  accent: Rgb;
  accentSoft: Rgb;
  categories: Rgb[];
  dark: boolean;
}

function resolved(probe: HTMLElement, name: string): Rgb {
  const value = token(name);
  const plain = parseColour(value);
  if (plain !== null) return plain;
  // `Canvas` and its like are known to the browser only.
  probe.style.color = value;
  return parseColour(getComputedStyle(probe).color) ?? [128, 128, 128];
}

export function readInks(probe: HTMLElement): Inks {
  const one = (name: string): Rgb => resolved(probe, name);
  const inks = {
    ground: one('ground'),
    ground2: one('ground-2'),
    line: one('line'),
    ink: one('ink'),
    ink2: one('ink-2'),
    accent: one('accent'),
    accentSoft: one('accent-soft'),
    categories: CATEGORIES.map((category) => one(category.token)),
    dark: document.documentElement.dataset['theme'] === 'dark',
  };
  probe.style.color = '';
  return inks;
}

/** How far events that do not match go towards the ground. */
const STEP_BACK = 0.78;

export class Colouring {
  /** Goes up whenever a block's colours have to be made again. */
  version = 0;
  private test: ((name: string) => boolean) | null = null;
  private readonly tested: boolean[] = [];
  private readonly cache = new WeakMap<Block, { version: number; colours: Uint32Array }>();

  constructor(
    private readonly names: Names,
    public inks: Inks,
    public mode: ColourMode,
  ) {}

  set(inks: Inks, mode: ColourMode): void {
    this.inks = inks;
    this.mode = mode;
    this.version += 1;
  }

  /** While something is searched for, names that do not match step back; null shows all alike. */
  only(test: ((name: string) => boolean) | null): void {
    this.test = test;
    this.tested.length = 0;
    this.version += 1;
  }

  private stepsBack(name: number): boolean {
    if (this.test === null) return false;
    this.tested[name] ??= this.test(this.names.text[name] ?? '');
    return !this.tested[name];
  }

  private one(name: number, category: number, durationPs: number): Rgb {
    const { inks } = this;
    if (this.mode === 'name') return nameColour(this.names.text[name] ?? '', inks.dark);
    if (this.mode === 'duration') return durationColour(durationPs / 1e6, inks.dark);
    return inks.categories[category] ?? inks.categories[inks.categories.length - 1] ?? inks.ink2;
  }

  /**
   * Opaque colours as red, green, blue, alpha bytes in memory; a stretch that is mostly empty is
   * nearer to the ground.
   */
  of(block: Block): Uint32Array {
    const known = this.cache.get(block);
    if (known !== undefined && known.version === this.version) return known.colours;
    const colours = new Uint32Array(block.size);
    const bytes = new Uint8Array(colours.buffer);
    for (let i = 0; i < block.size; i += 1) {
      let colour = this.one(block.name[i] ?? 0, block.category[i] ?? -1, block.duration[i] ?? 0);
      if ((block.count[i] ?? 1) > 1)
        colour = mix(this.inks.ground, colour, 0.4 + (0.6 * (block.busy[i] ?? 255)) / 255);
      if (this.stepsBack(block.name[i] ?? 0)) colour = mix(colour, this.inks.ground, STEP_BACK);
      bytes[4 * i] = colour[0];
      bytes[4 * i + 1] = colour[1];
      bytes[4 * i + 2] = colour[2];
      bytes[4 * i + 3] = 255;
    }
    this.cache.set(block, { version: this.version, colours });
    return colours;
  }

  /** The colour of text that can be read on a packed colour. */
  ink(packed: number): string {
    return inkOn([packed & 255, (packed >>> 8) & 255, (packed >>> 16) & 255]);
  }
}
