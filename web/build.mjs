// SPDX-License-Identifier: Apache-2.0
// Bundles the page: node build.mjs --outdir DIR [--packages FILE]
// Reads only this folder and node_modules, writes only DIR and FILE, and gives the same bytes for the same input. FILE lists the
// packages that went into the page: scripts/third_party.py collects their notices.
import { build } from 'esbuild';
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { outdir: { type: 'string', default: join(here, 'dist') }, packages: { type: 'string' } } });
const outdir = resolve(values.outdir);

/** `./pages` of main.ts: every module of pages/ that exports `page`, each a file of its own that is fetched when it is wanted. */
const pages = {
  name: 'pages',
  setup(builder) {
    builder.onResolve({ filter: /^\.\/pages$/ }, () => ({ path: 'pages', namespace: 'made' }));
    builder.onLoad({ filter: /^pages$/, namespace: 'made' }, async () => {
      const folder = join(here, 'src', 'pages');
      const list = [];
      for (const file of (await readdir(folder)).sort()) {
        if (file.endsWith('.ts') && /^export const page\b/m.test(await readFile(join(folder, file), 'utf8'))) list.push(basename(file, '.ts'));
      }
      return { contents: `export const PAGES = {\n${list.map((name) => `${name}: () => import('./pages/${name}'),\n`).join('')}};\n`, resolveDir: join(here, 'src') };
    });
  },
};

await mkdir(outdir, { recursive: true });
const script = {
  absWorkingDir: here,
  outdir,
  bundle: true,
  minify: true,
  sourcemap: false,
  target: ['es2022'],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};
const { metafile: { inputs: classic } } = await build({ ...script, entryPoints: { graph_layout: 'src/graph_layout.ts', theme: 'src/theme_first.ts', sign_in: 'src/sign_in.ts' }, format: 'iife' });
// A module imported by import() becomes a file of its own, and so does code that several files share. Their names hold a hash
// of their contents: a page that is open while its server is replaced finds nothing rather than something that does not fit.
const { metafile: { inputs: modules, outputs } } = await build({ ...script, entryPoints: { main: 'src/main.ts' }, format: 'esm', plugins: [pages], splitting: true, chunkNames: '[name]_[hash]' });
const { metafile: { inputs: styles } } = await build({
  absWorkingDir: here,
  entryPoints: { main: 'src/styles/main.css', sign_in: 'src/styles/sign_in.css' },
  outdir,
  bundle: true,
  minify: true,
  target: ['chrome111', 'firefox114', 'safari16.4'],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
});

// The document names all that main.js imports at once, so that nothing is found one after the other.
const first = new Set();
function follow(path) {
  for (const one of outputs[path].imports) {
    if (one.kind !== 'import-statement' || first.has(one.path)) continue;
    first.add(one.path);
    follow(one.path);
  }
}
follow(Object.keys(outputs).find((path) => basename(path) === 'main.js'));
const links = [...first].map((path) => `<link rel="modulepreload" href="${basename(path)}">\n`).sort().join('');
const html = await readFile(join(here, 'src', 'index.html'), 'utf8');
const main = '<script type="module" src="main.js"></script>\n';
if (!html.includes(main)) throw new Error('index.html does not load main.js');
await writeFile(join(outdir, 'index.html'), html.replace(main, links + main));
for (const name of ['icon.svg', 'sign_in.html']) await copyFile(join(here, 'src', name), join(outdir, name));

if (values.packages !== undefined) {
  const packages = new Set();
  for (const path of Object.keys({ ...classic, ...modules, ...styles })) {
    const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
    if (name !== undefined) packages.add(name);
  }
  await writeFile(values.packages, [...packages].sort().map((name) => `${name}\n`).join(''));
}
