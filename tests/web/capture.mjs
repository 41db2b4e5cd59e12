// SPDX-License-Identifier: Apache-2.0
// The capture dialog in a browser, with real servers on both sides:
// node tests/web/capture.mjs SERVER SYNTH FAKE_PROFILER [PATTERN [SCREENSHOTS]]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { axe, browser, close, complaints, freshPage, hears } from './browser.mjs';
import { assert, equal, Tap } from './support.mjs';

const [, , server, synth, profiler, pattern, screenshots] = process.argv;
if (profiler === undefined || profiler === '') {
  console.log('1..0 # SKIP needs libnghttp2');
  process.exit(0);
}

const scratch = await mkdtemp(join(tmpdir(), 'tfprof-capture-'));
const children = [];

async function run(program, ...args) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  children.push(child);
  const lines = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  while (lines.length === 0) await Promise.race([once(reader, 'line'), once(child, 'exit').then(() => { throw new Error(`${program} ended`); })]);
  return { child, lines };
}

/** A program to capture from. */
async function fake(behave = 'ok', settings = {}) {
  const { lines } = await run(profiler, behave, ...Object.entries(settings).map(([key, value]) => `${key}=${value}`));
  return { address: `127.0.0.1:${lines[0]}`, lines };
}

async function serve(...args) {
  const folder = await mkdtemp(join(scratch, 'log-'));
  const { lines } = await run(server, '--port', '0', ...args, folder);
  const url = new URL(/http:\/\/\S+/.exec(lines[0])[0]);
  url.hostname = '127.0.0.1';
  return { folder, url: url.href };
}

const made = spawn(synth, ['-o', join(scratch, 'synth'), '--run', 'r', '--hosts', '1', '--steps', '3', '--events-per-step', '300'], { stdio: 'ignore' });
await once(made, 'exit');
const file = join(scratch, 'synth/plugins/profile/r/worker-00.xplane.pb');

const tap = new Tap(pattern);

async function open(url, { storage, ...options } = {}) {
  const page = await freshPage(url, { width: 1280, ...options, own: true, storageState: storage, expected: (text) => /status of 40[03]/.test(text) });
  await page.goto(url);
  await page.waitForSelector('.first-run, .tabulator-row, .finding');
  return page;
}

/** Looked at, and to be looked at by people. */
async function shot(page, name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  assert(!wide, `${name}: the page scrolls sideways`);
  await axe(page, name);
  if (screenshots === undefined) return;
  for (const theme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: theme });
    await page.screenshot({ path: join(screenshots, `${name}-${theme}.png`) });
  }
}

const dialog = async (page) => {
  await page.click('.capture-button');
  await page.waitForSelector('dialog.capture .capture-form');
};
const input = (page, label) => page.getByLabel(label, { exact: true });
const begin = async (page, addresses, ms = 200) => {
  await dialog(page);
  await input(page, 'Programs').fill(addresses);
  await input(page, 'Duration, ms').fill(String(ms));
  await page.click('dialog .primary');
};

await tap.test('success: a new run opens by itself', async () => {
  const target = await fake('ok', { file });
  const { url } = await serve();
  const page = await open(url);
  await shot(page, 'empty');
  // The list of runs offers it as well.
  await page.click('.first-run button:has-text("Capture from a running program")');
  await page.waitForSelector('.capture-form');
  await shot(page, 'form');
  await input(page, 'Programs').fill(`grpc://${target.address}`);
  await input(page, 'Duration, ms').fill('1500');
  await page.locator('.level >> nth=0').getByLabel('all', { exact: true }).check();
  await page.locator('.level >> nth=2').getByLabel('on', { exact: true }).check();
  assert((await page.textContent('.level >> nth=2')).includes('Every Python call'), 'the cost is not told');
  equal(await page.textContent('.same .command'), `tfprof capture ${target.address} --logdir ${await page.evaluate(async () => (await (await fetch('capture_status')).json()).logdir)} --duration 1500ms --host-level 3 --python-level 1`);
  await page.click('dialog .primary');
  await page.waitForSelector('.capture-host[data-state]');
  await page.waitForFunction(() => /Recording, .* left/.test(document.querySelector('.host-text')?.textContent ?? ''));
  await shot(page, 'recording');
  await page.waitForURL((to) => to.hash.startsWith('#/overview_page?run='));
  await page.waitForSelector('.finding');
  equal(await page.locator('dialog').count(), 0);
  assert(target.lines.some((line) => line.includes('levels=311')), target.lines.join());
  // Its values come back, but for the name.
  await dialog(page);
  equal(await input(page, 'Programs').inputValue(), `grpc://${target.address}`);
  equal(await input(page, 'Duration, ms').inputValue(), '1500');
  await close(page);
});

