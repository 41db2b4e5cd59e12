// SPDX-License-Identifier: Apache-2.0
// The tf.data page in a browser: node tests/web/tf_data.mjs COMPOSED DEMO [REAL]
// Addresses of three servers, see tf_data.py. TFPROF_TEST_ONLY picks tests by name.

import { readFile } from 'node:fs/promises';
import { addressOf, axe, becomes, browser, complaints, foreign, framed, freshPage, hashOf, params, using as usingPage } from './browser.mjs';
import { checkMocks } from './shapes.mjs';
import { assert, equal, Tap } from './support.mjs';

const [composed, demo, real] = process.argv.slice(2).map((url) => url.replace(/\/?$/, '/'));
const tap = new Tap(process.env.TFPROF_TEST_ONLY);
const TOOL = 'tf_data_bottleneck_analysis';

const place = (run, more = '') => `${composed}#/${TOOL}?run=${run}${more}`;
const demoRun = (await (await fetch(`${demo}runs`)).json())[0];
const demoPlace = (more = '') => `${demo}#/${TOOL}?run=${demoRun}${more}`;

async function settled(page) {
  await page.waitForSelector('.tiles, .state');
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
  await page.waitForFunction(() => document.querySelector('.it-graph') === null || document.querySelector('main .state') !== null || document.querySelector('.it-grid')?.hidden === true
    || document.querySelector('.it-graph svg, .it-graph p') !== null);
  await framed(page);
}

const using = (address, body, { before = null, ...options } = {}) => usingPage(freshPage(address, options), async (page) => {
  await before?.(page);
  await page.goto(address);
  await settled(page);
  await body(page);
});

