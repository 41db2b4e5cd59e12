// SPDX-License-Identifier: Apache-2.0
// A browser for the tests of one program: fresh pages, and what went wrong in any of them.

import { readFile } from 'node:fs/promises';
import { note } from './shapes.mjs';
import { assert, browserPath, launch, requireWeb } from './support.mjs';

/** Machines that test are busy: a test waits for something to happen, and this long is never. */
const PATIENCE_MS = 90_000;

if (browserPath === undefined) {
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
 * purpose; `expected` tells which complaints are no surprise. Answers that are made up in place of the server's are noted for
 * checkMocks().
 */
export async function freshPage(root, { theme = 'light', width = 1440, height = 900, quiet = false, expected = () => false, ...more } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true, reducedMotion: 'reduce', ...more });
  const page = await context.newPage();
  const { origin, pathname } = new URL(root);
  const route = page.route.bind(page);
  page.route = (where, handler) => route(where, (one, request) => {
    const fulfill = one.fulfill.bind(one);
    one.fulfill = (answer) => {
      const url = new URL(request.url());
      if (answer.json !== undefined && url.pathname.startsWith(pathname)) note(url.pathname.slice(pathname.length), url.searchParams, answer.status ?? answer.response?.status() ?? 200, answer.json);
      return fulfill(answer);
    };
    return handler(one, request);
  });
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

/** The address once it says all that it will: a page that is left writes what it held back to spare the browser's history. */
export const addressOf = (page) => page.evaluate(() => {
  window.dispatchEvent(new Event('pagehide'));
  return location.href;
});
export const hashOf = async (page) => new URL(await addressOf(page)).hash;
export const params = async (page) => Object.fromEntries(new URLSearchParams((await hashOf(page)).split('?')[1] ?? ''));

/** Two frames: a late layout is done by then. */
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

/** The rules that look at colours; all others see the same in both themes. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * Looks for what is not accessible in the page as it is now: by all rules in the theme that it has, and then by those about
 * colours in the other theme, which it is left in.
 */
export async function axe(page, what) {
  if (await page.evaluate(() => window.axe === undefined)) await page.evaluate(axeSource);
  const theme = await page.getAttribute('html', 'data-theme');
  const other = theme === 'dark' ? 'light' : 'dark';
  await scan(page, `${what}, ${theme}`, {});
  await page.emulateMedia({ colorScheme: other });
  await page.waitForSelector(`html[data-theme=${other}]`, { state: 'attached' });
  await framed(page);
  await scan(page, `${what}, ${other}`, { runOnly: COLOURS });
}

async function scan(page, what, rules) {
  const { violations } = await page.evaluate((options) => window.axe.run(document, { resultTypes: ['violations'], ...options }), rules);
  assert(violations.length === 0, `${what}: ${violations.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes.slice(0, 2).map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join(' | ')}`).join('\n')}`);
}

/** The text of the file that a click downloads. */
export async function downloaded(page, click) {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return readFile(await download.path(), 'utf8');
}
