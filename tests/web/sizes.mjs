// The weight of the built page: node tests/web/sizes.mjs DIR

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { assert, equal, Tap } from './support.mjs';

const dir = process.argv[2];
const files = new Map();
for (const name of (await readdir(dir)).sort()) files.set(name, await readFile(join(dir, name)));
const weight = (suffix) => [...files].filter(([name]) => name.endsWith(suffix)).reduce((sum, [, body]) => sum + gzipSync(body, { level: 9 }).length, 0);

const tap = new Tap();
await tap.test('only what the page needs is there', () => equal([...files.keys()], ['icon.svg', 'index.html', 'main.css', 'main.js', 'theme.js']));
await tap.test(`JavaScript, ${(weight('.js') / 1000).toFixed(1)} KB gzip, stays below 200 KB for the first route`, () => assert(weight('.js') <= 200_000));
await tap.test(`CSS, ${(weight('.css') / 1000).toFixed(1)} KB gzip, stays below 20 KB`, () => assert(weight('.css') <= 20_000));
await tap.test('no inline script or style, nothing from elsewhere', () => {
  const html = String(files.get('index.html'));
  assert(!/<style|\sstyle=|<script(?![^>]*\ssrc=)/.test(html), 'inline code in index.html');
  assert(!/\b(?:https?:)?\/\/[a-z]/i.test(html), 'an absolute address in index.html');
  assert(!/url\(\s*["']?(?:https?:)?\/\//i.test(String(files.get('main.css'))), 'an absolute address in main.css');
  assert(!/@import|@font-face/.test(String(files.get('main.css'))), 'fonts or imports in main.css');
});
tap.end();
