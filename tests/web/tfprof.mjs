// SPDX-License-Identifier: Apache-2.0
// The page of profiles in a browser against a running server: node tests/web/tfprof.mjs URL [PATTERN]
// What it shows is held against the API; answers are made up where no capture here has such a case.

import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { axe, browser, complaints, downloaded, foreign, framed, freshPage, using as usingPage } from './browser.mjs';
import { checkMocks } from './shapes.mjs';
import { assert, equal, Tap } from './support.mjs';
import { composed, DETAIL, large } from './tfprof_mock.mjs';

const root = new URL(process.argv[2] ?? 'http://127.0.0.1:6006/').href;
const tap = new Tap(process.argv[3]);
const ROW = 21;

const api = async (query) => (await fetch(`${root}data?tag=tfprof&${query}`)).json();
const nodesOf = (answer) => answer.nodes.parent.map((parent, index) => ({ parent, index, name: answer.names[answer.nodes.name[index]], micros: answer.nodes.total.micros[index] }));

/** `trees` makes answers up in place of the server's, by the run that is asked for. */
async function open(hash, { trees = null, detail = null, before = null, ...options } = {}) {
  const page = await freshPage(root, options);
  if (trees !== null) await page.route('**/data?*tag=tfprof*', (route) => {
    const query = new URL(route.request().url()).searchParams;
    const json = query.has('node') ? detail : trees[query.get('run')];
    return json === undefined || json === null ? route.fallback() : route.fulfill({ json });
  });
  await before?.(page);
  await page.goto(root + hash);
  await settled(page);
  return page;
}

async function settled(page) {
  await page.waitForSelector('.tabulator-row, .state');
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
  await framed(page);
}

const using = (hash, options, body) => usingPage(open(hash, options), body);
const hasParam = (page, key, wanted) => page.waitForFunction(([name, value]) => (new URLSearchParams(location.hash.split('?')[1]).get(name) ?? '') === value, [key, wanted]);
const names = (page) => page.$$eval('.tabulator-cell[tabulator-field="name"]', (cells) => cells.map((cell) => cell.querySelector('.scope-name, .scope-leaf').textContent));
const showsName = (page, wanted, is = true) => page.waitForFunction(([name, shown]) => [...document.querySelectorAll('.scope-name, .scope-leaf')].some((cell) => cell.textContent === name) === shown, [wanted, is]);
const tile = async (page, label) => (await page.textContent(`.tile:has(dt:text-is("${label}")) .figure`)).trim();
const status = (page, wanted) => page.waitForFunction((text) => document.querySelector('.flame-card [role=status]').textContent.startsWith(text), wanted);
const canvas = (page) => page.locator('.flame canvas[role=application]');

const TREE = ['(root)', 0,
  ['jit(step)', 0, ['conv', 0, ['kernel', 400], ['add', 8], ['layers', 5, ['while', 100], ['body', 33]]], ['dense backward', 0, ['dot', 240.5], ['reduce', 30], ['unknown call', 33]]],
  ['host', 4, ['infeed', 20]]];
const BASE = ['(root)', 0, ['jit(step)', 0, ['conv', 0, ['kernel', 200], ['add', 8], ['lost', 50]], ['dense backward', 0, ['dot', 300], ['reduce', 30]]], ['host', 4, ['infeed', 20]]];

await tap.test('table, picture and tiles are of one answer', async () => {
  const answer = await api('run=now');
  const nodes = nodesOf(answer);
  await using('#/tfprof?run=now', {}, async (page) => {
    const seconds = nodes[0].micros / 1e6;
    equal(await tile(page, 'Total time'), `${seconds.toPrecision(3)} s`);
    const [step] = nodes.filter(({ parent }) => parent === 0);
    // There is but one way down to here, and it is open.
    const [main] = nodes.filter(({ parent }) => parent === step.index);
    equal((await names(page)).slice(0, 2), [step.name, main.name]);
    const below = nodes.filter(({ parent }) => parent === main.index);
    equal((await names(page)).slice(2, 2 + below.length), below.map(({ name }) => name), 'in the order of the answer');
    const levels = Math.max(...nodes.map(function depth({ parent }) { return parent < 0 ? 1 : 1 + depth(nodes[parent]); }));
    equal(Math.round((await canvas(page).boundingBox()).height), levels * ROW);
    await canvas(page).hover({ position: { x: 20, y: ROW + 10 } });
    await page.waitForSelector('.flame .tip:not([hidden])');
    assert((await page.textContent('.flame .tip')).includes(step.name), await page.textContent('.flame .tip'));
    assert((await page.textContent('main')).includes('belong to no operation') === (answer.left_out.ops > 0), 'what is left out');
    await page.click(`.twist[aria-label="Open ${below[0].name}"]`);
    await hasParam(page, 'open', `${step.name}/${main.name}/${below[0].name}`);
    const [child] = nodes.filter(({ parent }) => parent === below[0].index);
    await showsName(page, child.name);
    await page.goBack();
    await hasParam(page, 'open', '');
    await axe(page, 'profile');
  });
});

