// SPDX-License-Identifier: Apache-2.0
// Overview, input pipeline and pod viewer in a browser, with made-up answers: node tests/web/steps.mjs URL DIR [PATTERN]
// DIR holds the built page; steps_mock.mjs gives the answers, which are held against those of the server at URL.

import { serve } from './steps_mock.mjs';
import { axe, becomes, browser, close, complaints, downloaded, foreign, framed, freshPage, hashOf, params, using as usingPage, whole } from './browser.mjs';
import { checkMocks } from './shapes.mjs';
import { assert, equal, Tap } from './support.mjs';

const { url: root, close: stop } = await serve(process.argv[3]);
const tap = new Tap(process.argv[4]);

const RUN = 'resnet50/2026_11_20_09_14_02';
const BASE = 'resnet50/2026_11_19_18_02_41';
const place = (tool, run = RUN, more = '') => `#/${tool}?run=${run}${more}`;

async function open(hash, options) {
  const page = await freshPage(root, options);
  await page.goto(root + hash);
  await settled(page);
  return page;
}

async function settled(page) {
  await page.waitForSelector('.tiles, .state');
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
  await framed(page);
}

const using = (hash, options, body) => usingPage(open(hash, options), body);

/** A page that tests only look at: it stays as it is for the next test of the same address. */
let kept = null;
async function reading(hash, body) {
  if (kept?.hash !== hash) {
    await leave();
    kept = { hash, page: await open(hash) };
  }
  try {
    await body(kept.page);
  } catch (error) {
    await leave();
    throw error;
  }
}
async function leave() {
  const { page } = kept ?? {};
  kept = null;
  if (page !== undefined) await close(page);
}

const wait = (page, test, arg) => page.waitForFunction(test, arg);
const told = (page) => page.getAttribute('.chart-card canvas', 'aria-label');
const tile = async (page, label) => (await page.textContent(`.tile:has(dt:text-is("${label}")) .figure`)).trim();
const replaced = async (page, key, value) => {
  await page.waitForFunction(([name, wanted]) => new URLSearchParams(location.hash.split('?')[1]).get(name) === wanted, [key, value]);
};

/** Where the middle of a bar is; the chart's plot begins right of its axis. */
async function bar(page, index, bars) {
  const box = await page.locator('.chart-card canvas').first().boundingBox();
  const left = box.x + 58;
  const width = box.x + box.width - left;
  return { x: left + ((index + 0.5) * width) / bars, y: box.y + box.height * 0.6 };
}

await tap.test('navigation has the pages in order, and the keys g o, g i, g p lead to them', () => using(place('framework_op_stats'), {}, async (page) => {
  equal(await page.$$eval('nav ul:first-child a', (links) => links.map((link) => link.textContent)), ['Overview', 'Input pipeline', 'TF stats', 'Kernel stats', 'Pod viewer']);
  for (const [key, title] of [['o', 'Overview'], ['i', 'Input pipeline'], ['p', 'Pod viewer']]) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.waitForSelector(`h1:text-is("${title}")`);
  }
}));

await tap.test('one run only leads straight to its overview', async () => {
  const page = await freshPage(root);
  await page.route('**/run_list', async (route) => {
    const list = await (await route.fetch()).json();
    return route.fulfill({ json: { ...list, runs: list.runs.slice(0, 1) } });
  });
  await page.goto(`${root}#/`);
  await page.waitForURL((url) => url.hash.startsWith('#/overview_page?run='));
  await page.waitForSelector('h1:text-is("Overview")');
  await close(page);
});

