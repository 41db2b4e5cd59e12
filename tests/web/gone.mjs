// SPDX-License-Identifier: Apache-2.0
// A server that ends and is started again, and a run that is deleted and comes back, while all pages are open:
// node tests/web/gone.mjs SERVER SYNTH [PATTERN]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { axe, becomes, browser, close, complaints, edit, freshPage } from './browser.mjs';
import { checkMocks } from './shapes.mjs';
import { assert, equal, Tap } from './support.mjs';

const [, , program, synth, pattern] = process.argv;
const scratch = await mkdtemp(join(tmpdir(), 'tfprof-gone-'));
const logs = join(scratch, 'logs');
for (const run of ['one', 'two']) await once(spawn(synth, ['-o', logs, '--run', run, '--hosts', '2', '--steps', '4', '--events-per-step', '600', '--allocations', '20'], { stdio: 'ignore' }), 'exit');

let server;
async function start(port = 0) {
  server = spawn(program, ['--no-cache', '--port', String(port), logs], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(createInterface({ input: server.stdout }), 'line');
  return new URL(/http:\/\/\S+/.exec(line)[0]);
}
async function stop() {
  server.kill();
  await once(server, 'exit');
}

const url = await start();
const root = url.href;
const tap = new Tap(pattern);
const TOOLS = (await (await fetch(new URL('tools?run=one', root))).json()).filter(({ available }) => available).map(({ name }) => name);
const hashOf = (tool) => `#/${tool}?run=one`;
const whole = '.tiles, .trace-foot, .tabulator-row, .state:not(.failed)';

const opened = (hash, options = {}) => freshPage(root, { quiet: true, ...options }).then(async (page) => {
  await page.goto(root + hash);
  await page.waitForSelector(whole);
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
  return page;
});
const pages = new Map();
const headings = new Map();
/**
 * Every tool in a page of its own, all in one process. They live through everything that happens, and are brought back to where
 * they were without being loaded again.
 */
const all = async () => {
  for (const tool of [...TOOLS, '']) {
    const hash = tool === '' ? '#/' : hashOf(tool);
    if (!pages.has(tool)) {
      const [beside] = pages.values();
      const page = await opened(hash, beside === undefined ? { own: true } : { beside });
      pages.set(tool, page);
      headings.set(tool, await page.textContent('h1'));
    } else {
      await pages.get(tool).evaluate((there) => { location.hash = there; }, hash);
    }
  }
  for (const [tool, page] of pages) {
    await page.waitForFunction((text) => document.querySelector('h1')?.textContent === text, headings.get(tool));
    await page.waitForSelector('.detail, .trace-detail', { state: 'hidden' });
    await page.waitForSelector(whole);
    await calm(page, tool);
  }
};
const trouble = (page, text) => page.waitForSelector(`.trouble:has-text("${text}")`);
const well = (page) => page.waitForSelector('.trouble', { state: 'hidden' });
/** Nothing is on its way, and nothing has failed. */
const calm = (page, tool) => page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null && document.querySelector('.failed') === null && document.querySelector('.slow:not([hidden])') === null)
  .catch((error) => { throw new Error(`${tool}: ${error.message}`); });
/** Something that only the server knows. */
const pickEvent = (page) => edit(page, /(&sel=[^&]*)?$/, '&sel=0.2.1');

await tap.test('a server that ends: every page says so without being touched, and goes on when it is back', async () => {
  await all();
  await stop();
  for (const page of pages.values()) await trouble(page, 'The server does not answer');
  await axe(pages.get('overview_page'), 'no server');
  // Requests made meanwhile fail with words, none waits for ever.
  await pages.get('kernel_stats').click('.tabulator-row >> nth=0');
  await pages.get('kernel_stats').waitForSelector('.detail .failed');
  await pages.get('overview_page').click('nav a:text-is("TF stats")');
  await pages.get('overview_page').waitForSelector('.failed');
  await pages.get('').click('.run-link >> nth=0');
  await pages.get('').waitForSelector('.failed');
  const trace = pages.get('trace_viewer');
  // Another stretch than before: what a page has it needs not ask for.
  await edit(trace, null, '&from=3000000&to=3001000');
  await trace.waitForSelector('.slow:not([hidden]):has-text("could not be loaded")');
  await becomes(() => trace.textContent('.trace-tally'), (text) => !text.includes('loading'), 'it still says that it loads');
  await pickEvent(trace);
  await trace.waitForSelector('.trace-drawers .failed');
  await start(url.port);
  for (const [tool, page] of pages) {
    await well(page);
    await page.waitForSelector(whole);
    await calm(page, tool);
  }
  await pages.get('kernel_stats').waitForSelector('.detail canvas');
  await pages.get('trace_viewer').waitForSelector('.trace-detail:not([hidden])');
  await becomes(() => pages.get('overview_page').textContent('h1'), 'TF stats');
});

