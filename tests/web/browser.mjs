// SPDX-License-Identifier: Apache-2.0
// A browser for the tests of one program: fresh pages, and what went wrong in any of them.

import { readFile } from 'node:fs/promises';
import { note } from './shapes.mjs';
import { assert, browserPath, equal, launch, requireWeb } from './support.mjs';

/** Machines that test are busy: a test waits for something to happen, and this long is never. PATIENCE_S is for people. */
const PATIENCE_MS = Number(process.env.PATIENCE_S ?? 90) * 1000;

if (browserPath === undefined) {
  console.log('1..0 # SKIP there is no Chromium; CHROMIUM names one');
  process.exit(0);
}
export const browser = await launch();
/** What pages had to complain about, and what they asked of others than their own server. */
export const complaints = [];
export const foreign = new Set();

const axeSource = await readFile(requireWeb.resolve('axe-core/axe.min.js'), 'utf8');

/** Contexts that wait for the next page of their origin. To start a process and compile the scripts is half the work of opening a page. */
const kept = new Map();
const home = new WeakMap();
/** Pages that are being closed. */
const leaving = new WeakSet();

/**
 * A context without cookies and stored values, for one page at a time. A second page in it keeps the process, which has
 * compiled the scripts, and empties the storage: only inside one process is that seen at once.
 */
async function contextFor(root) {
  const { origin } = new URL(root);
  const left = kept.get(origin)?.pop();
  if (left !== undefined) return left;
  const context = await browser.newContext(LIKE_ALL);
  const keeper = await context.newPage();
  // Whatever the answer is, the page is one of the origin.
  await keeper.goto(new URL('theme.js', root).href).catch(() => undefined);
  return { origin, context, keeper };
}

const LIKE_ALL = { viewport: { width: 1440, height: 900 }, acceptDownloads: true, reducedMotion: 'reduce' };

/**
 * A page that has nothing from those before it, and asks nothing of others than `root`. `quiet` where requests fail on
 * purpose; `expected` tells which complaints are no surprise; `more` is for a context that only this page has, `own` is one
 * like that of others, and `beside` is a page with which it shares one. Answers that are made up in place of the server's are
 * noted for checkMocks().
 */