await tap.test('overview: verdict with its limits, tiles, chart, advice that leads to page and filter', () => reading(place('overview_page'), async (page) => {
  const verdict = await page.textContent('.finding');
  for (const part of ['Highly input-bound.', '% of the step time is spent waiting for input', 'Moderately: 5', '20']) assert(verdict.includes(part), `${part} is missing: ${verdict}`);
  assert((await page.getAttribute('.finding a', 'href')).startsWith('#/input_pipeline_analyzer?run='), 'the verdict leads nowhere');
  assert((await tile(page, 'Average step')).endsWith(' ms'), await tile(page, 'Average step'));
  assert((await told(page)).startsWith('40 steps, '), await told(page));
  const links = await page.$$eval('.advice a', (list) => list.map((link) => decodeURIComponent(link.getAttribute('href'))));
  for (const part of ['#/kernel_stats', 'sort=-occurrences', '#/pod_viewer', 'metric=collectives', 'f.eager==Eager', 'q=train_step']) assert(links.some((link) => link.includes(part)), `no advice leads to ${part}: ${links.join(' ')}`);
  const advice = await page.textContent('.advice');
  for (const part of ['Moderate: 3', 'at least 20', 'more than 10', 'TF_GPU_THREAD_MODE=gpu_private']) assert(advice.includes(part), `${part} is missing`);
  const facts = await page.textContent('.overview-side');
  for (const part of ['4 (worker0 … worker3)', '32 × Nvidia GPU (Volta)', '10,431,884', 'level 2', '92.4 %', '16-bit compute']) assert(facts.includes(part), `${part} is missing`);
  equal(await page.locator('[aria-label="Top operations on the device"] tbody tr').count(), 10);
}));

const ofSeveralHosts = (tool) => tap.test(`${tool}: of several hosts tile, bar and verdict are the slowest's, which is named`, () => reading(place(tool), async (page) => {
  const slowest = 'worker2, the slowest of 4 hosts';
  for (const where of ['.finding', '.tile:has(dt:text-is("Average step"))', '.chart-card .card-head', '.card:has([aria-label="Categories of the step time"]), section:has([aria-label="Categories of the step time"])']) {
    assert((await page.textContent(where)).includes(slowest), `${where} does not say whose steps: ${await page.textContent(where)}`);
  }
  assert((await page.textContent('.finding')).includes('worker1 is not input-bound'), 'other hosts are not named');
  const total = await page.textContent('[aria-label="Categories of the step time"] tr.sum td >> nth=0');
  equal((await tile(page, 'Average step')).replace(/\s/g, ''), total.replace(/\s/g, ''), 'tile and bar differ');
}));
/** All that a page has, first as it is, then with its charts as tables and its hints open. */
async function everything(page, name) {
  await axe(page, name);
  for (const as of await page.$$('.chart-card button:has-text("As table")')) await as.click();
  for (const more of await page.$$('.tips summary')) await more.click();
  await axe(page, `${name}, tables`, '.chart-card', '.tips');
}

await ofSeveralHosts('overview_page');
await tap.test('accessible: overview', () => reading(place('overview_page'), (page) => everything(page, 'overview')));
await tap.test('overview: the search box filters the top operations, and one of them leads to its row', () => reading(place('overview_page'), async (page) => {
  await page.fill('.find input', 'backprop');
  await wait(page, () => document.querySelectorAll('[aria-label="Top operations on the device"] tbody tr').length === 2);
  await page.fill('.find input', '');
  await wait(page, () => document.querySelectorAll('[aria-label="Top operations on the device"] tbody tr').length === 10);
  await page.click('[aria-label="Top operations on the device"] tbody a >> nth=0');
  await page.waitForSelector('h1:text-is("TF stats")');
  equal((await params(page))['f.operation'], '=resnet50/conv4_block6_3_conv/Conv2D');
  await leave();
}));

await ofSeveralHosts('input_pipeline_analyzer');
await tap.test('input pipeline: categories with spread, host categories with advice, operations', () => reading(place('input_pipeline_analyzer'), async (page) => {
  equal(await page.$$eval('[aria-label="Categories of the step time"] tbody th', (heads) => heads.map((head) => head.textContent)),
    ['Device compute', 'Device to device', 'Device collectives', 'Host compute', 'Kernel launch', 'Input', 'Output', 'Compilation', 'All others', 'Step time']);
  equal(await page.$$eval('[aria-label="Categories of the step time"] thead th', (heads) => heads.map((head) => head.textContent)), ['Category', 'Average', 'Share', 'Min', 'Max', 'σ']);
  equal(await page.locator('[aria-label="Categories of input time on the host"] tbody tr').count(), 5);
  const advice = await page.textContent('.advice-card');
  for (const part of ['Preprocessing', '84.7 %', 'num_parallel_calls']) assert(advice.includes(part), `${part} is missing`);
  equal(await page.locator('.tabulator-row').count(), 6);
}));
await tap.test('accessible: input pipeline', () => reading(place('input_pipeline_analyzer'), (page) => everything(page, 'input pipeline')));
await tap.test('input pipeline: the search box filters the operations', () => reading(place('input_pipeline_analyzer'), async (page) => {
  await page.fill('.find input', 'TFRecord');
  await wait(page, () => document.querySelectorAll('.tabulator-row').length === 1);
  await leave();
}));

