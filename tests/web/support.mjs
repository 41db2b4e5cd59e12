// SPDX-License-Identifier: Apache-2.0
// What the tests of the page share: packages of web/, a TAP printer, a browser.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const webDir = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'web');
export const requireWeb = createRequire(join(webDir, 'package.json'));

export class Tap {
  #count = 0;
  #failed = 0;
  #only;

  constructor(only = '') {
    this.#only = new RegExp(only);
  }

  async test(name, body) {
    if (!this.#only.test(name)) return;
    this.#count += 1;
    try {
      await body();
      console.log(`ok ${this.#count} - ${name}`);
    } catch (error) {
      this.#failed += 1;
      console.log(`not ok ${this.#count} - ${name}`);
      for (const line of String(error?.stack ?? error).split('\n').slice(0, 12)) console.log(`# ${line}`);
    }
  }

  end() {
    console.log(`1..${this.#count}`);
    process.exitCode = this.#failed > 0 ? 1 : 0;
  }
}

export function assert(condition, message) {
  if (!condition) throw new Error(message);
}

export function equal(actual, expected, message = 'values differ') {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${message}\n  got      ${a}\n  expected ${b}`);
}

/** What the program built beside the page in `dist` says of these tools: the true `/tools` for servers that are made up. */
export function toolsOf(dist, names) {
  const all = JSON.parse(execFileSync(join(dist, '..', '..', 'src', 'tfprof'), ['tools', '--format', 'json']));
  const found = all.filter(({ name }) => names.includes(name));
  if (found.length !== names.length) throw new Error(`no such tools: ${names}`);
  return found;
}

/**
 * The browser that tests use, or undefined where there is none: CHROMIUM, or Debian's. Its headless shell has the same engine
 * as the whole browser, opens a page in half the time, and so comes first.
 */
export const browserPath = [process.env.CHROMIUM, '/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => path !== undefined && path !== '' && existsSync(path));

export async function launch() {
  const { chromium } = requireWeb('playwright-core');
  return chromium.launch({
    executablePath: browserPath,
    timeout: 120_000, // machines that test are busy
    // One process for all pages of a context: starting one is a third of opening a page.
    args: ['--renderer-process-limit=1', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}