await tap.test('partial failure: what came is kept, what did not is explained', async () => {
  const [good, busy, old, empty] = [await fake('ok', { file }), await fake('busy'), await fake('old', { disk: join(scratch, 'disk') }), await fake('empty')];
  const { url } = await serve();
  const page = await open(url);
  await begin(page, [good, busy, old, empty, { address: '127.0.0.1:1' }].map((one) => one.address).join(', '));
  await page.waitForSelector('button:has-text("Open the run")');
  equal(await page.textContent('.capture-state'), 'Captured from 1 of 5 programs');
  equal(await page.$$eval('.capture-host', (items) => items.map((item) => item.dataset.state)), ['stored', 'failed', 'elsewhere', 'empty', 'failed']);
  const text = await page.textContent('.capture-hosts');
  for (const part of ['already being profiled', 'on its own disk', 'scp -r 127.0.0.1:', 'nothing was traced', 'No connection']) assert(text.includes(part), `${part} is not said`);
  await shot(page, 'partial');
  await page.click('button:has-text("Open the run")');
  await page.waitForURL((to) => to.hash.startsWith('#/overview_page?run='));
  await close(page);
});

await tap.test('a server that others can reach: commands in place of a dead button', async () => {
  const { url, folder } = await serve('--host', '0.0.0.0');
  const page = await open(url);
  await page.click('.capture-button');
  await page.waitForSelector('dialog .snippets');
  const text = await page.textContent('dialog.capture');
  for (const part of ['--allow-capture', `tfprof capture localhost:6009 --logdir ${basename(folder)}`, 'tf.profiler.experimental.client.trace', 'jax.collect_profile']) assert(text.includes(part), `${part} is not there`);
  equal(await page.locator('dialog .primary').count(), 0);
  await shot(page, 'refused');
  await close(page);
});

await tap.test('320 pixels wide', async () => {
  const { url } = await serve();
  const page = await open(url, { width: 320, height: 640 });
  await shot(page, 'narrow-page');
  await dialog(page);
  await page.click('summary:has-text("More options")');
  await shot(page, 'narrow');
  const wide = await page.$eval('dialog', (one) => one.scrollWidth > one.clientWidth);
  assert(!wide, 'the dialog scrolls sideways');
  await close(page);
});

await tap.test('cancel: the program is told, nothing is stored, and the settings come back', async () => {
  const target = await fake('ok', { file });
  const { url } = await serve();
  const page = await open(url);
  await begin(page, target.address, 60_000);
  await page.waitForFunction(() => /Recording/.test(document.querySelector('.host-text')?.textContent ?? ''));
  await page.click('dialog button:has-text("Cancel")');
  await page.waitForSelector('button:has-text("Back to the settings")');
  equal(await page.textContent('.capture-state'), 'Cancelled');
  await shot(page, 'cancelled');
  assert(target.lines.some((line) => line.startsWith('Terminate session=')), 'the program was not told');
  equal(await (await fetch(new URL('runs', url))).json(), []);
  await page.click('button:has-text("Back to the settings")');
  equal(await input(page, 'Duration, ms').inputValue(), '60000');
  await close(page);
});