for (const tool of ['overview_page', 'input_pipeline_analyzer']) {
  await tap.test(`${tool}: dragging over the step chart chooses steps, everything follows, and the link keeps it`, () => using(place(tool), {}, async (page) => {
    const before = await tile(page, 'Average step');
    const [from, to] = [await bar(page, 10, 40), await bar(page, 13, 40)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move((from.x + to.x) / 2, from.y, { steps: 4 });
    await page.waitForSelector('.brush');
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
    await replaced(page, 'steps', '130-133');
    equal((await params(page)).step, undefined, 'a drag also chose a step');
    await becomes(() => told(page), (text) => text.startsWith('4 steps of 40'), 'the chart shows other steps');
    await becomes(() => tile(page, 'Average step'), (text) => text !== before, 'the tile kept its number');
    equal(await page.inputValue('.steps-box'), '130-133');
    await whole(page);
    const shown = await page.textContent('.slot');
    const other = await open(await hashOf(page));
    await becomes(() => other.textContent('.slot'), shown, 'the link shows something else');
    await close(other);
    await page.goBack();
    await wait(page, () => !location.hash.includes('steps='));
    await becomes(() => tile(page, 'Average step'), before);
  }));

  await tap.test(`${tool}: a click chooses a step, n and p go on, Escape lets go`, () => using(place(tool), {}, async (page) => {
    const at = await bar(page, 11, 40);
    await page.mouse.click(at.x, at.y);
    await replaced(page, 'step', '131');
    await page.waitForSelector('.stack-label:has-text("Step 131")');
    assert((await page.$$eval('.plain thead th', (heads) => heads.map((head) => head.textContent))).includes('Step 131'), 'the table has no column of the step');
    await page.keyboard.press('n');
    await page.waitForSelector('.stack-label:has-text("Step 132")');
    await page.keyboard.press('p');
    await page.keyboard.press('p');
    await replaced(page, 'step', '130');
    await page.keyboard.press('Escape');
    await wait(page, () => !location.hash.includes('step='));
  }));
}

await tap.test('steps can be typed, out of range ones are refused, and chosen ones stay on the other pages', () => using(place('overview_page'), {}, async (page) => {
  await page.fill('.steps-box', '3-9');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.steps-box[aria-invalid=true]');
  await page.fill('.steps-box', '125-128');
  await page.keyboard.press('Enter');
  await replaced(page, 'steps', '125-128');
  await page.click('nav a:text-is("Input pipeline")');
  await page.waitForSelector('h1:text-is("Input pipeline")');
  equal((await params(page)).steps, '125-128');
  await page.click('nav a:text-is("TF stats")');
  await page.waitForSelector('h1:text-is("TF stats")');
  equal((await params(page)).steps, undefined);
}));

await tap.test('the table twin of the chart chooses steps by keyboard, the CSV has exact numbers', () => using(place('overview_page'), {}, async (page) => {
  await page.click('.chart-card button:has-text("As table")');
  equal(await page.locator('.chart-card .twin tbody tr').count(), 40);
  await page.focus('.chart-card .twin button:text-is("122")');
  await page.keyboard.press('Enter');
  await replaced(page, 'step', '122');
  const csv = await downloaded(page, () => page.click('.chart-card button:text-is("CSV")'));
  const lines = csv.trim().split('\n').map((line) => line.split(','));
  equal([lines.length, lines[0].length, lines[1][0]], [41, 11, '120']);
  for (const [, total, ...parts] of lines.slice(1)) assert(Math.abs(Number(total) - parts.reduce((a, b) => a + Number(b), 0)) < 1e-6 * Number(total), 'categories do not add up');
}));

await tap.test('thousands of steps become bars of several; a drag looks closer', () => using(place('overview_page', 'long/one'), {}, async (page) => {
  assert((await page.textContent('.chart-card .card-head')).includes('mean of 24 steps'), 'it does not say that bars are means');
  const [from, to] = [await bar(page, 20, 250), await bar(page, 24, 250)];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 5 });
  await page.mouse.up();
  await wait(page, () => location.hash.includes('steps='));
  await wait(page, () => document.querySelector('.chart-card .card-head').textContent.includes('click to choose one'));
}));

