// SPDX-License-Identifier: Apache-2.0
// Colours for names and durations: computed from the text alone, so that a name has one colour on
// every page and in every run. Pure.

export type Rgb = readonly [number, number, number];

/** Names of one kind often differ in one letter; FNV-1a spreads them over the circle. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1)
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  // The low bits of FNV follow the last letter closely; a final mix makes all bits depend on all
  // letters.
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

function linear(channel: number): number {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

/** Relative luminance as WCAG 2 counts it. */
export function luminance([r, g, b]: Rgb): number {
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

function hsl(hue: number, saturation: number, lightness: number): Rgb {
  const size = saturation * Math.min(lightness, 1 - lightness);
  const channel = (n: number): number => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (lightness - size * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** The lightness at which a hue has this luminance: yellow needs less of it than blue. */
function atLuminance(hue: number, saturation: number, wanted: number): Rgb {
  let [low, high] = [0, 1];
  for (let i = 0; i < 14; i += 1) {
    const middle = (low + high) / 2;
    if (luminance(hsl(hue, saturation, middle)) < wanted) low = middle;
    else high = middle;
  }
  return hsl(hue, saturation, (low + high) / 2);
}

/**
 * Luminances with a contrast above 3 on the ground of the theme, and away from 0.19, where neither
 * black nor white can be read
 * well; three steps of each tell neighbouring hues apart.
 */
const NAME_LUMINANCE = { light: [0.12, 0.17, 0.25], dark: [0.24, 0.34, 0.46] } as const;

const named = new Map<string, Rgb>();

export function nameColour(name: string, dark: boolean): Rgb {
  const key = `${dark ? 'd' : 'l'}${name}`;
  const known = named.get(key);
  if (known !== undefined) return known;
  const mark = hash(name);
  const steps = dark ? NAME_LUMINANCE.dark : NAME_LUMINANCE.light;
  const colour = atLuminance((mark % 48) * 7.5, 0.5, steps[(mark >>> 8) % steps.length] ?? 0.2);
  // Forgetting all is simpler than forgetting the oldest, and as good: a colour is quickly made
  // again.
  if (named.size > 50_000) named.clear();
  named.set(key, colour);
  return colour;
}

/**
 * From 100 ns to 1 s in a logarithmic ramp, violet over red to yellow: longer is further from the
 * ground in luminance too.
 */
export function durationColour(us: number, dark: boolean): Rgb {
  const part = Math.min(1, Math.max(0, (Math.log10(Math.max(us, 0.1)) + 1) / 7));
  const steps = Math.round(part * 21) / 21;
  const hue = (250 + 155 * steps) % 360;
  return dark
    ? atLuminance(hue, 0.6, 0.13 + 0.5 * steps)
    : atLuminance(hue, 0.6, 0.3 - 0.255 * steps);
}

/** `#rrggbb`, or the `rgb(…)` a browser computes; null for anything else. */
export function parseColour(text: string): Rgb | null {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text.trim());
  if (hex !== null)
    return [parseInt(hex[1] ?? '', 16), parseInt(hex[2] ?? '', 16), parseInt(hex[3] ?? '', 16)];
  const parts = /^rgba?\(\s*(\d+)[ ,]+(\d+)[ ,]+(\d+)/.exec(text);
  return parts === null ? null : [Number(parts[1]), Number(parts[2]), Number(parts[3])];
}

export function css([r, g, b]: Rgb): string {
  return `rgb(${r},${g},${b})`;
}

export function mix(a: Rgb, b: Rgb, part: number): Rgb {
  return [0, 1, 2].map((at) =>
    Math.round(a[at as 0 | 1 | 2] * (1 - part) + b[at as 0 | 1 | 2] * part),
  ) as unknown as Rgb;
}

/** Black or white, whichever can be read better on it. */
export function inkOn(ground: Rgb): '#0d0f12' | '#ffffff' {
  return luminance(ground) > 0.19 ? '#0d0f12' : '#ffffff';
}