await tap.test('what is asked for is in the address, and what is in the address is asked for', () => using('#/tfprof?run=now&select=micros,params&order_by=name&max_depth=3&min_micros=5&wrappers=strip', {}, async (page) => {
  equal(await page.inputValue('label:has-text("Order") select'), 'name');
  equal(await page.inputValue('label:has-text("Depth") input'), '3');
  equal(await page.$$eval('.profile-controls .chip', (chips) => chips.map((chip) => chip.textContent)), ['Total time (µs) ≥ 5', 'One scope for a function and what JAX makes of it']);
  assert((await page.textContent('.remarks')).includes('Parameters are entry parameters'), 'the rule for parameters');
  const asked = async (act) => {
    const [request] = await Promise.all([page.waitForRequest((one) => one.url().includes('tag=tfprof')), act()]);
    await settled(page);
    return Object.fromEntries(new URL(request.url()).searchParams);
  };
  let query = await asked(() => page.click('.segmented label:has(span:text-is("Code"))'));
  equal([query.view, query.select, query.order_by, query.max_depth, query.min_micros, query.wrappers], ['code', 'micros,params', 'name', '3', '5', 'strip']);
  await page.click('.profile-options summary');
  query = await asked(async () => {
    await page.fill('.option-fields label:has-text("Hide") input', '.*model.*');
    await page.keyboard.press('Enter');
  });
  equal(query.hide_name_regexes, '.*model.*');
  await hasParam(page, 'hide_name_regexes', '.*model.*');
  assert(!(await names(page)).some((name) => name.includes('model')), 'hidden names are shown');
  await axe(page, 'profile with its options open');
  query = await asked(() => page.click('.chip:has-text("Total time")'));
  equal(query.min_micros, undefined);
  await page.fill('.option-fields label:has-text("Runs") input', 'many');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.profile-options .problem:not([hidden])');
  await hasParam(page, 'min_occurrence', '');
  query = await asked(async () => {
    await page.click('.menu button:has-text("Quantities")');
    await page.check('.menu-panel label:has-text("Runs and definitions") input');
  });
  equal(query.select, 'micros,occurrence,params');
  query = await asked(() => page.selectOption('label:has-text("Steps") select', 'mean'));
  equal(query.step, 'mean');
}));

await tap.test('an expression that makes no sense is explained, and can be changed', () => using('#/tfprof?run=now&show_name_regexes=(', { quiet: true }, async (page) => {
  await page.waitForSelector('.state.failed');
  assert((await page.textContent('.state.failed')).includes('show_name_regexes'), await page.textContent('.state.failed'));
  await page.click('.chip');
  await page.waitForSelector('.tabulator-row');
}));

await tap.test('a filter that leaves nothing says so, and is taken away', () => using('#/tfprof?run=now&min_micros=99999999999', {}, async (page) => {
  await page.click('button:has-text("Show everything")');
  await hasParam(page, 'min_micros', '');
  await page.waitForSelector('.tabulator-row');
}));

await tap.test('the picture: choose, zoom, search, focus, hide, another quantity', () => using('#/tfprof?run=now', { trees: { now: composed(TREE) }, detail: DETAIL }, async (page) => {
  const at = (share, level) => ({ position: { x: Math.round(share * width), y: level * ROW + 10 } });
  const { width } = await canvas(page).boundingBox();
  await canvas(page).click(at(0.02, 2));
  await hasParam(page, 'sel', 'jit(step)/conv');
  await page.waitForSelector('.profile-quantities');
  await page.keyboard.press('Escape');
  await hasParam(page, 'sel', '');
  await framed(page);
  await canvas(page).dblclick({ position: { x: 20, y: 2 * ROW + 10 } });
  await hasParam(page, 'zoom', 'jit(step)/conv');
  await page.click('.flame-crumbs button >> nth=0');
  await hasParam(page, 'zoom', '');
  await page.goto(`${root}#/tfprof?run=now`);
  await page.fill('input[type=search]', 'body');
  // 33 of 873.5
  await status(page, '1 match, 3.8 %');
  await showsName(page, 'body');
  await page.fill('input[type=search]', '');
  await status(page, '');
  const total = async (wanted) => {
    await canvas(page).focus();
    await page.keyboard.press('Home');
    await hasParam(page, 'sel', '/');
    await page.keyboard.press('ArrowUp');
    await canvas(page).hover({ position: { x: 3, y: 5 } });
    await page.waitForFunction((text) => document.querySelector('.flame .tip').textContent.includes(text), wanted);
    await page.mouse.move(0, 0);
  };
  await page.goto(`${root}#/tfprof?run=now&focus=/^(body|infeed)$/`);
  await total('53.00 µs');
  await page.goto(`${root}#/tfprof?run=now&drop=conv`);
  await total('327.5 µs');
  await page.goto(`${root}#/tfprof?run=now`);
  await page.fill('.flame-card label:has-text("Hide") input', '=kernel');
  await hasParam(page, 'drop', '=kernel');
  await total('473.5 µs');
  await page.goto(`${root}#/tfprof?run=now`);
  await page.selectOption('.flame-card label:has-text("Quantity") select', 'float_ops');
  await hasParam(page, 'by', 'float_ops');
  await total('840.5 kFLOP');
}));

