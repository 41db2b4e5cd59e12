// SPDX-License-Identifier: Apache-2.0
// The page in a browser against a running server: node tests/web/run.mjs URL MANY EMPTY [PATTERN]
// MANY is a server with captures of many kinds, EMPTY one without any, for the shapes of answers that are made up here (serve.py).

import { addressOf, axe, becomes, browser, close, complaints, downloaded, edit, foreign, framed, freshPage, hashOf, params, using as usingPage, whole } from './browser.mjs';
import { checkMocks } from './shapes.mjs';
import { assert, equal, Tap } from './support.mjs';

const root = new URL(process.argv[2] ?? 'http://127.0.0.1:6006/');
if (!root.pathname.endsWith('/')) root.pathname += '/';
const api = async (path) => (await fetch(new URL(path, root))).json();

const tap = new Tap(process.argv[5]);

/** The run the tests look at: both tools, as many hosts as there are. */
const { runs } = await api('run_list');
let chosen = null;
for (const one of runs.slice(0, 60)) {
  const tools = await api(`run_tools?run=${encodeURIComponent(one.run)}`);
  if (tools.includes('kernel_stats') && tools.includes('framework_op_stats') && (chosen === null || one.hosts.length > chosen.hosts.length)) chosen = one;
}
if (chosen === null) throw new Error('the server has no run with both framework_op_stats and kernel_stats');
const RUN = chosen.run;
const BASE = runs.find((one) => one.run !== RUN && one.hosts.length === chosen.hosts.length)?.run ?? RUN;
const OPS = `#/framework_op_stats?run=${encodeURIComponent(RUN)}`;
const KERNELS = `#/kernel_stats?run=${encodeURIComponent(RUN)}`;

const fresh = (options) => freshPage(root, options);

const settled = async (page) => {
  // The overview has no grid at once, but a finding.
  await page.waitForSelector('.tabulator-row, .state, .finding');
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null && document.querySelector('.pending') === null);
  // A late frame lays the grid out; two make sure it has been.
  await framed(page);
};

async function open(hash, options) {
  const page = await fresh(options);
  await page.goto(root.href + hash);
  await settled(page);
  await toList(page, hash);
  return page;
}

/** A server with one run leads on to it; the list is one step back then. */
async function toList(page, hash) {
  if (!hash.startsWith('#/?') || await page.textContent('h1') === 'Runs') return;
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.waitForSelector('h1:text-is("Runs")');
  await settled(page);
}

const using = (hash, options, body) => usingPage(open(hash, options), body);

const column = (page, id) => page.$$eval(`.tabulator-cell[tabulator-field="${id}"]`, (cells) => cells.map((cell) => cell.textContent));
const tally = (page) => page.textContent('.table-card .card-head small');
const number = (text) => Number(text.replace(/,/g, '').replace('−', '-'));

function tables(body) {
  return (Array.isArray(body) ? body : [body]).map((table) => table.rows.map((row) => Object.fromEntries(table.cols.map((col, index) => [col.id.toLowerCase(), row.c[index]?.v ?? null]))));
}
const dataOf = async (tag) => tables(await api(`data?run=${encodeURIComponent(RUN)}&tag=${tag}&limit=0`));

function parseCsv(text) {
  const rows = [[]];
  let field = '';
  let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const letter = text[i];
    if (quoted) {
      if (letter !== '"') field += letter;
      else if (text[i + 1] === '"') { field += '"'; i += 1; } else quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === ',' || letter === '\n') {
      rows[rows.length - 1].push(field);
      field = '';
      if (letter === '\n') rows.push([]);
    } else field += letter;
  }
  rows.pop();
  return rows;
}

await tap.test('the list of runs is there, newest first', () => using('#/?t=runs', {}, async (page) => {
  equal(await page.textContent('h1'), 'Runs');
  const shown = await column(page, 'run');
  const time = (one) => one.time_ms;
  const expected = [...runs].sort((a, b) => time(b) - time(a)).map(time);
  equal(shown.map((run) => time(runs.find((one) => one.run === run))), expected.slice(0, shown.length));
  assert((await column(page, 'device')).every((text) => text !== '' && text !== '…'), 'a device is missing');
  assert((await column(page, 'tools')).some((text) => text.includes('TF stats')), 'no tool is named');
}));

await tap.test('one run only leads straight to its first tool', async () => {
  const page = await fresh();
  await page.route('**/run_list', (route) => route.fulfill({ json: { logdir: 'x', version: '0', runs: [chosen], problem: null } }));
  await page.goto(`${root.href}#/`);
  await page.waitForURL((url) => url.hash.startsWith('#/overview_page?run='));
  await page.click('.brand');
  await page.waitForSelector('h1:text-is("Runs")');
  await close(page);
});