await tap.test('a page whose code could not be fetched comes when the server is back', async () => {
  const page = await opened(hashOf('overview_page'));
  await stop();
  await page.click('nav a:text-is("Trace viewer")');
  await page.waitForSelector('.failed');
  await start(url.port);
  await page.waitForSelector('.trace-foot');
  await close(page);
});

await tap.test('a server that says that it cannot do its work is believed', async () => {
  const page = await freshPage(root, { quiet: true });
  let unwell = true;
  await page.route('**/healthz', (route) => (unwell ? route.fulfill({ status: 503, json: { error: { code: 'io', message: 'the log directory <b>x</b> cannot be read' } } }) : route.continue()));
  await page.goto(root + hashOf('kernel_stats'));
  await trouble(page, 'The log directory <b>x</b> cannot be read.');
  unwell = false;
  await well(page);
  // A proxy in front of no server.
  await page.route('**/healthz', (route) => (unwell ? route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }) : route.continue()));
  unwell = true;
  await trouble(page, 'The server does not answer');
  unwell = false;
  await page.click('.trouble button');
  await well(page);
  await close(page);
});

await tap.test('a run that is deleted: every page says so, nothing loads for ever, and it opens again by itself', async () => {
  await all();
  const folder = join(logs, 'plugins/profile/one');
  await rename(folder, join(scratch, 'away'));
  // The server looks at the directory about every second.
  while ((await fetch(`${root}run_info?run=one`)).ok) await new Promise((done) => { setTimeout(done, 100); });
  const trace = pages.get('trace_viewer');
  await pickEvent(trace);
  await trace.waitForSelector('.trace-drawers .failed:has-text("There is no run")');
  await edit(trace, null, '&from=1000000&to=1001000');
  await trace.waitForSelector('.slow:not([hidden]):has-text("could not be loaded")');
  await becomes(() => trace.textContent('.trace-tally'), (text) => !text.includes('loading'), 'it still says that it loads');
  await pages.get('kernel_stats').click('.tabulator-row >> nth=0');
  await pages.get('kernel_stats').waitForSelector('.detail .failed:has-text("There is no run")');
  for (const tool of TOOLS) await trouble(pages.get(tool), 'This run is gone');
  await axe(pages.get('kernel_stats'), 'a run that is gone');
  // Another run has nothing to do with it.
  await pages.get('overview_page').evaluate(() => { location.hash = '#/overview_page?run=two'; });
  await well(pages.get('overview_page'));
  await rename(join(scratch, 'away'), folder);
  for (const [tool, page] of pages) {
    await well(page);
    await page.waitForSelector(whole);
    await calm(page, tool);
  }
  await trace.waitForSelector('.trace-detail:not([hidden])');
});

await tap.test('a log directory that vanishes: the pages say so and not that there is nothing, and go on when it is back', async () => {
  await all();
  const asked = async () => (await fetch(`${root}runs`)).status;
  await rename(logs, join(scratch, 'moved'));
  while (await asked() !== 503) await new Promise((done) => { setTimeout(done, 100); });
  for (const page of pages.values()) await trouble(page, 'cannot read the log directory');
  await pages.get('overview_page').click('nav a:text-is("TF stats")');
  await pages.get('overview_page').waitForSelector('.failed:has-text("is not there any more")');
  // A page that is opened meanwhile.
  const late = await freshPage(root, { quiet: true });
  await late.goto(`${root}#/`);
  await late.waitForSelector('.failed:has-text("is not there any more")');
  assert(!(await late.textContent('main')).includes('No runs'), 'it says that there are no runs');
  await axe(late, 'no log directory');
  await rename(join(scratch, 'moved'), logs);
  for (const [tool, page] of [...pages, ['late', late]]) {
    await well(page);
    await page.waitForSelector(whole);
    await calm(page, tool);
  }
  await close(late);
  await becomes(() => pages.get('overview_page').textContent('h1'), 'TF stats');
});

await tap.test('a link to a run that is not there opens it once it is', async () => {
  const folder = join(logs, 'plugins/profile/two');
  await rename(folder, join(scratch, 'away'));
  while ((await fetch(`${root}run_info?run=two`)).ok) await new Promise((done) => { setTimeout(done, 100); });
  const page = await freshPage(root, { quiet: true });
  await page.goto(`${root}#/kernel_stats?run=two`);
  await page.waitForSelector('.failed');
  await rename(join(scratch, 'away'), folder);
  await page.waitForSelector('.tabulator-row');
  await close(page);
});

await tap.test('what was made up has the shape of what the server answers', () => checkMocks(root));
await tap.test('the browser had nothing to complain about', () => equal([...new Set(complaints)], []));

await browser.close();
await stop();
await rm(scratch, { recursive: true, force: true });
tap.end();