await tap.test('compared: tiles with differences, the base’s average as a dashed line, its column in the table', () => using(place('overview_page', RUN, `&base=${BASE}`), {}, async (page) => {
  assert(/^−[\d.]+ ms \(/.test((await page.textContent('.tile:has(dt:text-is("Average step")) .delta.better')).trim()), 'no delta');
  assert((await page.textContent('.legend')).includes('Average of the base run'), 'no line');
  assert((await told(page)).includes('against the base run'), await told(page));
  equal((await page.$$eval('[aria-label="Categories of the step time"] thead th', (heads) => heads.map((head) => head.textContent))).slice(0, 5), ['Category', 'Average', 'Share', 'Base', 'Δ']);
}));

await tap.test('compared: a share is judged by the time it is per step, as in the table', async () => {
  const page = await freshPage(root);
  await page.route((url) => url.pathname.endsWith('/data') && url.searchParams.get('run') === BASE, async (route) => {
    const body = await (await route.fetch()).json();
    // The base waits a fifth longer for its input, and takes three times as long for all else: its share of input is the smaller one.
    const { cols, rows } = body[1];
    for (const { c } of rows) {
      const [input, whole] = ['infeedTimeMs', 'stepTimeMs'].map((id) => cols.findIndex((col) => col.id === id));
      cols.forEach(({ id }, index) => { if (/TimeMs$/.test(id)) c[index].v *= index === input ? 1.2 : 3; });
      c[whole].v = cols.reduce((sum, { id }, index) => sum + (/TimeMs$/.test(id) && index !== whole ? c[index].v : 0), 0);
    }
    await route.fulfill({ json: body });
  });
  await page.goto(root + place('overview_page', RUN, `&base=${BASE}`));
  await settled(page);
  const shown = await page.$$eval('.tile:has(.delta[title^=base])', (tiles) => tiles.map((one) => {
    const delta = one.querySelector('.delta[title^=base]');
    return [one.querySelector('dt').textContent, `${delta.childNodes[0].textContent} ${delta.querySelector('.ratio')?.textContent ?? ''}`.trim(), delta.className];
  }));
  const input = shown.find(([label]) => label === 'Waiting for input');
  assert(/^−[\d.]+ ms per step \(−[\d.]+ %\)$/.test(input[1]), input[1]);
  assert(input[2].includes('better'), input[2]);
  const cell = await page.textContent('[aria-label="Categories of the step time"] tr:has-text("Input") .better');
  equal(input[1].split(' per')[0], cell, 'the tile says something else than the table');
  for (const [label, text, className] of shown) {
    if (/^[+−]/.test(text) && !text.includes('points')) equal(className.includes('better'), text.startsWith('−'), `${label}: ${text}`);
    if (text.includes('points')) assert(!/better|worse/.test(className), `${label} is judged by its share`);
  }
  await close(page);
});

await tap.test('no steps: says so, shows both lines, keeps the rest, offers executions of the module', () => using(place('overview_page', 'marks/none'), {}, async (page) => {
  const text = await page.textContent('.no-steps');
  for (const line of ['with tf.profiler.experimental.Trace("train", step_num=step, _r=1):', 'with jax.profiler.StepTraceAnnotation("train", step_num=step):']) assert(text.includes(line), `${line} is missing`);
  equal(await page.locator('canvas:visible').count(), 0, 'a chart without steps');
  equal(await page.locator('[aria-label="Top operations on the device"] tbody tr').count(), 10);
  assert((await page.textContent('.overview-side')).includes('none marked'), 'run environment is missing');
  assert(!(await page.textContent('main')).includes('No step marker observed'), 'said twice');
  await axe(page, 'no steps');
  await page.click('button:has-text("Use executions")');
  await replaced(page, 'step_source', 'module');
  await page.waitForSelector('.compare-bar:has-text("steps are executions of module jit_train_step(7)")');
  await becomes(() => told(page), (text) => text.startsWith('12 steps'), 'the chart has other steps');
  assert((await page.textContent('.chart-card header')).includes('steps are executions of module jit_train_step(7)'), 'the chart does not say what its steps are');
  await page.click('button:has-text("Only marked steps")');
  await page.waitForSelector('.no-steps');
  equal((await params(page))['step_source'], undefined);
}));
await tap.test('no steps: that nothing of the device was recorded is said first, and why only once', () => using(place('overview_page', 'gpu/failed'), {}, async (page) => {
  await page.waitForSelector('.verdicts');
  await framed(page);
  const text = await page.textContent('main');
  equal(text.split('Failed to load libcupti').length - 1, 1, 'how often the reason is given');
  assert((await page.textContent('.finding.error')).includes('No activity of the GPU was recorded.'), 'it is not said');
  assert((await page.textContent('.advice li >> nth=0')).includes('Make sure that the profiler can record the device'), await page.textContent('.advice'));
}));

await tap.test('no steps: an idle device is said first; an AMD device has no columns about TensorCores', () => using(place('overview_page', 'gpu/idle'), {}, async (page) => {
  assert((await page.textContent('.finding.warning')).includes('mostly idle. 1 of 8 GPUs was used, and was idle for 90.5\u00a0%'), 'it is not said');
  equal(await page.textContent('.tile >> nth=0 >> dt'), 'Device idle');
  equal(await tile(page, 'Device idle'), '90.5 %');
  assert((await page.textContent('.advice li >> nth=0')).includes('See what the host does while the device is idle'), await page.textContent('.advice'));
  assert(!(await page.$$eval('[aria-label="Top operations on the device"] th', (heads) => heads.map((head) => head.textContent))).includes('TensorCore'), 'a column about TensorCores');
  assert(!(await page.textContent('main')).includes('16-bit'), 'a share of 16 bits that nobody can know');
  await axe(page, 'idle device');
}));

for (const tool of ['input_pipeline_analyzer', 'pod_viewer']) {
  await tap.test(`no steps: ${tool}`, () => using(place(tool, 'marks/none'), {}, async (page) => {
    await page.waitForSelector('.no-steps');
    equal(await page.locator('canvas:visible').count(), 0);
    await page.click('button:has-text("Use executions of the XLA module as steps (12)")');
    await page.waitForSelector('.step-source:has-text("executions of module jit_train_step(7)")');
    for (const head of await page.$$eval('.card:has(canvas:not([hidden])) > header', (heads) => heads.filter((one) => one.offsetParent !== null).map((one) => one.textContent))) {
      assert(head.includes('steps are executions of module'), `“${head}” does not say what its steps are`);
    }
    await axe(page, `${tool}, executions`);
  }));
}

await tap.test('TPU: its own categories in the same places', () => using(place('input_pipeline_analyzer', 'tpu/slice'), {}, async (page) => {
  const names = await page.$$eval('[aria-label="Categories of the step time"] tbody th', (heads) => heads.map((head) => head.textContent));
  assert(names.includes('TensorCore idle') && names.includes('Host transfer'), names.join());
  assert((await page.textContent('.tiles')).includes('Waiting, worst core'), 'no share of the worst core');
  equal(await page.locator('[aria-label="Core that waited longest for input"] tbody tr').count(), 3);
  const waiting = page.locator('.chart-card[aria-label="Waiting for input"]');
  assert((await waiting.locator('canvas').getAttribute('aria-label')).startsWith('24 steps: cores wait for input'), 'the chart of waiting says nothing');
  await waiting.locator('button:has-text("As table")').click();
  equal(await waiting.locator('tbody tr').count(), 24);
}));

await tap.test('host picker: one host is asked for and shown', () => using(place('overview_page'), {}, async (page) => {
  const all = await tile(page, 'Waiting for input');
  await page.click('.picks .pick:has-text("host")');
  await page.click('.option:has-text("worker1")');
  await replaced(page, 'host', 'worker1');
  await wait(page, (before) => document.querySelector('.tile:nth-child(2) .figure').textContent.trim() !== before, all);
  await page.waitForSelector('.head-facts:has-text("1 host")');
}));

await tap.test('pod viewer: slider, keys and play move through the steps', () => using(place('pod_viewer'), {}, async (page) => {
  equal(await page.textContent('.step-label'), 'Mean of 40 steps');
  await page.focus('.stepper input[type=range]');
  await page.keyboard.press('ArrowRight');
  await replaced(page, 'step', '120');
  await becomes(() => page.getAttribute('.stepper input[type=range]', 'aria-valuetext'), 'Step 120');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('n');
  await replaced(page, 'step', '121');
  await page.keyboard.press('p');
  await replaced(page, 'step', '120');
  await page.click('.stepper button:text-is("Play")');
  await replaced(page, 'step', '122');
  await page.click('.stepper button:text-is("Pause")');
  await page.locator('.stepper input[type=range]').fill('19');
  await replaced(page, 'step', '138');
  await page.waitForSelector('.pod-side:has-text("worker2")');
}));

await tap.test('pod viewer: stragglers name core, reason and times the median; the table agrees', () => using(place('pod_viewer', RUN, '&step=138'), {}, async (page) => {
  const [row] = await page.$$eval('[aria-label="Stragglers"] tbody tr', (rows) => rows.map((one) => [...one.children].map((cell) => cell.textContent)));
  equal(row.slice(0, 2), ['worker2', 'Input']);
  assert(/^1\.\d\d ×$/.test(row[2]), row[2]);
  equal(await page.textContent('.tabulator-row >> nth=0 >> .tabulator-cell[tabulator-field=host]'), 'worker2');
  await page.click('[aria-label="Stragglers"] button:text-is("worker2")');
  await replaced(page, 'sel', '2001');
  await becomes(() => page.locator('.tabulator-row.selected').count(), 1, 'its row is not marked');
  await page.waitForSelector('.core-card:has-text("2001")');
  await page.selectOption('.select select', 'input');
  await replaced(page, 'metric', 'input');
  await becomes(() => page.getAttribute('.heat-box canvas', 'aria-label'), (text) => text.startsWith('Input of 4 cores in 40 steps'), 'the map has another metric');
}));

await tap.test('pod viewer: a card follows the pointer over the map, a click goes there', () => using(place('pod_viewer'), {}, async (page) => {
  const canvas = page.locator('.heat-box canvas');
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width - 6, box.y + 4 + 26 * 2.5);
  await page.waitForSelector('.tip:has-text("worker2, step 159")');
  await page.mouse.click(box.x + box.width - 6, box.y + 4 + 26 * 2.5);
  await replaced(page, 'step', '159');
  equal((await params(page)).sel, '2001');
}));