await tap.test('ten thousand runs stay smooth, and a new one appears by itself', async () => {
  const page = await fresh();
  const many = Array.from({ length: 10_000 }, (_, index) => ({ run: `bulk/${index}`, hosts: ['h'], files: 1, bytes: 1000 + index, time_ms: 1_600_000_000_000 + index, time_from: 'file', modified_ms: 1_600_000_000_000 - index }));
  await page.route('**/run_list', (route) => route.fulfill({ json: { logdir: 'x', version: '0', runs: many, problem: null } }));
  const asked = [];
  await page.route('**/run_info?*', (route) => { asked.push(1); return route.fulfill({ json: { run: 'x', bytes: 1, device_type: 'GPU', device_count: 1 } }); });
  await page.route('**/run_tools?*', (route) => route.fulfill({ json: ['kernel_stats'] }));
  await page.goto(`${root.href}#/`);
  await settled(page);
  assert(await page.locator('.tabulator-row').count() < 120, 'all rows are in the document');
  assert(asked.length < 150, `${asked.length} runs were asked for`);
  equal((await column(page, 'run'))[0], 'bulk/9999');
  many.push({ run: 'bulk/new', hosts: ['h'], files: 1, bytes: 5, time_ms: 1_700_000_000_000, time_from: 'file', modified_ms: 1 });
  await page.waitForFunction(() => document.querySelector('.run-link')?.textContent === 'bulk/new');
  const started = Date.now();
  await page.fill('.find input', 'bulk/77 77');
  await page.waitForFunction(() => document.querySelectorAll('.tabulator-row').length < 60 && document.querySelector('.run-link').textContent.includes('77'));
  console.log(`# filtering 10,000 runs took ${Date.now() - started} ms`);
  await close(page);
});

await tap.test('no run: what was looked at and how to make one', async () => {
  const page = await fresh();
  await page.route('**/run_list', (route) => route.fulfill({ json: { logdir: '/logs', version: '0', runs: [], searched: { folders: 3, files: 9, truncated: false }, problem: { message: 'Nothing <b>here</b>.', hint: 'Look elsewhere.', found: ['ckpt/ (3 files)'] } } }));
  await page.goto(`${root.href}#/`);
  await page.waitForSelector('.first-run');
  const text = await page.textContent('.first-run');
  for (const part of ['Nothing <b>here</b>.', 'Look elsewhere.', '/logs', 'ckpt/ (3 files)', 'tf.profiler.experimental.start', 'profile_batch', 'jax.profiler.trace']) assert(text.includes(part), `${part} is missing`);
  await axe(page, 'no run');
  await close(page);
});

for (const [name, hash] of [['runs', '#/?t=x'], ['TF stats', OPS], ['TF stats, scope tree', `${OPS}&group=tree&dev=all`], ['TF stats, compared', `${OPS}&base=${encodeURIComponent(BASE)}&idle=in`],
  ['kernel stats', KERNELS], ['kernel stats, scatter', `${KERNELS}&chart=scatter&group=kernel`]]) {
  await tap.test(`accessible: ${name}`, () => using(hash, {}, (page) => axe(page, name)));
}

await tap.test('accessible: details, filters, chart as table, menus and dialogs', () => using(KERNELS, {}, async (page) => {
  await page.click('button:has-text("As table")');
  await page.click('button:has-text("Column filters")');
  await page.click('.tabulator-row >> nth=0');
  await page.waitForSelector('.detail table');
  await page.click('.menu > button[aria-label="Columns"]');
  await axe(page, 'details');
  await page.keyboard.press('Escape');
  await page.click('.picks .pick >> nth=0');
  await page.waitForSelector('.picks .menu-panel:visible');
  await axe(page, 'picker', '.picks');
  await page.keyboard.press('Escape');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  await axe(page, 'help', 'dialog[open]');
}));

await tap.test('deep links give the same page again', async () => {
  const [ops] = await dataOf('framework_op_stats');
  const someType = ops.find((op) => op.type !== 'IDLE').type;
  const links = [
    OPS, `${OPS}&q=${encodeURIComponent(someType.slice(0, 4))}`, `${OPS}&q=${encodeURIComponent(`^.*${someType.slice(0, 3)}`)}&re=1`, `${OPS}&sort=-occurrences`, `${OPS}&cols=!avg_time,host_or_device`,
    `${OPS}&group=type`, `${OPS}&group=tree`, `${OPS}&idle=in`, `${OPS}&dev=host`, `${OPS}&dev=all&chart=pie`, `${OPS}&f.occurrences=${encodeURIComponent('>1')}`,
    `${OPS}&base=${encodeURIComponent(BASE)}&sort=-delta`, `${OPS}&host=${encodeURIComponent(chosen.hosts[0])}`,
    KERNELS, `${KERNELS}&group=kernel&sort=-occurrences`, `${KERNELS}&group=op`, `${KERNELS}&group=type`, `${KERNELS}&chart=scatter`, `${KERNELS}&f.eligible=no`,
  ];
  // How many rows are drawn below the screen depends on what was there before; the first ones and their number say enough.
  const text = (page) => page.evaluate(() => {
    const grid = document.querySelector('main .tabulator-table');
    // Not there while another page comes.
    if (grid === null) return '';
    return [document.querySelector('main').innerText.replace(grid.innerText, ''), document.querySelector('.tabulator').getAttribute('aria-rowcount'),
      ...[...grid.querySelectorAll('.tabulator-row')].slice(0, 12).map((row) => row.innerText)].join('\n');
  });
  const seen = new Map();
  const alone = async (page, link) => {
    await page.goto('about:blank');
    await page.goto(root.href + link);
    await settled(page);
    await whole(page);
  };
  // First each by itself. Then the copied addresses one after the other in a page that has shown others, and a few by themselves.
  await using('#/?t=links', {}, async (page) => {
    for (const link of links) {
      await alone(page, link);
      seen.set(new URL(await addressOf(page)).hash, await text(page));
    }
    equal(seen.size, links.length, 'links that lead to the same address');
    for (const [copied, shown] of seen) {
      await page.goto(root.href + copied);
      await becomes(() => text(page), shown, copied);
      equal(await hashOf(page), copied);
    }
    for (const [copied, shown] of [...seen].filter((_, index) => index % 6 === 1)) {
      await alone(page, copied);
      await becomes(() => text(page), shown, copied);
      equal(await hashOf(page), copied);
    }
  });
});