await tap.test('a target that is not allowed is refused while it is typed, and by the server', async () => {
  const target = await fake('ok', { file });
  const { url } = await serve('--capture-allow', `trainer:6009,${target.address}`);
  const page = await open(url);
  await dialog(page);
  await input(page, 'Programs').fill('10.0.0.1:22');
  assert((await page.textContent('.field-problem:not([hidden])')).includes('is not allowed to connect to 10.0.0.1:22'), 'it is not refused');
  equal(await page.getAttribute('dialog .primary', 'aria-disabled'), 'true');
  await shot(page, 'refused-target');
  const answer = await page.evaluate(async () => {
    const response = await fetch('capture_profile', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"service_addr":"10.0.0.1:22"}' });
    return [response.status, (await response.json()).error.code];
  });
  equal(answer, [403, 'forbidden']);
  await input(page, 'Programs').fill(target.address);
  await page.click('dialog .primary');
  await page.waitForURL((to) => to.hash.includes('run='));
  await close(page);
});

await tap.test('everything is checked as it is typed, and reached by keyboard', async () => {
  const { url } = await serve();
  const page = await open(url);
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await page.waitForSelector('.capture-form');
  // Nothing is wrong yet; sending is what shows it.
  equal(await page.locator('.field-problem:not([hidden])').count(), 0);
  await page.keyboard.press('Enter');
  equal(await page.textContent('.field-problem:not([hidden])'), 'Give the address of a running program, as host:port');
  equal(await page.evaluate(() => document.activeElement?.closest('.field')?.querySelector('label')?.textContent), 'Programs');
  await page.keyboard.type('localhost');
  assert((await page.textContent('.field-problem:not([hidden])')).includes('the port is missing'), 'no word about the port');
  await page.keyboard.type(':6009');
  equal(await page.locator('.field-problem:not([hidden])').count(), 0);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('0');
  equal(await page.textContent('.field-problem:not([hidden])'), 'From 1 to 3,600,000 ms');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  equal(await page.textContent('.level >> nth=0 >> .cost'), await page.evaluate(() => 'Also the smallest operations. Captures are much larger, and a program with many small operations slows down noticeably.'));
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelector('dialog') === null);
  await close(page);
});

await tap.test('a dialog that is closed finds its capture again', async () => {
  const target = await fake('ok', { file });
  const { url } = await serve();
  const page = await open(url);
  await begin(page, target.address, 2500);
  await page.waitForSelector('.capture-host');
  await hears(page, /The capture continues/, () => page.keyboard.press('Escape'));
  await page.click('.capture-button');
  await page.waitForSelector('.capture-host');
  assert(/Recording|Connecting|Begins/.test(await page.textContent('.host-text')), 'it is not shown');
  await page.keyboard.press('Escape');
  // It appears in the list by itself.
  await page.waitForSelector('.run-link');
  await page.click('.capture-button');
  await page.waitForSelector('button:has-text("Open the run")');
  await page.click('button:has-text("Open the run")');
  await page.waitForURL((to) => to.hash.includes('run='));
  await close(page);
});

await tap.test('what a program says is text, never markup', async () => {
  const target = await fake('status', { status: 13, message: '%3Cimg%20src=x%20onerror=alert(1)%3E%3Cb%3Ebold' });
  const { url } = await serve();
  const page = await open(url);
  await begin(page, target.address);
  await page.waitForSelector('button:has-text("Back to the settings")');
  assert((await page.textContent('.host-text')).includes('<img src=x onerror=alert(1)><b>bold'), 'it is not shown as it is');
  equal(await page.locator('.capture-host img').count(), 0);
  await close(page);
});

await tap.test('nothing complained', () => equal(complaints, []));

await browser.close();
for (const child of children) {
  child.stdin.end();
  if (child.exitCode === null) child.kill('SIGTERM');
}
await Promise.all(children.map((child) => (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null)));
await rm(scratch, { recursive: true, force: true });
tap.end();
