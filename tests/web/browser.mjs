// A browser for the tests of one program: fresh pages, and what went wrong in any of them.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { assert, launch, requireWeb } from './support.mjs';

/** Machines that test are busy: a test waits for something to happen, and this long is never. */
const PATIENCE_MS = 90_000;

if (!existsSync(process.env.CHROMIUM ?? '/usr/bin/chromium')) {
  console.log('1..0 # SKIP there is no Chromium; CHROMIUM names one');
  process.exit(0);
}
export const browser = await launch();
/** What pages had to complain about, and what they asked of others than their own server. */
export const complaints = [];
export const foreign = new Set();

const axeSource = await readFile(requireWeb.resolve('axe-core/axe.min.js'), 'utf8');

/**
 * A page that has nothing from those before it, and asks nothing of others than `root`. `quiet` where requests fail on
 * purpose; `expected` tells which complaints are no surprise.
 */
export async function freshPage(root, { theme = 'light', width = 1440, height = 900, quiet = false, expected = () => false, ...more } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true, reducedMotion: 'reduce', ...more });
  const page = await context.newPage();
  const { origin } = new URL(root);
  page.setDefaultTimeout(PATIENCE_MS);
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!['blob:', 'data:'].includes(url.protocol) && url.origin !== origin) foreign.add(url.href);
  });
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    if (!quiet && ['error', 'warning'].includes(message.type()) && !expected(message.text())) complaints.push(`${page.url()}: ${message.text()}`);
  });
  return page;
}

/** Two frames: what a late one lays out has been by then. */
export const framed = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));

/** A test body on a page that is closed in any case. */
export async function using(opening, body) {
  const page = await opening;
  try {
    await body(page);
  } finally {
    await page.context().close();
  }
}

export async function axe(page, what) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  assert(violations.length === 0, `${what}: ${violations.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes.slice(0, 2).map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join(' | ')}`).join('\n')}`);
}

/** The text of the file that a click downloads. */
export async function downloaded(page, click) {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return readFile(await download.path(), 'utf8');
}