await tap.test('what is done lands in the address, defaults do not, unknown keys stay', () => using(`${OPS}&zzz=1`, {}, async (page) => {
  await page.click('label:has-text("By type")');
  equal((await params(page)).group, 'type');
  await page.click('label:has-text("By op")');
  equal((await params(page)).group, undefined);
  await page.click('label:has-text("Include idle time")');
  equal((await params(page)).idle, 'in');
  await page.click('label:has-text("Pie")');
  equal((await params(page)).chart, 'pie');
  await page.click('.sort:has-text("Count")');
  equal((await params(page)).sort, '-occurrences');
  await page.click('.tabulator-row >> nth=1');
  await page.waitForSelector('.detail .full-name');
  assert((await params(page)).sel !== undefined, 'sel is missing');
  equal((await params(page)).zzz, '1');
  const sel = await page.textContent('.detail .full-name');
  const again = await open(await hashOf(page));
  await becomes(() => again.textContent('.detail .full-name'), sel);
  await close(again);
  await page.goBack();
  await page.waitForSelector('.detail', { state: 'hidden' });
}));

await tap.test('typing replaces, and at most four times a second', () => using(OPS, {}, async (page) => {
  const before = await page.evaluate(() => history.length);
  await page.evaluate(() => {
    window.writes = 0;
    window.begun = performance.now();
    const write = history.replaceState.bind(history);
    history.replaceState = (...rest) => { window.writes += 1; write(...rest); };
  });
  await page.locator('.find input').pressSequentially('conv2d filter', { delay: 20 });
  await page.waitForFunction(() => location.hash.includes('conv2d%20filter'));
  equal(await page.evaluate(() => history.length), before);
  const [writes, seconds] = await page.evaluate(() => [window.writes, (performance.now() - window.begun) / 1000]);
  assert(writes <= 1 + Math.ceil(seconds * 4), `${writes} writes in ${seconds} s`);
}));

await tap.test('text, regex and number filters', () => using(OPS, {}, async (page) => {
  const [, ops] = await dataOf('framework_op_stats');
  const device = ops.filter((op) => op.host_or_device === 'Device');
  const word = device[0].type.slice(0, 5).toLowerCase();
  const has = (op, test) => test(op.type) || test(op.operation);
  const shown = (wanted) => becomes(async () => Number((await tally(page)).split(' ')[0].replace(/,/g, '')), wanted, 'rows are shown');
  await page.fill('.find input', word);
  await page.waitForFunction((text) => document.querySelector('.chips')?.textContent.includes(text), word);
  await shown(device.filter((op) => has(op, (text) => text.toLowerCase().includes(word))).length);
  await page.click('.regex');
  await page.fill('.find input', '^[a-m].*\\d$');
  await page.waitForFunction(() => document.querySelector('.chips')?.textContent.includes('^[a-m]'));
  const pattern = /^[a-m].*\d$/i;
  await shown(device.filter((op) => pattern.test(`${op.type}\n${op.operation}`)).length);
  await page.fill('.find input', '(');
  await page.waitForSelector('.problem');
  await page.fill('.find input', '');
  await page.click('button:has-text("Column filters")');
  const middle = [...device].sort((a, b) => a.total_self_time - b.total_self_time)[Math.floor(device.length / 2)].total_self_time;
  await page.fill('.column-filter[data-column=total_self_time]', `>${middle}us`);
  await page.waitForFunction(() => document.querySelector('.chips')?.textContent.includes('Self'));
  await shown(device.filter((op) => op.total_self_time > middle).length);
  // The demo's operations take more than 10,000 µs in all, so the column is in milliseconds, and so is what is typed there.
  assert((await page.textContent('.tabulator-col[tabulator-field=total_self_time] .sort')).includes('(ms)'), 'the column is not in ms');
  await page.fill('.column-filter[data-column=total_self_time]', '>20');
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes('f.total_self_time=>20ms'));
  await shown(device.filter((op) => op.total_self_time > 20_000).length);
  await page.fill('.column-filter[data-column=total_self_time]', '>1e15');
  await page.waitForSelector('.matches-none');
  await page.click('button:has-text("Clear filter")');
  await page.waitForSelector('.tabulator-row');
  await shown(device.length);
}));

