// SPDX-License-Identifier: Apache-2.0
// Getting in, as a person does: node tests/web/access.mjs SERVER
// The printed address, the form, a link from another site, and a server that was restarted meanwhile.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { addressOf, axe, browser, complaints, freshPage, using } from './browser.mjs';
import { assert, equal, Tap } from './support.mjs';

const [server, pattern = ''] = process.argv.slice(2);
const scratch = await mkdtemp(join(tmpdir(), 'tfprof-web-'));
const running = new Set();

async function serve(...args) {
  const program = spawn(server, ['--demo', '--auth', 'token', ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  running.add(program);
  const [line] = await once(createInterface({ input: program.stdout }), 'line');
  return { program, url: new URL(/http:\/\/\S+/.exec(line)[0]) };
}

async function stop(program) {
  running.delete(program);
  if (program.exitCode !== null) return;
  program.kill();
  await once(program, 'exit');
}

const open = (url, options = {}) => freshPage(url.href, { expected: (text) => /status of 40[13]/.test(text), ...options });
/** The first of the things that the page shows after signing in. */
const inside = (page) => page.waitForSelector('.finding, .tabulator-row');
const tap = new Tap(pattern);

const { program, url } = await serve('--port', '0', '--url-prefix', '/some/prefix');
const root = url.origin + url.pathname;
const token = url.searchParams.get('token');

await tap.test('the printed address lets in, and the token is gone from it', () => using(open(url), async (page) => {
  await page.goto(`${url.href}#/kernel_stats`);
  await inside(page);
  await page.waitForFunction(() => location.hash.startsWith('#/kernel_stats'));
  equal(await page.evaluate(() => location.search), '');
  assert((await addressOf(page)).startsWith(`${root}#/kernel_stats`), await addressOf(page));
  const [cookie, ...more] = await page.context().cookies();
  equal(more, []);
  equal([cookie.name, cookie.path, cookie.httpOnly, cookie.sameSite], [`tfprof_${url.port}`, '/some/prefix/', true, 'Strict']);
  assert(!cookie.value.includes(token), 'the cookie is the token');
  equal(await page.evaluate(() => document.cookie), '');
  await page.reload();
  await inside(page);
}));

await tap.test('the form', () => using(open(url, { width: 1000, height: 760 }), async (page) => {
  await page.goto(`${root}#/kernel_stats`);
  await page.waitForSelector('h1:has-text("asks for its token")');
  await axe(page, 'the form');
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, 'sign-in.png') });
  await page.fill('#token', 'wrong');
  await page.click('button');
  await page.waitForSelector('.why:has-text("not the token")');
  await axe(page, 'the form after a wrong token');
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, 'sign-in-wrong.png') });
  // The whole address does as well.
  await page.fill('#token', url.href);
  await page.keyboard.press('Enter');
  await inside(page);
  await page.waitForFunction(() => location.hash.startsWith('#/kernel_stats'));
}));

await tap.test('320 pixels wide', () => using(open(url, { width: 320, height: 640 }), async (page) => {
  await page.goto(root);
  await page.waitForSelector('#token');
  assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
}));

await tap.test('a link from another site', async () => {
  // Another site for the browser: cookies tell names apart, and 127.0.0.1 is not localhost.
  const other = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<a id="with" href="${url.href}">with</a> <a id="without" href="${root}">without</a>`);
  });
  await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
  const from = `http://localhost:${other.address().port}/`;
  try {
    await using(freshPage(from, { quiet: true }), async (page) => {
      for (const link of ['#with', '#without']) {
        await page.goto(from);
        await page.click(link);
        await inside(page);
        equal(new URL(await addressOf(page)).search, '');
      }
    });
  } finally {
    other.close();
    other.closeAllConnections();
  }
});

await tap.test('a server that was restarted says what to do', () => using(open(url, { quiet: true }), async (page) => {
  const file = join(scratch, 'token');
  const first = await serve('--port', '0', '--token-file', file);
  const secret = (await readFile(file, 'utf8')).trim();
  await page.goto(`${first.url.href}?token=${secret}#/kernel_stats`);
  await inside(page);
  await stop(first.program);
  const second = await serve('--port', first.url.port, '--token-file', file);
  await page.evaluate(() => document.querySelector('a[href="#/"], a[href^="#/overview_page"]')?.click());
  await page.waitForSelector('.state:has-text("asks for its token")');
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, 'signed-out.png') });
  await page.click('button:has-text("Enter the token")');
  await page.fill('#token', secret);
  await page.click('button:has-text("Open")');
  await inside(page);
  await stop(second.program);
}));

await tap.test('nothing complained', () => equal(complaints, []));
await browser.close();
await stop(program);
for (const one of running) await stop(one);
await rm(scratch, { recursive: true, force: true });
tap.end();