await tap.test('unknown amounts are no zeros, and sums without them say so', () => using('#/tfprof?run=now&open=jit(step),jit(step)%2Fdense backward', { trees: { now: composed(TREE) }, detail: DETAIL }, async (page) => {
  const cell = (name, column) => page.textContent(`.tabulator-row:has(.scope-name:text-is("${name}"), .scope-leaf:text-is("${name}")) .tabulator-cell[tabulator-field="${column}"]`);
  equal((await cell('unknown call', 'float_ops')).trim(), '–');
  equal((await cell('dense backward', 'float_ops')).trim(), '≥ 270.5 k');
  equal((await cell('conv', 'float_ops').catch(() => '')).trim(), '546.0 k');
  equal((await cell('dense backward', 'pass')).trim(), 'backward');
}));

await tap.test('a node: own and total of every quantity, steps, shapes, source, and where else it is', () => using('#/tfprof?run=now&sel=jit(step)/conv/kernel', { trees: { now: composed(TREE) }, detail: DETAIL }, async (page) => {
  await page.waitForSelector('.profile-quantities');
  const text = await page.textContent('.detail');
  for (const part of ['kernel', '400.0 µs', '12.50 µs', '4.10 kFLOP', 'Unknown: peak bytes.', 'By step, 3 steps', '2.25 µs to 6.25 µs, mean 4.17 µs', 'f32[8,16]{1,0}', 'model.py:12', '2 calls led here', 'cublas-gemm.3', 'jit_step', 'host-a /device:GPU:0']) assert(text.includes(part), `${part} is missing: ${text}`);
  equal(await page.$$eval('.spark rect:not(.spark-hit)', (bars) => bars.length), 3);
  const hrefs = Object.fromEntries(await page.$$eval('.detail-links a', (links) => links.map((link) => [link.textContent, link.getAttribute('href')])));
  assert(hrefs['Marked in the trace'].includes('q=cublas-gemm.3') && hrefs['Marked in the trace'].includes('in=all'), JSON.stringify(hrefs));
  assert(hrefs['In the op profile'].startsWith('#/op_profile?run=now'), JSON.stringify(hrefs));
  await axe(page, 'a node of a profile');
  await page.click('.detail button:has-text("Focus on the name")');
  await hasParam(page, 'focus', '=kernel');
  await page.click('.detail button:has-text("Hide the name")');
  await hasParam(page, 'drop', '=kernel');
}));