await tap.test('pod viewer: all parts of a step are in one unit, which the heads say', () => reading(place('pod_viewer'), async (page) => {
  const heads = await page.$$eval('.table-card .sort span', (spans) => spans.map((span) => span.textContent));
  const times = heads.filter((head) => /^(Step|Device|Host|Kernel|Input|Output|All others|Longest)/.test(head) && head !== 'Host');
  assert(times.length > 6 && times.every((head) => head.endsWith('(ms)')), heads.join());
}));

await tap.test('pod viewer: the table twin of the columns has every category', () => reading(place('pod_viewer'), async (page) => {
  await page.click('.chart-card button:has-text("As table")');
  equal(await page.locator('.chart-card .twin tbody tr').count(), 4);
  const csv = await downloaded(page, () => page.click('[aria-label="Hosts and steps"] button:text-is("CSV")'));
  equal(csv.trim().split('\n').map((line) => line.split(',').length), [42, 42, 42, 42, 42]);
  await leave();
}));

await tap.test('pod viewer: one host says so and compares its steps', () => reading(place('pod_viewer', 'cpu/one'), async (page) => {
  assert((await page.textContent('main')).includes('no other host to compare it with'), 'it does not say so');
  assert((await page.textContent('.pod-side')).includes('Slow steps'), 'no list of steps');
}));
await tap.test('accessible: pod viewer, one host', () => reading(place('pod_viewer', 'cpu/one'), async (page) => {
  await everything(page, 'pod viewer, one host');
  await leave();
}));

