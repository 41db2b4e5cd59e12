// SPDX-License-Identifier: Apache-2.0
// Modules of the page by themselves, for tests of what is pure in them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { requireWeb, webDir } from './support.mjs';

const dir = await mkdtemp(join(tmpdir(), 'tfprof-web-'));
after(() => rm(dir, { recursive: true, force: true }));

/** The module by its name below web/src: core/format. */
export async function load(name) {
  const outfile = join(dir, `${name.replaceAll('/', '_')}.mjs`);
  await requireWeb('esbuild').build({ entryPoints: [join(webDir, 'src', `${name}.ts`)], outfile, bundle: true, format: 'esm', logLevel: 'error' });
  return import(pathToFileURL(outfile));
}
