// Bundles the page: node build.mjs --outdir DIR
// Reads only this folder and node_modules, writes only DIR, and gives the same bytes for the same input.
import { build } from 'esbuild';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { outdir: { type: 'string', default: join(here, 'dist') } } });
const outdir = resolve(values.outdir);

await mkdir(outdir, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: {
    main: 'src/main.ts',
    theme: 'src/theme_first.ts',
  },
  outdir,
  bundle: true,
  minify: true,
  sourcemap: false,
  format: 'iife',
  target: ['es2022'],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
});
await build({
  absWorkingDir: here,
  entryPoints: { main: 'src/styles/main.css' },
  outdir,
  bundle: true,
  minify: true,
  target: ['chrome111', 'firefox114', 'safari16.4'],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
});
for (const name of ['index.html', 'icon.svg']) {
  await copyFile(join(here, 'src', name), join(outdir, name));
}