await tap.test('pod viewer: a thousand hosts stay usable', () => using(place('pod_viewer', 'big/pod'), {}, async (page) => {
  assert((await page.textContent('.chart-card .card-head')).includes('96 slowest of 1,000'), 'it does not say what is drawn');
  assert(await page.locator('.tabulator-row').count() < 120, 'all rows are in the document');
  const started = Date.now();
  await page.keyboard.press('n');
  await replaced(page, 'step', '120');
  await framed(page);
  console.log(`# a step of a thousand hosts took ${Date.now() - started} ms`);
  assert(await page.evaluate(() => document.querySelectorAll('main *').length) < 5000, 'every host is in the document');
  await page.fill('.find input', 'node-0777');
  await wait(page, () => document.querySelectorAll('.tabulator-row').length === 1);
}));

await tap.test('deep links give the same page again', async () => {
  for (const hash of [place('overview_page', RUN, `&base=${BASE}&step=131&steps=125-140`), place('pod_viewer', RUN, '&metric=input&order=slow&sel=3001&step=130&steps=125-140'), place('input_pipeline_analyzer', RUN, '&q=Map&sort=name&step=131')]) {
    await using(hash, {}, async (page) => {
      await whole(page);
      const first = await page.textContent('main');
      equal(await hashOf(page), hash, 'the address changed by itself');
      await page.reload();
      await settled(page);
      await becomes(() => page.textContent('main'), first);
    });
  }
});