export async function freshPage(root, { theme = 'light', width = 1440, height = 900, quiet = false, expected = () => false, own = false, beside = null, ...more } = {}) {
  const shared = own || beside !== null || Object.values(more).some((value) => value !== undefined) ? null : await contextFor(root);
  const context = shared?.context ?? beside?.context() ?? await browser.newContext({ ...LIKE_ALL, ...more });
  const page = await context.newPage();
  if (shared !== null) home.set(page, shared);
  if (width !== LIKE_ALL.viewport.width || height !== LIKE_ALL.viewport.height) await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme });
  if (SHAKEN !== null) await shake(page);
  const { origin, pathname } = new URL(root);
  const route = page.route.bind(page);
  page.route = (where, handler) => route(where, async (one, request) => {
    const fulfill = one.fulfill.bind(one);
    one.fulfill = (answer) => {
      const url = new URL(request.url());
      if (answer.json !== undefined && url.pathname.startsWith(pathname)) note(url.pathname.slice(pathname.length), url.searchParams, answer.status ?? answer.response?.status() ?? 200, answer.json);
      return fulfill(answer);
    };
    try {
      await handler(one, request);
    } catch (error) {
      // A page that is closed takes its requests with it.
      if (!leaving.has(page) && !page.isClosed()) throw error;
    }
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

/** Closes a page, and leaves nothing of it to the next one. After a failure, what is open is not used again. */
export async function close(page) {
  leaving.add(page);
  const shared = home.get(page);
  if (shared === undefined) {
    await page.context().close();
    return;
  }
  await page.close();
  const { origin, context, keeper } = shared;
  await context.clearCookies();
  const clean = await keeper.evaluate(() => { localStorage.clear(); return localStorage.length === 0; }).catch(() => false);
  if (!clean) await context.close();
  else if (kept.has(origin)) kept.get(origin).push(shared);
  else kept.set(origin, [shared]);
}

/** SHAKE_PAGES=RATE,LONGEST_MS: slow processors, and answers and timers that come later than is likely (docs/testing.md). */
const SHAKEN = process.env.SHAKE_PAGES === undefined ? null : process.env.SHAKE_PAGES.split(',').map(Number);

async function shake(page) {
  const [rate, longest = 0] = SHAKEN;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  await page.addInitScript((most) => {
    const later = window.setTimeout.bind(window);
    const ask = window.fetch.bind(window);
    window.setTimeout = (act, ms = 0, ...rest) => later(act, ms + 0.3 * most * Math.random() ** 2, ...rest);
    window.fetch = async (...rest) => {
      const answer = await ask(...rest);
      await new Promise((done) => { later(done, most * Math.random() ** 2); });
      rest[1]?.signal?.throwIfAborted();
      return answer;
    };
  }, longest);
}

/** The address once it says all that it will: a page that is left writes what it held back to spare the browser's history. */
export const addressOf = (page) => page.evaluate(() => {
  window.dispatchEvent(new Event('pagehide'));
  return location.href;
});
export const hashOf = async (page) => new URL(await addressOf(page)).hash;
export const params = async (page) => Object.fromEntries(new URLSearchParams((await hashOf(page)).split('?')[1] ?? ''));

/** The head says what the run is, which is asked for by itself: the last thing that an ordinary page gets. */
export const whole = (page) => page.waitForSelector('.head-facts:not(:empty)');

/** Waits until what is read is what is wanted, a value or what a test of it says; tells what was there if that never happens. */
export async function becomes(read, wanted, message = 'it never became so') {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const seen = await read();
    if (typeof wanted === 'function' ? wanted(seen) : JSON.stringify(seen) === JSON.stringify(wanted)) return;
    if (performance.now() > end) {
      if (typeof wanted === 'function') throw new Error(`${message}: ${JSON.stringify(seen)}`);
      equal(seen, wanted, message);
    }
    await new Promise((done) => { setTimeout(done, 50); });
  }
}

/** Changes the address as a person would, once it says all that it will. */
export const edit = (page, from, to) => page.evaluate(([old, text]) => {
  window.dispatchEvent(new Event('pagehide'));
  location.hash = old === null ? location.hash + text : location.hash.replace(new RegExp(old), text);
}, [from?.source ?? null, to]);

/** Waits until something is said because of `act`: what is said goes away by itself, on a busy machine before a test looks. */
export async function hears(page, pattern, act) {
  await page.evaluate(() => {
    const toast = document.querySelector('.toast');
    window.heard = [];
    new MutationObserver(() => window.heard.push(toast.textContent)).observe(toast, { childList: true, characterData: true, subtree: true });
  });
  await act();
  await page.waitForFunction((source) => window.heard.some((text) => new RegExp(source).test(text)), pattern.source);
}

/** Two frames: a late layout is done by then. */
export const framed = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));

/** A test body on a page that is closed in any case. */
export async function using(opening, body) {
  const page = await opening;
  try {
    await body(page);
  } catch (error) {
    leaving.add(page);
    await page.context().close();
    throw error;
  }
  await close(page);
}

/** The rules that look at colours; all others see the same in both themes. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * Looks for what is not accessible in the page as it is now: by all rules in the theme that it has, and then by those about
 * colours in the other theme, which it is left in. `within` is what is new since the whole page was looked at, as selectors.
 */
export async function axe(page, what, ...within) {
  if (await page.evaluate(() => window.axe === undefined)) await page.evaluate(axeSource);
  const theme = await page.getAttribute('html', 'data-theme');
  const other = theme === 'dark' ? 'light' : 'dark';
  await scan(page, `${what}, ${theme}`, within, {});
  await page.emulateMedia({ colorScheme: other });
  await page.waitForSelector(`html[data-theme=${other}]`, { state: 'attached' });
  await framed(page);
  await scan(page, `${what}, ${other}`, within, { runOnly: COLOURS });
}

async function scan(page, what, within, rules) {
  const { violations } = await page.evaluate(([parts, options]) => {
    const there = parts.filter((part) => document.querySelector(part) !== null);
    if (there.length === 0 && parts.length > 0) throw new Error(`there is no ${parts.join(', ')}`);
    return window.axe.run(there.length > 0 ? { include: there } : document, { resultTypes: ['violations'], ...options });
  }, [within, rules]);
  assert(violations.length === 0, `${what}: ${violations.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes.slice(0, 2).map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join(' | ')}`).join('\n')}`);
}

/** The text of the file that a click downloads. */
export async function downloaded(page, click) {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return readFile(await download.path(), 'utf8');
}
