// SPDX-License-Identifier: Apache-2.0
// Tools that were added by their own files: node new_tool.mjs URL TFPROF; new_tool.py starts it.

import { execFileSync } from 'node:child_process';
import { axe, browser, complaints, freshPage, hashOf, using } from './browser.mjs';
import { assert, equal, Tap } from './support.mjs';

const [root, cli] = process.argv.slice(2);
const api = async (path) => (await fetch(new URL(path, root))).json();
const [{ run, hosts }] = (await api('run_list')).runs.filter((one) => one.hosts.length > 1);
const place = (tool, more = '') => `${root}#/${tool}?run=${encodeURIComponent(run)}${more}`;
const cells = (page, column) => page.locator(`.tabulator-row .tabulator-cell[tabulator-field="${column}"]`).allTextContents();
const tap = new Tap();

await tap.test('the server and tfprof list them last, with what they say of themselves', async () => {
  const tools = await api('tools');
  equal(tools.slice(-2).map(({ name, title, key }) => [name, title, key]), [['toy_names', 'Toy names', 'y'], ['toy_tables', 'Toy tables', 'z']]);
  equal(JSON.parse(execFileSync(cli, ['tools', '--format', 'json'])), tools);
  assert(String(execFileSync(cli, ['toy_names', '--help'])).includes('--unit letters|bits'), 'its options are not in its help');
  equal((await api(`data?run=${encodeURIComponent(run)}&tag=toy_names_before&unit=bytes`)).error?.code, 'bad_query');
});
await tap.test('one with a page shows it: by its letter, by its link, by an older name', () => using(freshPage(root), async (page) => {
  await page.goto(place('overview_page'));
  await page.getByRole('navigation').getByRole('link', { name: 'Toy names' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('y');
  await page.locator('ul.toy li').first().waitFor();
  equal(await page.locator('ul.toy li').allTextContents(), hosts);
  equal(await page.getByRole('searchbox').first().getAttribute('aria-label'), 'Filter hosts by name');
  await page.goto(place('toy_names_before'));
  await page.waitForURL((url) => url.hash.startsWith('#/toy_names?'));
}));
await tap.test('one without a page shows its tables, with its parameters as controls', () => using(freshPage(root), async (page) => {
  const letters = hosts.map((host) => host.length);
  await page.goto(place('toy_tables'));
  await page.locator('.tabulator-row').first().waitFor();
  equal(await cells(page, 'host'), hosts);
  equal((await cells(page, 'length')).map(Number), letters);
  await axe(page, 'tables');
  await page.getByLabel('unit').selectOption('bits');
  await page.waitForFunction((bits) => document.querySelector('.tabulator-cell[tabulator-field="length"]')?.textContent === String(bits), 8 * letters[0]);
  assert((await hashOf(page)).includes('p.unit=bits'), 'the address does not have the parameter');
  await page.getByLabel('least').fill('x');
  await page.getByLabel('least').press('Enter');
  await page.getByText('is not a whole number from 0 on').first().waitFor();
  await page.getByLabel('least').fill('');
  await page.getByLabel('least').press('Enter');
  await page.locator('.tabulator-row').first().waitFor();
}));
await tap.test('no page complained', () => equal(complaints.filter((text) => !text.includes('400')), []));
await browser.close();
tap.end();