await tap.test('HTML in names and statements stays text', async () => {
  for (const tool of ['overview_page', 'input_pipeline_analyzer', 'pod_viewer']) {
    await using(place(tool, 'names/html'), {}, async (page) => {
      if (tool === 'overview_page') await page.click('.tips summary');
      equal(await page.evaluate(() => [window.hit, document.querySelectorAll('main img, main b b').length]), [null, 0].map((value) => value ?? undefined));
      assert((await page.textContent('main')).includes('<img src=x onerror="window.hit=1"><b>bold</b>'), `${tool} does not show the name`);
      equal(await page.$$eval('main a', (links) => links.filter((link) => link.protocol === 'javascript:').length), 0);
    });
  }
});

await tap.test('inference latency is shown where there are sessions', () => using(place('overview_page', 'names/html'), {}, async (page) => {
  equal(await page.locator('[aria-label="Inference latency"] tbody tr').count(), 3);
}));

for (const [name, hash] of [['overview, compared, a step', place('overview_page', RUN, `&base=${BASE}&step=131&steps=125-140`)], ['overview, CPU', place('overview_page', 'cpu/one')],
  ['input pipeline, TPU', place('input_pipeline_analyzer', 'tpu/slice')], ['pod viewer', place('pod_viewer', RUN, '&step=138&sel=2001')]]) {
  await tap.test(`accessible: ${name}`, () => using(hash, {}, (page) => everything(page, name)));
}

for (const [tool, run] of [['overview_page', RUN], ['input_pipeline_analyzer', RUN], ['pod_viewer', RUN], ['pod_viewer', 'big/pod'], ['overview_page', 'marks/none']]) {
  await tap.test(`320 px and more: ${tool} of ${run} does not scroll sideways`, () => using(place(tool, run), { width: 320, height: 780 }, async (page) => {
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 780 });
      await settled(page);
      equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${width} px`);
    }
  }));
}

await tap.test('what was made up has the shape of what the server answers', () => checkMocks(process.argv[2]));
await tap.test('no request left the origin', () => equal([...foreign], []));
await tap.test('the browser had nothing to complain about', () => equal([...new Set(complaints)], []));

await browser.close();
stop();
tap.end();
