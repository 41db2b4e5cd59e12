// SPDX-License-Identifier: Apache-2.0
// The weight of the built page: node tests/web/sizes.mjs DIR

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { assert, equal, Tap, webDir } from './support.mjs';

const dir = process.argv[2];
const files = new Map();
for (const name of (await readdir(dir)).sort()) files.set(name, await readFile(join(dir, name)));
const html = String(files.get('index.html'));
const packed = (names) => names.reduce((sum, name) => sum + gzipSync(files.get(name), { level: 9 }).length, 0);
const scripts = [...files.keys()].filter((name) => name.endsWith('.js'));
/** What is imported before anything runs, from a built file; `import(` is not that. */
const imports = (name) => [...String(files.get(name)).matchAll(/\b(?:import|from)\s*"\.\/([^"]+)"/g)].map(([, path]) => path);
const reached = (names) => names.reduce((all, name) => (all.has(name) ? all : new Set([...all, name, ...reached(imports(name))])), new Set());
/** What the document asks for itself, and what that imports. */
const FIRST = [...reached([...html.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, path]) => path))].sort();
/** Fetched when something first needs it: a name, and a hash where esbuild cut the file off. */
const PAGES = (await readdir(join(webDir, 'src', 'pages'))).map((name) => name.replace('.ts', '')).filter((name) => name !== 'runs');
const LATE = [/^graph_layout\.js$/, ...['capture_dialog', ...PAGES].map((name) => new RegExp(`^${name}_[A-Z0-9]{8}\\.js$`))];

const tap = new Tap();
await tap.test('only what the page needs is there', () => equal(
  [...files.keys()].filter((name) => !/^chunk_[A-Z0-9]{8}\.js$/.test(name) && !LATE.some((late) => late.test(name))),
  ['icon.svg', 'index.html', 'main.css', 'main.js', 'sign_in.css', 'sign_in.html', 'sign_in.js', 'theme.js'],
));
await tap.test(`JavaScript of the first route, ${(packed(FIRST) / 1000).toFixed(1)} KB gzip, stays below 180 KB`, () => {
  assert(FIRST.includes('main.js') && FIRST.includes('theme.js'), 'the document loads no script');
  assert(packed(FIRST) <= 180_000);
});
await tap.test(`all JavaScript, ${(packed(scripts) / 1000).toFixed(1)} KB gzip, stays below 340 KB`, () => assert(packed(scripts) <= 340_000)); // each page is fetched when it is opened
await tap.test('what comes late is there once, and nothing imports it at once', () => {
  for (const late of LATE) {
    equal(scripts.filter((name) => late.test(name)).length, 1, String(late));
    assert(!FIRST.some((name) => late.test(name)) && !scripts.some((name) => imports(name).some((other) => late.test(other))), String(late));
  }
});
await tap.test('the document names what the first route imports, and nothing else', () => {
  equal([...html.matchAll(/<link rel="modulepreload" href="([^"]+)"/g)].map(([, path]) => path), FIRST.filter((name) => !['main.js', 'theme.js'].includes(name)));
});
await tap.test(`CSS, ${(packed(['main.css']) / 1000).toFixed(1)} KB gzip, stays below 20 KB`, () => assert(packed(['main.css']) <= 20_000));
await tap.test('no inline script or style, nothing from elsewhere', () => {
  assert(!/<style|\sstyle=|<script(?![^>]*\ssrc=)/.test(html), 'inline code in index.html');
  assert(!/\b(?:https?:)?\/\/[a-z]/i.test(html), 'an absolute address in index.html');
  assert(!/url\(\s*["']?(?:https?:)?\/\//i.test(String(files.get('main.css'))), 'an absolute address in main.css');
  assert(!/@import|@font-face/.test(String(files.get('main.css'))), 'fonts or imports in main.css');
});
tap.end();