await tap.test('sorting by a heading, both ways', () => using(KERNELS, {}, async (page) => {
  await page.click('.sort:has-text("Avg")');
  await page.waitForFunction(() => document.querySelector('[tabulator-field=avg][aria-sort=descending]') !== null);
  const down = (await column(page, 'avg')).map(number);
  equal(down, [...down].sort((a, b) => b - a));
  await page.click('.sort:has-text("Avg")');
  await page.waitForFunction(() => document.querySelector('[tabulator-field=avg][aria-sort=ascending]') !== null);
  const up = (await column(page, 'avg')).map(number);
  equal(up, [...up].sort((a, b) => a - b));
}));

await tap.test('CSV is the table as it is seen', () => using(`${OPS}&sort=-occurrences&f.total_time=${encodeURIComponent('>1')}&cols=!avg_time`, {}, async (page) => {
  const text = await downloaded(page, () => page.click('.table-card button:has-text("CSV")'));
  const [head, ...rows] = parseCsv(text);
  const titles = await page.$$eval('.table-card .sort span', (spans) => spans.map((span) => span.textContent));
  equal(head, titles.map((title) => title.replace(/\((ms|s)\)$/, '(µs)')), 'a CSV has microseconds');
  assert(!head.some((title) => title.startsWith('Avg (')), 'a hidden column is in the CSV');
  const shown = await page.$$eval('.tabulator-row', (lines) => lines.map((line) => line.querySelector('[tabulator-field=operation]').textContent));
  const name = head.indexOf('Name');
  equal(rows.slice(0, shown.length).map((row) => row[name]), shown);
  const [, ops] = await dataOf('framework_op_stats');
  const expected = ops.filter((op) => op.host_or_device === 'Device' && op.total_time > 1);
  equal(rows.length, expected.length);
  const total = head.findIndex((title) => title.startsWith('Total'));
  for (const row of rows) {
    assert(expected.some((op) => op.operation === row[name] && op.total_time === Number(row[total])), `${row[name]} differs from the data`);
  }
  const counts = rows.map((row) => Number(row[head.indexOf('Count')]));
  equal(counts, [...counts].sort((a, b) => b - a));
}));

await tap.test('a bar filters chart and table; the chart has a table twin and files', () => using(`${OPS}&group=type`, {}, async (page) => {
  const summary = await page.getAttribute('.chart-card canvas', 'aria-label');
  assert(/largest/.test(summary), summary);
  await page.click('.chart-card button:has-text("As table")');
  const first = await page.textContent('.chart-card tbody th button >> nth=0');
  const csv = parseCsv(await downloaded(page, () => page.click('.chart-card button:has-text("CSV")')));
  equal(csv[1][0], first);
  await page.click('.chart-card tbody th button >> nth=0');
  await page.waitForFunction(() => document.querySelector('.chips')?.textContent.includes('Type'));
  await becomes(() => column(page, 'type'), (types) => types.length > 0 && types.every((type) => type === first), 'the table shows other types');
  await page.click('.chart-card button:has-text("As table")');
  const png = await downloaded(page, () => page.click('.chart-card button:has-text("PNG")'));
  assert(png.length > 1000, 'the picture is empty');
}));

await tap.test('a bar that is clicked draws another chart, or leaves the page, and nothing throws', async () => {
  const page = await open(OPS);
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  const canvas = page.locator('.chart-card canvas').first();
  const all = await tally(page);
  for (const y of [0.2, 0.3, 0.45]) {
    // As it is when the chart came under a pointer that did not move: the click is the first that it hears of, and a reason to draw.
    await canvas.evaluate((element, at) => {
      const { x, y: top, width, height } = element.getBoundingClientRect();
      element.dispatchEvent(new MouseEvent('click', { clientX: x + width * 0.5, clientY: top + height * at, bubbles: true }));
    }, y);
    await page.waitForFunction((text) => location.hash.includes('f.operation=') && document.querySelector('.table-card .card-head small').textContent !== text, all);
    await page.goBack();
    await page.waitForFunction((text) => document.querySelector('.table-card .card-head small').textContent === text, all);
    await framed(page);
  }
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.2);
  await page.click('.brand');
  await page.waitForSelector('h1:text-is("Runs")');
  await framed(page);
  equal(errors, []);
  await close(page);
});

await tap.test('1024 px: short values in the pickers are read whole', () => using(`${OPS}&base=${encodeURIComponent(BASE)}`, { width: 1024, height: 768 }, async (page) => {
  const cut = () => page.$$eval('.pick-value', (values) => values.filter((one) => one.offsetParent !== null && one.scrollWidth > one.clientWidth && one.textContent.length <= 11).map((one) => one.textContent));
  equal(await cut(), []);
  await page.click('button[aria-label="Stop comparing"]');
  await page.waitForFunction(() => !location.hash.includes('base='));
  await becomes(() => page.textContent('.picks .menu:nth-child(2) .pick-value'), 'none');
  await settled(page);
  equal(await cut(), []);
  equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, 'the page scrolls sideways');
}));