const until = (page, key, value) => page.waitForFunction(([name, wanted]) => new URLSearchParams(location.hash.split('?')[1]).get(name) === wanted, [key, value]);
const summary = (page) => page.textContent('.call-summary');
const says = (page, wanted, how = 'startsWith') => becomes(() => summary(page), (text) => text[how](wanted), `the call is not said to be “${wanted}”`);
const tile = async (page, label) => (await page.textContent(`.tile:has(dt:text-is("${label}")) .figure`)).trim();
const TWIN = '[aria-label="Iterators of this call, as an indented table"]';
const twin = (page) => page.$$eval(`${TWIN} tbody tr`, (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
const boxes = (page) => page.$$eval('.it-graph g[data-id]', (groups) => groups.map((group) => ({ id: group.dataset.id, role: ['bottleneck', 'waited', 'ahead'].find((role) => group.classList.contains(role)), top: group.getBoundingClientRect().top, text: [...group.querySelectorAll('text')].map((one) => one.textContent) })));

// Times are worked out in tf_data.py's `branches`: 1000 us, of which Prefetch waits 980 - 850 = 130 alone, Zip 850 - 240 - 570
// = 40, ParallelInterleave 570 - (830 - 520) = 260 (readers at once), its slower reader 310.
await tap.test('a slow pipeline: verdict, tiles, bottleneck with its advice', () => using(place('branches'), async (page) => {
  const verdict = await page.textContent('.finding');
  for (const part of ['Slow input pipeline.', '1 of 2 calls was slow', '50']) assert(verdict.includes(part), `${part} is missing: ${verdict}`);
  equal(await tile(page, 'Slowest call'), '1.00 ms');
  equal(await tile(page, 'Slow calls'), '1');
  equal(await tile(page, 'Bottleneck'), 'TextLine');
  const row = await page.textContent('[aria-label="Bottlenecks"] tbody tr');
  for (const part of ['Host:0', '1.00 ms', 'TextLine', '310.0 µs self time', 'Iterator::Model::Prefetch::Zip[1]::ParallelInterleaveV4[1]::TextLine', 'Read several files at once']) assert(row.includes(part), `${part} is missing: ${row}`);
  assert((await page.getAttribute('[aria-label="Bottlenecks"] a', 'href')).startsWith('https://www.tensorflow.org/guide/'), 'no link to the guide');
}));

await tap.test('the graph: root on top, roles as words and classes, arrows towards the root', () => using(place('branches'), async (page) => {
  const list = await boxes(page);
  equal(list.map(({ id, role }) => [id, role]).sort(), [['1', 'waited'], ['2', 'waited'], ['20', 'waited'], ['21', 'bottleneck'], ['22', 'ahead'], ['3', 'waited'], ['4', 'waited'], ['8', 'waited']]);
  const top = Object.fromEntries(list.map((box) => [box.id, box.top]));
  assert(top[1] < top[2] && top[2] < top[3] && top[3] < top[8] && top[8] < top[21], 'the root is not on top');
  equal(list.find(({ id }) => id === '21').text, ['Bottleneck · input 1', 'TextLine', 'Self 310.0 µs', 'Total 310.0 µs · 1 call']);
  equal(list.find(({ id }) => id === '2').text.slice(2), ['Self 130.0 µs', 'Total 980.0 µs · 1 call']);
  equal(await page.locator('.it-graph .arrow').count(), 7);
  equal(await page.locator('.it-graph .arrow.waited').count(), 6);
  // The head of an arrow is at its end, and the data goes up.
  equal(await page.$$eval('.it-graph .arrow', (arrows) => arrows.filter((arrow) => arrow.getPointAtLength(0).y <= arrow.getPointAtLength(arrow.getTotalLength()).y).length), 0);
  assert((await page.getAttribute('.it-graph svg', 'aria-label')).includes('Critical path: Model ← Prefetch ← Zip ← ParallelInterleaveV4 ← TextLine'), 'no sentence for the picture');
}));

await tap.test('the table says what the graph says, indented, with levels for a screen reader', () => using(place('branches'), async (page) => {
  equal((await twin(page)).map(([name, part, self, total]) => [name, part, self, total]), [
    ['Modellevel 1', 'Waited for', '20.00 µs', '1.00 ms'],
    ['Prefetchlevel 2', 'Waited for', '130.0 µs', '980.0 µs'],
    ['Ziplevel 3', 'Waited for', '40.00 µs', '850.0 µs'],
    ['Shuffle input 0level 4', 'Waited for', '240.0 µs', '240.0 µs'],
    ['ParallelInterleaveV4 input 1level 4', 'Waited for', '260.0 µs', '570.0 µs'],
    ['TextLine input 2level 5', 'Not waited for', '100.0 µs', '100.0 µs'],
    ['TextLine input 0level 5', 'Waited for', '280.0 µs', '280.0 µs'],
    ['TextLine input 1level 5', 'Bottleneck', '310.0 µs', '310.0 µs'],
  ]);
  const left = await page.$$eval(`${TWIN} tbody button`, (buttons) => buttons.map((button) => button.getBoundingClientRect().left));
  for (let i = 1; i < 4; i += 1) assert(left[i] > left[i - 1], `row ${i} is not indented`);
}));

await tap.test('choosing an iterator in graph or table, and letting go of it', () => using(place('branches'), async (page) => {
  await page.click('.it-graph g[data-id="4"]');
  await until(page, 'it', '4');
  equal(await page.textContent('.core-card h2'), 'Shuffle');
  assert((await page.textContent('.core-card')).includes('If it were the bottleneck'), 'no advice for it');
  equal(await page.locator(`${TWIN} tr.chosen`).count(), 1);
  await page.focus(`${TWIN} tbody tr:nth-child(5) button`);
  await page.keyboard.press('Enter');
  await until(page, 'it', '8');
  equal(await page.textContent('.core-card h2'), 'ParallelInterleaveV4');
  equal(await page.evaluate(() => document.activeElement?.textContent), 'ParallelInterleaveV4', 'the keyboard lost its place');
  await page.click('.core-card .linklike');
  await until(page, 'it', '3');
  await page.keyboard.press('Escape');
  await until(page, 'it', null);
  equal(await page.textContent('.core-card h2'), 'TextLine', 'the bottleneck is shown while nothing is chosen');
}));

await tap.test('the call: slowest, median, n-th, by keys, and by a bar', () => using(demoPlace(), async (page) => {
  await says(page, 'Call 1 of 26 took 11.10 ms', 'startsWith');
  await page.click('button:text-is("Median")');
  await until(page, 'call', 'median');
  await settled(page);
  await says(page, 'Call 13 of 26', 'startsWith');
  await page.fill('.call-number input', '26');
  await page.keyboard.press('Enter');
  await until(page, 'call', '26');
  await settled(page);
  await says(page, 'Call 26 of 26 took 12.10 µs', 'startsWith');
  assert((await boxes(page)).some(({ role }) => role === 'ahead'), 'what was done ahead is not marked');
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('p');
  await until(page, 'call', '25');
  await page.keyboard.press('n');
  await until(page, 'call', '26');
  await page.click('[aria-label="Calls by duration"] button:text-is("As table")');
  await page.click('[aria-label="Calls by duration, as table"] tbody tr:first-child button');
  await until(page, 'call', '16');
  await settled(page);
  await says(page, 'Call 16 of 26', 'startsWith');
  await page.click('button:text-is("Slowest")');
  await until(page, 'call', null);
}));

await tap.test('pipelines of all hosts: slowest first, a row chooses, so does the list', () => using(place('hosts'), async (page) => {
  equal(await page.$$eval('.tabulator-cell[tabulator-field="host"]', (cells) => cells.map((cell) => cell.textContent)), ['host2', 'host1', 'host0']);
  equal(await page.locator('[aria-label="Bottlenecks"] tbody tr').count(), 2, 'the fast one needs no advice');
  await page.click('.tabulator-row:nth-child(3) .tabulator-cell');
  await until(page, 'sel', 'host0/Host:0');
  await says(page, 'took 30.00 µs', 'includes');
  await page.selectOption('.call-controls select', 'host1/Host:0');
  await until(page, 'sel', 'host1/Host:0');
  await says(page, 'took 60.00 µs', 'includes');
  await page.fill('.find input', 'host2');
  await page.waitForFunction(() => document.querySelectorAll('.tabulator-row').length === 1);
}));

await tap.test('one host of several', () => using(place('hosts', '&host=host0'), async (page) => {
  equal(await page.textContent('.finding b'), 'Not input-bound by tf.data.');
  equal(await tile(page, 'Pipelines'), '1');
  equal(await page.locator('[aria-label="Bottlenecks"]').count(), 0);
}));

await tap.test('compared with a base run', () => using(place('branches', '&base=faster'), async (page) => {
  assert((await page.textContent('.tile:has(dt:text-is("Slowest call"))')).includes('+500.0 µs'), await page.textContent('.tile'));
  equal(await page.textContent('.tabulator-cell[tabulator-field="base"]'), '270');
  equal(await page.textContent('.tabulator-cell[tabulator-field="delta"]'), '+250');
}));

await tap.test('nothing recorded: says so and how to record it', () => using(place('none'), async (page) => {
  equal(await page.textContent('.state h2'), 'No tf.data activity was recorded');
  for (const part of ['host_tracer_level=2', 'Capture for longer']) assert((await page.textContent('.state')).includes(part), `${part} is missing`);
  equal(await page.locator('.tile:visible').count(), 0);
  await axe(page, 'nothing recorded');
}));

await tap.test('only a device pipeline', () => using(place('device'), async (page) => {
  equal(await page.textContent('.finding b'), 'Only copies to devices were captured.');
  await says(page, 'The bottleneck is Generator, with 80.00 µs', 'includes');
  assert((await page.textContent('.core-card')).includes('a pipeline on the host'), 'advice for readers of files');
}));

await tap.test('no time at all, and id 0', () => using(place('zero'), async (page) => {
  await says(page, 'No iterator has self time.', 'includes');
  equal((await boxes(page)).map(({ id, role }) => [id, role]), [['0', 'waited']]);
  assert(!/NaN|Infinity|undefined/.test(await page.textContent('main')), 'something was divided by nothing');
}));

await tap.test('a hundred levels', () => using(place('deep'), async (page) => {
  equal((await boxes(page)).length, 100);
  equal((await twin(page)).length, 100);
  await says(page, '92 more', 'includes');
  assert((await page.evaluate(() => document.documentElement.scrollHeight)) < 4000, 'the page grows with the table');
  await page.click('button:text-is("Whole graph")');
  await until(page, 'fit', '1');
  const [all, seen] = await page.$eval('.it-graph', (box) => [box.scrollHeight, box.clientHeight]);
  assert(all <= seen, `${all} px of graph in ${seen}`);
}));

await tap.test('a ring is cut and drawn once', () => using(place('ring'), async (page) => {
  equal((await boxes(page)).map(({ id }) => id).sort(), ['1', '2']);
  equal(await page.locator('.it-graph .arrow').count(), 1);
}));

await tap.test('too many iterators for a picture: the table has them', () => using(place('wide'), async (page) => {
  assert((await page.textContent('.it-graph')).includes('701 iterators are too many to draw'), await page.textContent('.it-graph'));
  equal((await twin(page)).length, 701);
}));

await tap.test('names are text', () => using(place('html'), async (page) => {
  equal(await page.evaluate(() => [window.hit ?? null, document.querySelectorAll('main img, main b b').length]), [null, 0]);
  assert((await page.textContent('main')).includes('<img src=x onerror="window.hit=1"><b>bold</b>'), 'the name is not shown');
}));

await tap.test('the layout is fetched only here, and the table stays when it cannot be', async () => {
  const asked = [];
  await using(`${composed}#/overview_page?run=branches`, async () => equal(asked, []), {
    before: async (page) => page.on('request', (request) => { if (request.url().includes('graph_layout')) asked.push(request.url()); }),
  });
  let blocked = true;
  await using(place('branches'), async (page) => {
    assert((await page.textContent('.it-graph')).includes('could not be loaded'), await page.textContent('.it-graph'));
    equal((await twin(page)).length, 8);
    blocked = false;
    await page.click('.it-graph button');
    await page.waitForSelector('.it-graph svg');
  }, { quiet: true, before: (page) => page.route('**/graph_layout.js', (route) => (blocked ? route.abort() : route.continue())) });
});

await tap.test('a call that cannot be fetched says so and is asked for again', async () => {
  let fail = true;
  await using(demoPlace('&call=5'), async (page) => {
    await page.waitForSelector('.call-body .state.failed');
    fail = false;
    await page.click('.call-body button:text-is("Try again")');
    await page.waitForSelector(`${TWIN} tbody tr`);
    await says(page, 'Call 5 of 26', 'startsWith');
  }, { quiet: true, before: (page) => page.route(/graph_host=/, (route) => (fail ? route.fulfill({ status: 500, json: { error: { code: 'io', message: 'broken' } } }) : route.continue())) });
});

await tap.test('CSV of the iterators and of the bottlenecks', () => using(place('branches'), async (page) => {
  const download = async (section) => {
    const [file] = await Promise.all([page.waitForEvent('download'), page.click(`section[aria-label="${section}"] button:text-is("CSV")`)]);
    return (await readFile(await file.path(), 'utf8')).trim().split('\n');
  };
  const rows = await download('Iterators of this call');
  equal(rows[0], 'Iterator,Part,Self,Total,Calls,Start');
  // From the first event of the run, at 100 us: 210 - 100.
  equal(rows[2], 'Iterator::Model::Prefetch,Waited for,130,980,1,110');
  assert((await download('Bottlenecks'))[1].startsWith('Host:0,1000,Iterator::Model::Prefetch::Zip[1]::ParallelInterleaveV4[1]::TextLine,'), 'the bottleneck is missing');
}));

await tap.test('deep links give the same page again; older names lead here', async () => {
  for (const address of [demoPlace('&call=median&fit=1'), place('branches', '&base=faster&it=8'), place('hosts', '&q=host&sel=host1/Host:0&sort=host')]) {
    await using(address, async (page) => {
      // What the run is comes after what was asked for.
      const whole = () => page.waitForFunction(() => /recorded/.test(document.querySelector('main').textContent));
      await whole();
      const first = await page.textContent('main');
      equal(await addressOf(page), address, 'the address changed by itself');
      await page.reload();
      await settled(page);
      await whole();
      equal(await page.textContent('main'), first);
    });
  }
  await using(`${composed}#/tf_data?run=branches`, async (page) => {
    assert((await hashOf(page)).startsWith(`#/${TOOL}?`), await hashOf(page));
    equal((await params(page)).run, 'branches');
  });
});

for (const [name, address] of [['slow', place('branches', '&base=faster&it=8')], ['hosts', demoPlace('&call=median')], ['device', place('device')]]) {
  await tap.test(`accessible: ${name}`, () => using(address, (page) => axe(page, name)));
}

for (const run of ['branches', 'deep', 'none', 'hosts']) {
  await tap.test(`320 px and more: ${run} does not scroll sideways`, () => using(place(run), async (page) => {
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 780 });
      await settled(page);
      equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${width} px`);
    }
  }, { width: 320, height: 780 }));
}

// What XProf's analysis says of these is in the golden results.
for (const [run, bottleneck, slowest] of [['keras-cpu-a/train/2022_10_31_19_09_08', 'Model', '441.0 µs'], ['food-b/train/2021_04_14_13_32_46', 'Prefetch', '59.52 µs'],
  ['keras-gpu-b/train/2023_11_07_18_24_27', 'ParallelMapV2', '67.25 µs'], ['hosts-cpu/2022_11_02_00_00_00', 'Model', '441.0 µs'], ['gpu-multi-worker/GPU-multi-worker', null, '7.08 ms'], ['tpu-inference/2025_12_10_12_00_00', null, null]]) {
  if (real === undefined) {
    console.log(`# skipped: the real capture ${run} is not here`);
    continue;
  }
  await tap.test(`a real capture: ${run}`, () => using(`${real}#/${TOOL}?run=${run}`, async (page) => {
    if (slowest === null) {
      equal(await page.textContent('main .state h2'), 'No tf.data activity was recorded');
      return;
    }
    equal(await tile(page, 'Slowest call'), slowest);
    if (bottleneck !== null) equal(await tile(page, 'Bottleneck'), bottleneck);
    assert((await boxes(page)).length > 1, 'no graph');
  }, { quiet: true }));
}

await tap.test('what was made up has the shape of what the server answers', () => checkMocks(composed));
await tap.test('no request left the origin', () => equal([...foreign], []));
await tap.test('the browser had nothing to complain about', () => equal([...new Set(complaints)], []));

await browser.close();
tap.end();
