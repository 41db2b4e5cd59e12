// SPDX-License-Identifier: Apache-2.0
// What the page shows while an answer is made: node tests/web/progress.mjs URL MANY [PATTERN]
// Answers are held back, and how far they are is made up, so that nothing here depends on how fast a machine is.

import { axe, browser, close, complaints, foreign, freshPage, using as usingPage } from './browser.mjs';
import { checkMocks } from './shapes.mjs';
import { assert, equal, Tap } from './support.mjs';

const root = new URL(process.argv[2] ?? 'http://127.0.0.1:6006/').href;
const tap = new Tap(process.argv[4]);
const [RUN] = await (await fetch(`${root}runs`)).json();
const progress = (more) => ({ state: 'running', stage: 'reading', bytes_done: 0, bytes_total: 0, events: 0, hosts_done: 0, hosts_total: 1, position: null, clients: 1, elapsed_ms: 1, ...more });

/** A page whose requests of `held` wait until it is released; /progress says what `now` is, and is noted. */
async function open(hash, held, options = {}) {
  const page = await freshPage(root, options);
  const state = { now: { state: 'none' }, asked: [], release: () => undefined };
  const released = new Promise((resolve) => { state.release = resolve; });
  await page.route(held, async (route) => {
    await released;
    // A page that is closed takes its requests with it.
    await route.continue().catch(() => undefined);
  });
  await page.route('**/progress?*', async (route) => {
    state.asked.push({ of: new URL(route.request().url()).searchParams.get('of'), at: performance.now() });
    await route.fulfill({ json: state.now }).catch(() => undefined);
  });
  await page.goto(root + hash);
  page.told = state;
  return page;
}

const using = (hash, held, body, options) => usingPage(open(hash, held, options), body);
const bar = '[role=progressbar]';
const shows = (page, text) => page.waitForFunction(([selector, wanted]) => document.querySelector(selector)?.getAttribute('aria-valuetext')?.includes(wanted) === true && document.querySelector('.progress-text').textContent.includes(wanted), [bar, text]);
const valueNow = (page) => page.getAttribute(bar, 'aria-valuenow');

await tap.test('the server knows the route', async () => {
  equal(await (await fetch(`${root}progress?of=data`)).json(), { state: 'none' });
});

await tap.test('an answer that takes long has a bar with stage, bytes and events', () => using(`#/overview_page?run=${RUN}`, '**/data?*', async (page) => {
  await page.waitForFunction(() => document.querySelector('.loader[aria-busy=true]') !== null);
  while (page.told.asked.length < 1) await page.waitForTimeout(20);
  const asked = new URLSearchParams(page.told.asked[0].of.split('?')[1]);
  equal([page.told.asked[0].of.split('?')[0], asked.get('run'), asked.get('tag')], ['data', RUN, 'overview_page']);
  equal(await page.isVisible(bar), false, 'nothing is known, so nothing is shown');
  page.told.now = progress({ state: 'waiting', stage: 'waiting', position: 3 });
  await shows(page, 'number 3 in the queue');
  equal(await valueNow(page), null, 'nobody knows how long others take');
  page.told.now = progress({ bytes_done: 20 * 1048576, bytes_total: 80 * 1048576, events: 1234567 });
  await shows(page, 'Reading the capture · 20.00 MiB of 80.00 MiB · 1,234,567 events');
  equal(await valueNow(page), '25');
  await axe(page, 'while waiting');
  page.told.now = progress({ stage: 'grouping', bytes_done: 83886080, bytes_total: 83886080, events: 2700000 });
  await shows(page, 'Grouping events into steps');
  equal(await valueNow(page), null);
  page.told.now = progress({ stage: 'analysing', hosts_done: 64, hosts_total: 256, bytes_done: 1, bytes_total: 1 });
  await shows(page, 'host 65 of 256');
  equal(await valueNow(page), '25');
  page.told.release();
  await page.waitForFunction(() => document.querySelector('.loader[aria-busy=true]') === null);
  equal(await page.isVisible(bar), false);
  const gaps = page.told.asked.slice(1).map(({ at }, index) => at - page.told.asked[index].at);
  assert(gaps.length > 2 && gaps.every((gap) => gap > 150), `asked too often: ${gaps}`);
  const asks = page.told.asked.length;
  await page.waitForTimeout(1000);
  assert(page.told.asked.length <= asks + 1, 'it goes on asking though all is there');
}));

await tap.test('the trace viewer has one too', () => using(`#/trace_viewer?run=${RUN}`, '**/trace_viewer/tracks?*', async (page) => {
  page.told.now = progress({ stage: 'analysing', bytes_done: 5, bytes_total: 5, events: 42 });
  await shows(page, 'Analysing');
  assert(page.told.asked[0].of.startsWith('trace_viewer/tracks?'), page.told.asked[0].of);
  page.told.release();
  await page.waitForSelector('.trace-foot');
}));

await tap.test('a file that is still being written: the page says so, and opens it when it is complete', async () => {
  const page = await freshPage(root, { quiet: true });
  const asked = [];
  const changing = (host) => ({ status: 503, json: { error: { code: 'changing', message: `file ${host}.xplane.pb of run x is still being written`, hint: 'it will open when that is complete', file: 'x' } } });
  await page.route('**/data?*', (route) => {
    asked.push(performance.now());
    const answer = [changing('h0'), changing('h0'), changing('h1')][asked.length - 1];
    return answer === undefined ? route.continue() : route.fulfill(answer);
  });
  try {
    await page.goto(`${root}#/kernel_stats?run=${RUN}`);
    await page.waitForFunction(() => document.querySelector('.loader .state')?.textContent.includes('h0.xplane.pb of run x is still being written'));
    assert(await page.isVisible('text=checks again every 5 seconds'), 'it does not say that it looks again');
    await page.evaluate(() => { document.querySelector('.loader .state').dataset.first = 'yes'; });
    await axe(page, 'while a file is written');
    while (asked.length < 2) await page.waitForTimeout(50);
    assert(asked[1] - asked[0] > 4000, `asked again after ${asked[1] - asked[0]} ms`);
    await page.waitForFunction(() => document.querySelector('.loader[aria-busy=true]') === null);
    equal(await page.evaluate(() => document.querySelector('.loader .state').dataset.first), 'yes', 'the same words were written anew');
    await page.click('text=Check now');
    await page.waitForFunction(() => document.querySelector('.loader .state')?.textContent.includes('h1.xplane.pb'));
    // And then by itself.
    await page.waitForFunction(() => document.querySelector('.loader .slot')?.textContent.includes('still being written') === false && document.querySelector('.loader[aria-busy=true]') === null);
    equal(asked.length, 4);
  } finally {
    await close(page);
  }
});

await tap.test('a narrow page in the dark', () => using(`#/kernel_stats?run=${RUN}`, '**/data?*', async (page) => {
  page.told.now = progress({ bytes_done: 1048576, bytes_total: 80 * 1048576, events: 1234567, hosts_done: 3, hosts_total: 256 });
  await shows(page, 'host 4 of 256');
  equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true);
  await axe(page, 'while waiting');
  page.told.release();
}, { theme: 'dark', width: 360, height: 740 }));

await tap.test('what was made up has the shape of what the server answers', () => checkMocks(process.argv[3]));
await tap.test('nothing is asked of others, and nothing goes wrong unseen', () => {
  equal([...foreign], []);
  equal(complaints, []);
});

tap.end();
await browser.close();