await tap.test('the scope tree opens and closes', () => using(`${OPS}&group=tree&dev=all`, {}, async (page) => {
  const before = Number(await page.getAttribute('.tabulator', 'aria-rowcount'));
  await page.locator('.twist:not(.open)').first().click();
  await page.waitForFunction((count) => Number(document.querySelector('.tabulator').getAttribute('aria-rowcount')) > count, before);
  assert((await hashOf(page)).includes('open='), 'what is open is not in the address');
}));

await tap.test('idle time comes and goes', () => using(OPS, {}, async (page) => {
  const [withIdle] = await dataOf('framework_op_stats');
  assert(!(await column(page, 'type')).includes('IDLE'), 'IDLE is shown');
  await page.click('label:has-text("Include idle time")');
  if (withIdle.some((op) => op.type === 'IDLE' && op.host_or_device === 'Device')) await page.waitForSelector('.tabulator-cell:has-text("IDLE")');
}));

await tap.test('kernels can be grouped, and eligible but unused ones found', () => using(KERNELS, {}, async (page) => {
  const [kernels] = await dataOf('kernel_stats');
  for (const [label, key] of [['Kernel', 'kernel_name'], ['Op', 'op_name']]) {
    await page.locator('.controls label').filter({ hasText: new RegExp(`^${label}$`) }).click();
    const expected = new Set(kernels.map((row) => row[key])).size;
    await page.waitForFunction((text) => document.querySelector('.table-card .card-head small').textContent.startsWith(text), expected.toLocaleString('en-US'));
    await becomes(async () => (await column(page, 'total')).map(number), (sums) => sums.length > 1 && JSON.stringify(sums) === JSON.stringify([...sums].sort((a, b) => b - a)), 'not the largest first');
  }
  await page.locator('.controls label').filter({ hasText: /^Kernel and op$/ }).click();
  await page.click('label:has-text("eligible but unused")');
  await page.waitForFunction(() => document.querySelector('.chips')?.textContent.includes('Eligible'));
  const expected = kernels.filter((row) => row.is_op_tensor_core_eligible && !row.is_kernel_using_tensor_core);
  if (expected.length === 0) await page.waitForSelector('.matches-none');
  else await becomes(async () => [...new Set(await column(page, 'uses')), ...new Set(await column(page, 'eligible'))], ['no', 'yes'], 'other kernels are shown');
}));

await tap.test('details show the whole name and how occurrences are spread', () => using(KERNELS, {}, async (page) => {
  await page.click('.tabulator-row >> nth=0');
  await page.waitForSelector('.detail canvas');
  const whole = await page.getAttribute('.tabulator-cell[tabulator-field=kernel] .cell', 'title');
  equal(await page.textContent('.detail .full-name'), whole);
  for (const label of ['Minimum', 'Median', '95th percentile', 'Maximum']) assert((await page.textContent('.detail')).includes(label), `${label} is missing`);
  assert(await page.locator('.detail .slowest tbody tr').count() > 0, 'no slowest occurrences');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.detail', { state: 'hidden' });
  assert(!(await hashOf(page)).includes('sel='), 'sel is still in the address');
}));

await tap.test('the slowest occurrences lead to their events in the trace', () => using(KERNELS, {}, async (page) => {
  await page.click('.tabulator-row >> nth=0');
  const name = await page.getAttribute('.tabulator-cell[tabulator-field=kernel] .cell', 'title');
  const row = page.locator('.detail .slowest tbody tr').first();
  const [length, where] = [await row.locator('td').nth(0).textContent(), await row.locator('td').nth(2).textContent()];
  await row.locator('a').click();
  await page.waitForSelector('.trace-detail .full-name');
  equal(await page.textContent('.trace-detail .full-name'), name);
  const text = await page.textContent('.trace-detail');
  for (const part of [length, where.split(' · ')[0]]) assert(text.includes(part), `${part} is missing: ${text}`);
}));

await tap.test('comparing with a base run, swapping and clearing', () => using(`${OPS}&base=${encodeURIComponent(BASE)}`, {}, async (page) => {
  const heads = () => page.$$eval('.table-card .sort span', (spans) => spans.map((span) => span.textContent));
  assert((await heads()).some((head) => head.startsWith('Δ (')), 'no column of differences');
  assert(await page.locator('.tile .delta[title^=base]').count() > 0, 'no difference in the tiles');
  assert((await page.textContent('.legend')).includes('Base run'), 'no base in the chart');
  await page.click('.sort:has-text("Δ (")');
  await page.waitForFunction(() => document.querySelector('[tabulator-field=delta][aria-sort=descending]') !== null);
  assert((await hashOf(page)).includes('sort=-delta'), 'the address does not have the order');
  const sizes = (await column(page, 'delta')).map((text) => Math.abs(number(text)));
  equal(sizes, [...sizes].sort((a, b) => b - a));
  if (BASE !== RUN) {
    await page.click('button[aria-label="Swap run and base"]');
    await page.waitForFunction((base) => decodeURIComponent(location.hash).includes(`run=${base}&base=`), BASE);
    await settled(page);
  }
  await page.click('button[aria-label="Stop comparing"]');
  await page.waitForFunction(() => !location.hash.includes('base='));
  await becomes(heads, (list) => list.length > 0 && !list.some((head) => head.startsWith('Δ (')), 'the column of differences is still there');
}));

