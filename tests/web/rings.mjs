// SPDX-License-Identifier: Apache-2.0
// Which folder of web/src may import which: node tests/web/rings.mjs
// core knows only itself, components know core, pages know both and never each other.

import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { equal, Tap, webDir } from './support.mjs';

const src = join(webDir, 'src');
const ALLOWED = {
  core: ['core'],
  components: ['core', 'components'],
  timeline: ['core', 'components', 'timeline'],
  pages: ['core', 'components', 'timeline'],
};
/** Packages end up where they are wrapped and nowhere else. */
const PACKAGES = { 'chart.js': ['components'], 'tabulator-tables': ['components'], '@dagrejs/dagre': ['components'] };

const ring = (path) => (path.includes('/') ? path.split('/')[0] : 'main');
const tap = new Tap();
const wrong = [];
for (const entry of await readdir(src, { recursive: true })) {
  const path = String(entry).replace(/\\/g, '/');
  if (!path.endsWith('.ts')) continue;
  const text = await readFile(join(src, path), 'utf8');
  for (const [, target] of text.matchAll(/\b(?:from |import\()'([^']+)'/g)) {
    if (target.startsWith('.')) {
      const to = relative(src, resolve(dirname(join(src, path)), target)).replace(/\\/g, '/');
      const allowed = ALLOWED[ring(path)];
      if (allowed !== undefined && !allowed.includes(ring(to))) wrong.push(`${path} imports ${to}`);
    } else if (!(PACKAGES[target] ?? []).includes(ring(path))) {
      wrong.push(`${path} imports ${target}`);
    }
  }
}
await tap.test('imports point inward only', () => equal(wrong, []));
await tap.test('no markup is built from text', async () => {
  const found = [];
  for (const entry of await readdir(src, { recursive: true })) {
    if (!String(entry).endsWith('.ts')) continue;
    const text = await readFile(join(src, String(entry)), 'utf8');
    if (/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(text)) found.push(String(entry));
  }
  equal(found, []);
});
tap.end();
