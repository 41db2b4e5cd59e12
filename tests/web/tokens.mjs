// SPDX-License-Identifier: Apache-2.0
// The colours of the page, measured: node tests/web/tokens.mjs
// Contrast as WCAG 2 counts it; palette distances in OKLab under the three colour blindnesses
// (Machado, Oliveira and Fernandes 2009, severity 1, applied to linear RGB).

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assert, Tap, webDir } from './support.mjs';

const css = await readFile(join(webDir, 'src', 'styles', 'tokens.css'), 'utf8');

function block(selector) {
  const start = css.indexOf(`${selector} {`);
  const text = css.slice(start, css.indexOf('}', start));
  return Object.fromEntries([...text.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})\b/gi)].map(([, name, hex]) => [name, hex]));
}

const light = block(':root');
const themes = { light, dark: { ...light, ...block(':root[data-theme="dark"]') } };

const linear = (hex) => [1, 3, 5].map((at) => {
  const value = parseInt(hex.slice(at, at + 2), 16) / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
});
const luminance = (hex) => {
  const [r, g, b] = linear(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (hi + 0.05) / (lo + 0.05);
};
const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, value, index) => sum + value * vector[index], 0));
const clamp = (vector) => vector.map((value) => Math.min(1, Math.max(0, value)));

const VISIONS = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
};

function oklab(rgb) {
  const [l, m, s] = times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], rgb).map(Math.cbrt);
  return [
    0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
  ];
}

const CATEGORIES = ['device-compute', 'device-to-device', 'collectives', 'host-compute', 'kernel-launch', 'input', 'output', 'compilation', 'all-others'];
/** What the chosen palettes reach, rounded down; a change must not be worse. */
const DISTANCE = { light: 0.09, dark: 0.1 };
const GROUNDS = ['ground', 'ground-2', 'ground-3'];
const TEXT = [
  ...['ink', 'ink-2'].flatMap((ink) => GROUNDS.map((ground) => [ink, ground])),
  ['ink-3', 'ground'], ['ink-3', 'ground-2'], ['ink', 'accent-soft'], ['ink-2', 'accent-soft'], ['ink', 'warn-soft'], ['ink-2', 'warn-soft'], ['ink', 'bad-soft'], ['ink-2', 'bad-soft'],
  ['accent', 'ground'], ['accent', 'ground-2'], ['accent', 'accent-soft'], ['on-accent', 'accent'],
  ['good', 'ground'], ['good', 'ground-2'], ['good', 'accent-soft'], ['bad', 'ground'], ['bad', 'ground-2'], ['bad', 'accent-soft'], ['warn', 'warn-soft'], ['bad', 'bad-soft'],
  ['ground', 'ink'],
];

const tap = new Tap();
for (const [theme, tokens] of Object.entries(themes)) {
  await tap.test(`${theme}: text has a contrast of 4.5`, () => {
    const poor = TEXT.map(([ink, ground]) => [ink, ground, contrast(tokens[ink], tokens[ground])]).filter(([, , ratio]) => ratio < 4.5);
    assert(poor.length === 0, poor.map(([ink, ground, ratio]) => `${ink} on ${ground}: ${ratio.toFixed(2)}`).join('; '));
  });
  await tap.test(`${theme}: text inside a category's bar has a contrast of 4.5`, () => {
    const poor = CATEGORIES.map((name) => [name, contrast(tokens[`on-${name}`], tokens[name])]).filter(([, ratio]) => ratio < 4.5);
    assert(poor.length === 0, poor.map(([name, ratio]) => `${name}: ${ratio.toFixed(2)}`).join('; '));
  });
  await tap.test(`${theme}: categories and focus have a contrast of 3 on the ground`, () => {
    const poor = [...CATEGORIES, 'accent'].map((name) => [name, contrast(tokens[name], tokens.ground)]).filter(([, ratio]) => ratio < 3);
    assert(poor.length === 0, poor.map(([name, ratio]) => `${name}: ${ratio.toFixed(2)}`).join('; '));
  });
  for (const [vision, matrix] of Object.entries(VISIONS)) {
    await tap.test(`${theme}: categories can be told apart, ${vision} vision`, () => {
      const labs = CATEGORIES.map((name) => oklab(clamp(times(matrix, linear(tokens[name])))));
      let [closest, pair] = [Infinity, ''];
      for (let i = 0; i < labs.length; i += 1) {
        for (let j = 0; j < i; j += 1) {
          const distance = Math.hypot(...labs[i].map((value, axis) => value - labs[j][axis]));
          if (distance < closest) [closest, pair] = [distance, `${CATEGORIES[j]} and ${CATEGORIES[i]}`];
        }
      }
      assert(closest >= DISTANCE[theme] - 5e-4, `${pair} are only ${closest.toFixed(3)} apart`);
    });
  }
}
tap.end();