await tap.test('new and gone rows of a comparison are labelled', async () => {
  const page = await fresh();
  await page.route('**/data?*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const base = new URL(route.request().url()).searchParams.get('run') === 'other';
    for (const table of body.filter(({ rows }) => rows !== undefined)) table.rows = table.rows.filter((_, index) => index !== (base ? 2 : 3));
    await route.fulfill({ json: body });
  });
  await page.route((url) => url.searchParams.get('run') === 'other' && url.pathname.endsWith('/data'), async (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('run', RUN);
    const body = await (await fetch(url)).json();
    for (const table of body.filter(({ rows }) => rows !== undefined)) table.rows = table.rows.filter((_, index) => index !== 2);
    await route.fulfill({ json: body });
  });
  await page.goto(`${root.href}${OPS}&base=other&dev=all`);
  await settled(page);
  await page.waitForSelector('.badge:text-is("new")');
  await page.click('.sort:has-text("Δ %")');
  await edit(page, null, '&f.total_time=%3D0');
  await page.waitForSelector('.badge:text-is("gone")');
  await close(page);
});

await tap.test('rows whose names differ only by counters are compared, and the page says how many', async () => {
  const page = await fresh();
  const renamed = { operation: (name) => name.replace(/^[^/]+/, '$&_7'), op_name: (name) => (name === '' ? '' : name.replace(/^[^/]+/, '$&_7')) };
  await page.route((url) => url.searchParams.get('run') === 'other' && url.pathname.endsWith('/data'), async (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('run', RUN);
    const body = await (await fetch(url)).json();
    for (const { cols, rows } of Array.isArray(body) ? body : [body]) {
      for (const { c } of rows ?? []) cols.forEach(({ id }, index) => { if (renamed[id] !== undefined) c[index] = { v: renamed[id](String(c[index]?.v ?? '')) }; });
    }
    await route.fulfill({ json: body });
  });
  for (const hash of [`${OPS}&base=other&dev=all`, `${OPS}&base=other&dev=all&group=tree`, `${KERNELS}&base=other`, `${KERNELS}&base=other&group=op`]) {
    await page.goto('about:blank');
    await page.goto(root.href + hash);
    await settled(page);
    const [, matched, loose] = /^([\d,]+) .* in both runs, ([\d,]+) of them .*_7/.exec(await page.textContent('.compare-note'));
    assert(number(matched) > 3 && number(loose) > 3 && number(loose) <= number(matched), `${hash}: ${matched} ${loose}`);
    equal(await page.locator('.badge').count(), 0, `${hash}: something is new or gone`);
    assert((await column(page, 'delta')).every((text) => /^0(\.0+)?$/.test(text)), `${hash}: the same run differs from itself`);
  }
  await page.goto(`${root.href}${OPS}&base=other&dev=all`);
  await page.waitForSelector('.by-counter[title*=_7]');
  await close(page);
});

await tap.test('everything can be done from the keyboard', async () => {
  const page = await open('#/?t=x');
  await page.keyboard.press('/');
  await page.keyboard.type(RUN.slice(0, 60));
  await page.waitForFunction(() => location.hash.includes('q='));
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() => document.activeElement?.classList.contains('tabulator-cell'));
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.hash.includes('overview_page'));
  await settled(page);
  await page.keyboard.press('g');
  await page.keyboard.press('k');
  await page.waitForURL((url) => url.hash.includes('kernel_stats'));
  await settled(page);
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  await page.focus('.tabulator-tableholder');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.detail:not([hidden])');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.detail', { state: 'hidden' });
  await page.keyboard.press('End');
  const [kernels] = await dataOf('kernel_stats');
  await page.waitForFunction(() => document.activeElement?.closest('.tabulator-row') !== null);
  const last = Number(await page.evaluate(() => document.activeElement.closest('.tabulator-row').getAttribute('aria-rowindex'))) - 1;
  assert(last > 1 && last <= kernels.length, `End went to row ${last}`);
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  assert((await page.textContent('dialog')).includes('Go to Kernel stats'), 'the help does not list its keys');
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.waitForSelector('dialog .option');
  await page.keyboard.type('TF stats');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.hash.includes('framework_op_stats'));
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.waitForSelector('h1:text-is("Runs")');
  await close(page);
});