await tap.test('the server tells a node what it is', async () => {
  const nodes = nodesOf(await api('run=now'));
  const parents = new Set(nodes.map(({ parent }) => parent));
  const leaf = nodes.filter(({ index }) => !parents.has(index)).sort((a, b) => b.micros - a.micros)[0];
  const path = [];
  for (let at = leaf; at.parent >= 0; at = nodes[at.parent]) path.unshift(at.name.replace(/~/g, '~0').replace(/\//g, '~1'));
  await using(`#/tfprof?run=now&sel=${encodeURIComponent(path.join('/'))}`, {}, async (page) => {
    await page.waitForSelector('.profile-quantities');
    await page.waitForSelector('.detail .slowest');
    assert((await page.textContent('.detail')).includes('By step'), await page.textContent('.detail'));
    const link = page.locator('.detail-links a:text-is("Marked in the trace")');
    await link.click();
    await page.waitForFunction(() => location.hash.startsWith('#/trace_viewer'));
    await page.waitForFunction(() => / of |match/.test(document.querySelector('main').textContent));
  });
});

await tap.test('two runs: colours by change, widths of either, rows that only one has', () => using('#/tfprof?run=now&base=then&open=jit(step),jit(step)%2Fconv', { trees: { now: composed(TREE), then: composed(BASE) }, detail: DETAIL, theme: 'dark', width: 1024, height: 768 }, async (page) => {
  const cell = (name, column) => page.textContent(`.tabulator-row:has(.scope-name:text-is("${name}"), .scope-leaf:text-is("${name}")) .tabulator-cell[tabulator-field="${column}"]`);
  equal((await cell('kernel', 'base')).trim(), '200.00');
  equal((await cell('kernel', 'delta')).trim(), '+200.00');
  equal((await cell('layers', 'delta_percent')).trim(), 'new');
  equal((await cell('lost', 'delta_percent')).trim(), 'gone');
  assert((await page.textContent('.flame-card')).includes('Red is more than in the base run'), 'what colours mean');
  await page.click('.segmented label:has(span:text-is("Base run"))');
  await hasParam(page, 'width', 'base');
  // In the base run, what is gone is 50 of 612.
  await page.fill('input[type=search]', 'lost');
  await status(page, '1 match, 8.2 %');
  await axe(page, 'two profiles');
}));

await tap.test('outputs are files of the same tree', () => using('#/tfprof?run=now&view=code&min_micros=1', {}, async (page) => {
  const whole = (await api('run=now&view=code&min_micros=1')).nodes.total.micros[0];
  const save = (label) => downloaded(page, () => page.click(`.outputs a:has-text("${label}")`));
  const stacks = (await save('Folded')).trim().split('\n');
  const sum = stacks.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  assert(Math.abs(sum / (whole * 1000) - 1) < 0.001, `${sum} ns of ${whole} us`);
  assert((await save('CSV')).split('\n').length > 10, 'lines of the CSV');
  equal(JSON.parse(await save('JSON')).view, 'code');
  assert((await save('Text')).includes('node name'), 'the original’s legend');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.outputs a:has-text("pprof")')]);
  assert(download.suggestedFilename().endsWith('.pb.gz'), download.suggestedFilename());
  assert(gunzipSync(await readFile(await download.path())).includes('micros'), 'the quantity of the pprof file');
}));

await tap.test('no width is too small', async () => {
  for (const width of [360, 700]) await using('#/tfprof?run=now', { width, height: 800 }, async (page) => {
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `wider than ${width}`);
    await axe(page, `profile, ${width} wide`);
  });
});

await tap.test('of a hundred thousand nodes only what can be seen is drawn', () => using('#/tfprof?run=now', {
  trees: { now: large(100_000) }, detail: DETAIL,
  before: (page) => page.addInitScript(() => {
    window.boxes = 0;
    const { fillRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillRect = function count(...place) { window.boxes += 1; return fillRect.apply(this, place); };
  }),
}, async (page) => {
  const { width, height } = await canvas(page).boundingBox();
  const most = (height / ROW) * (width + 2);
  const drawn = (act) => page.evaluate(() => { window.boxes = 0; }).then(act).then(() => framed(page)).then(() => page.evaluate(() => window.boxes));
  const once = await page.evaluate(() => window.boxes);
  assert(once > 500, `${once} boxes`);
  // The pointer draws the box that it is on.
  const moved = await drawn(async () => { for (let i = 1; i <= 20; i += 1) await canvas(page).hover({ position: { x: 40 * i, y: 3 * ROW + 8 } }); });
  assert(moved <= 60, `${moved} boxes for 20 moves`);
  const chosen = await drawn(async () => {
    await canvas(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('.profile-quantities');
  });
  assert(chosen <= 3 * most, `${chosen} boxes, the panel beside the picture made it narrower`);
  await page.keyboard.press('Escape');
  await hasParam(page, 'sel', '');
  const searched = await drawn(async () => {
    await page.fill('input[type=search]', 'block_7');
    await page.waitForFunction(() => document.querySelector('.flame-card [role=status]').textContent.includes('match'));
  });
  assert(searched <= 3 * most, `${searched} boxes of at most ${most} a picture`);
  assert((await page.$$('.tabulator-row')).length < 150, 'rows that cannot be seen are made');
  assert(/5,000 lines|lines/.test(await page.textContent('.table-card [role=status]')), 'the tally');
}));

await tap.test('what is made up here is shaped as the server’s', () => checkMocks(root));

await tap.test('nothing went wrong on the way, and nothing came from elsewhere', async () => {
  equal(complaints, []);
  equal([...foreign], []);
});

await browser.close();
tap.end();