await tap.test('single-letter keys can be switched off', () => using(OPS, {}, async (page) => {
  await page.keyboard.press('?');
  await page.click('dialog label.check');
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  await page.keyboard.press('?');
  // A key that is no letter still opens something, and what was pressed before would have been there by then.
  await page.keyboard.press('Control+k');
  await page.waitForSelector('dialog .option');
  equal(await page.locator('dialog[open]').count(), 1, 'the help opened');
}));

await tap.test('names with markup stay text', async () => {
  const page = await fresh();
  const evil = '<img src=x onerror="window.hacked=1"><b style="color:red">bold</b>';
  const poison = (table) => table.rows.forEach((row, index) => {
    table.cols.forEach((col, at) => {
      if (['operation', 'type', 'kernel_name', 'op_name', 'bound_by'].includes(col.id)) row.c[at] = { v: `${evil}${index}` };
    });
  });
  await page.route('**/data?*', async (route) => {
    const body = await (await route.fetch()).json();
    (Array.isArray(body) ? body : [body]).forEach(poison);
    await route.fulfill({ json: body });
  });
  await page.route('**/diagnostics?*', (route) => route.fulfill({ json: { entries: [{ severity: 'warning', host: evil, message: evil, hint: evil }], captures: [] } }));
  await page.route('**/instances?*', (route) => route.fulfill({ json: { count: 1, total_us: 1, min_us: 1, mean_us: 1, median_us: 1, p95_us: 1, max_us: 1, stddev_us: 0, histogram: [{ from_us: 1, to_us: 1, count: 1 }], slowest: [{ host: evil, plane: evil, line: evil, start_us: 0, duration_us: 1 }] } }));
  for (const hash of [OPS, `${OPS}&group=type`, `${OPS}&group=tree&dev=all`, KERNELS, `${KERNELS}&group=op`]) {
    await page.goto('about:blank');
    await page.goto(root.href + hash);
    await settled(page);
    await page.click('.chart-card button:has-text("As table")');
    await page.click('.tabulator-row >> nth=0');
    await page.waitForSelector('.detail:not([hidden])');
    equal(await page.locator('main img').count(), 0);
    equal(await page.evaluate(() => window.hacked), undefined);
    await page.waitForSelector('.verdict:has-text("<img src=x")');
    if (!hash.includes('tree')) await page.waitForSelector('.grid-host:has-text("<img src=x")');
    equal(await page.locator('main img').count(), 0);
    equal(await page.evaluate(() => window.hacked), undefined);
  }
  await close(page);
});

await tap.test('a failed request says what, where and how to go on', async () => {
  const page = await fresh({ quiet: true });
  let failing = true;
  await page.route('**/data?*', (route) => (failing
    ? route.fulfill({ status: 422, json: { error: { code: 'bad_input', message: 'The file is <cut> short.', hint: 'Copy it again.', file: 'a.xplane.pb', offset: 120331 } } })
    : route.continue()));
  await page.goto(root.href + OPS);
  await page.waitForSelector('.failed');
  const text = await page.textContent('.failed');
  for (const part of ['bad_input', 'The file is <cut> short.', 'Copy it again.', 'a.xplane.pb', '120,331']) assert(text.includes(part), `${part} is missing`);
  await axe(page, 'failed');
  failing = false;
  await page.click('button:has-text("Try again")');
  await settled(page);
  await page.waitForSelector('.failed', { state: 'detached' });
  await page.route('**/data?*', (route) => route.abort());
  await page.goto('about:blank');
  await page.goto(root.href + KERNELS);
  await page.waitForSelector('.failed:has-text("did not answer")');
  await close(page);
});

await tap.test('nothing recorded is said in words, with a way out', async () => {
  const page = await fresh();
  await page.route('**/data?*', async (route) => {
    const body = await (await route.fetch()).json();
    (Array.isArray(body) ? body : [body]).forEach((table) => { table.rows = []; });
    await route.fulfill({ json: body });
  });
  await page.goto(root.href + KERNELS);
  await page.waitForSelector('.state:has-text("No GPU kernels were recorded")');
  await page.goto('about:blank');
  await page.goto(root.href + OPS);
  await page.waitForSelector('.state:has-text("No operations were recorded")');
  await close(page);
});

await tap.test('without device operations the host is shown and the page says so', async () => {
  const page = await fresh();
  await page.route('**/data?*', async (route) => {
    const body = await (await route.fetch()).json();
    for (const table of body) table.rows = table.rows.filter((row) => row.c[1].v === 'Host');
    await route.fulfill({ json: body });
  });
  await page.goto(root.href + OPS);
  await settled(page);
  await page.waitForSelector('.verdict:has-text("no device operations")');
  await becomes(() => page.isChecked('input[value=host]'), true, 'the host is not chosen');
  await close(page);
});

await tap.test('unavailable tools say why; unknown ones and runs fail with words', async () => {
  const page = await fresh({ quiet: true });
  await page.route('**/tools?*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    await route.fulfill({ response, json: !Array.isArray(body) ? body : body.map((tool) => (tool.name === 'kernel_stats' ? { ...tool, available: false, reason: 'No GPU was recorded.' } : tool)) });
  });
  await page.goto(root.href + KERNELS);
  await page.waitForSelector('.state:has-text("No GPU was recorded.")');
  equal(await page.getAttribute('nav .off:has-text("Kernel stats")', 'title'), 'No GPU was recorded.');
  assert((await page.textContent('nav .off:has-text("Kernel stats")')).includes('No GPU was recorded.'), 'a screen reader is not told');
  await page.goto(`${root.href}#/no_such_tool?run=${encodeURIComponent(RUN)}`);
  await page.waitForSelector('.failed');
  await page.goto(`${root.href}#/kernel_stats?run=no_such_run`);
  await page.waitForSelector('.failed, .state');
  await page.goto(`${root.href}#/tf_stats?run=${encodeURIComponent(RUN)}`);
  await page.waitForURL((url) => url.hash.startsWith('#/framework_op_stats'));
  await close(page);
});

await tap.test('a slow answer: skeleton at once, an offer after 30 s, nothing left running', async () => {
  // A clock is its context's.
  const page = await fresh({ quiet: true, own: true });
  await page.clock.install();
  const gone = [];
  page.on('requestfailed', (request) => gone.push(request.url()));
  await page.route('**/data?*', () => undefined);
  await page.goto(root.href + OPS);
  await page.waitForSelector('.skeleton');
  equal(await page.getAttribute('.loader', 'aria-busy'), 'true');
  await page.clock.fastForward(31_000);
  await page.waitForSelector('button:has-text("Ask again")');
  await page.click('.brand');
  await page.waitForSelector('h1:text-is("Runs")');
  await becomes(() => gone.some((url) => url.includes('/data?')), true, 'the request was not given up');
  await close(page);
});

for (const [name, hash] of [['runs', '#/?t=x'], ['TF stats', OPS], ['kernel stats', KERNELS]]) {
  await tap.test(`320 px: ${name} does not scroll sideways and nothing is out of reach`, () => using(hash, { width: 320, height: 640 }, async (page) => {
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    equal(over, 0, 'the page scrolls sideways');
    const heads = await page.locator('.tabulator-col').count();
    assert(heads >= 2 && heads <= 3, `${heads} columns are shown`);
    await page.click('button[aria-controls=nav]');
    await page.waitForSelector('nav a:visible');
    if (name !== 'runs') {
      await page.click('button[aria-controls=nav]');
      await page.waitForSelector('nav a', { state: 'hidden' });
      // Tabulator takes the rows out and puts them in again when a grid that was below the screen comes into view.
      await page.evaluate(() => {
        const watcher = new MutationObserver(() => { document.body.dataset.drawn = 'again'; });
        watcher.observe(document.querySelector('.tabulator-table'), { childList: true });
      });
      await page.locator('.tabulator-row').first().scrollIntoViewIfNeeded();
      await page.waitForSelector('body[data-drawn]');
      await page.locator('.tabulator-row').first().click();
      await page.waitForSelector('.detail:not([hidden]) dl');
      equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, 'the page scrolls sideways with details');
    }
  }));
}

await tap.test('the theme is chosen before anything is drawn, kept, and followed by charts', async () => {
  const page = await fresh({ theme: 'dark' });
  await page.goto(root.href + OPS, { waitUntil: 'commit' });
  await page.waitForFunction(() => document.documentElement.dataset.theme !== undefined);
  equal(await page.getAttribute('html', 'data-theme'), 'dark');
  await settled(page);
  const shot = () => page.evaluate(() => document.querySelector('canvas').toDataURL().length);
  const before = await page.evaluate(() => document.querySelector('canvas').toDataURL());
  await page.click('button[aria-label^="Theme"]');
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
  await page.waitForFunction((old) => document.querySelector('canvas').toDataURL() !== old, before);
  assert(await shot() > 1000, 'the chart is empty');
  await page.reload();
  equal(await page.getAttribute('html', 'data-theme'), 'light');
  await close(page);
});

await tap.test('the page also works below a prefix', async () => {
  const below = new URL('data/plugin/profile/', root);
  const page = await fresh();
  // A proxy in front of the server: everything below /some/prefix/ is the server's root.
  await page.route((url) => url.pathname.startsWith('/some/prefix/'), (route) => {
    const url = new URL(route.request().url());
    return route.continue({ url: new URL(url.pathname.slice('/some/prefix/'.length) + url.search, root).href });
  });
  await page.goto(new URL(`some/prefix/${OPS}`, root).href);
  await settled(page);
  const plugin = await fetch(below);
  if (plugin.ok && (plugin.headers.get('content-type') ?? '').includes('html')) {
    await page.goto(below.href + OPS);
    await settled(page);
  }
  await close(page);
});

await tap.test('what was made up has the shape of what the server answers', () => checkMocks(process.argv[3], process.argv[4]));
await tap.test('no request left the origin', () => equal([...foreign], []));
await tap.test('the browser had nothing to complain about', () => equal([...new Set(complaints)], []));

await browser.close();
tap.end();
