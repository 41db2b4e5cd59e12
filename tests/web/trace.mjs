// SPDX-License-Identifier: Apache-2.0
// The trace viewer in a browser, with a made-up trace: node tests/web/trace.mjs URL DIR [PATTERN]
// DIR holds the built page; trace_mock.mjs gives the answers, which are held against those of the server at URL.

import { addressOf, axe, becomes, browser, close, complaints, edit, foreign, framed, freshPage, hashOf, params, using as usingPage } from './browser.mjs';
import { checkMocks } from './shapes.mjs';
import { assert, equal, Tap } from './support.mjs';
import { serve } from './trace_mock.mjs';

const asked = [];
/** When, and whether, the server has found the steps of a raw capture. */
let found = async () => true;
const { url: root, close: stop } = await serve(process.argv[3], 0, (url) => asked.push(url), () => found());
const tap = new Tap(process.argv[4]);

const RUN = 'resnet50/2026_11_20_09_14_02';
const place = (more = '', run = RUN) => `#/trace_viewer?run=${run}${more}`;
/** A stretch in which boxes are wide: step 122. */
const NEAR = '&from=20000000&to=24000000';
/** The first kernel in it begins at 20.7 ms on the first track and lasts 212 µs. */
const KERNEL = '0.0.528';

async function open(hash, { gl = false, touch = false, forced = false, ...options } = {}) {
  const page = await freshPage(root, { ...options, hasTouch: touch || undefined, forcedColors: forced ? 'active' : undefined, expected: (text) => text.includes('GL Driver Message') });
  // Without a graphics card the page draws on a 2D canvas; a browser that does not say so is drawn for by WebGL.
  if (gl) {
    await page.addInitScript(() => {
      const get = WebGL2RenderingContext.prototype.getExtension;
      WebGL2RenderingContext.prototype.getExtension = function extension(name) { return name === 'WEBGL_debug_renderer_info' ? null : get.call(this, name); };
    });
  }
  await page.goto(root + hash);
  await settled(page);
  return page;
}

async function settled(page) {
  await page.waitForSelector('.trace-tally:not(:empty), .state, .trace-list table');
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null && !(document.querySelector('.trace-tally')?.textContent ?? '').includes('loading'));
  await framed(page);
}

const using = (hash, options, body) => usingPage(open(hash, options), body);

const param = (page, key, test) => page.waitForFunction(([name, wanted]) => {
  const value = new URLSearchParams(location.hash.split('?')[1]).get(name);
  return wanted === null ? value === null : wanted === undefined ? value !== null : value === wanted;
}, [key, test]);
/** A view that moves is written to the address when it comes to rest. */
const still = async (page) => {
  for (let before = ''; before !== await addressOf(page);) {
    before = await addressOf(page);
    await page.waitForTimeout(500);
    await framed(page);
  }
};
const live = (page, text) => page.waitForFunction((wanted) => (document.querySelector('.trace-live')?.textContent ?? '').includes(wanted), text);

/** Where a time on the y-th pixel of the tracks is in the window. */
async function at(page, ms, y) {
  const box = await page.locator('.trace-area').boundingBox();
  const { from, to } = await params(page);
  return { x: box.x + ((ms * 1e6 - Number(from)) / (Number(to) - Number(from))) * box.width, y: box.y + y };
}
const FIRST_TRACK = 26 + 4 + 8;

/** Colours of a canvas at a point of the window, as [r, g, b]. */
const colourAt = async (page, { x, y }) => {
  const shot = (await page.screenshot({ clip: { x: Math.round(x), y: Math.round(y), width: 1, height: 1 } })).toString('base64');
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.getContext('2d').drawImage(image, 0, 0);
    return [...canvas.getContext('2d').getImageData(0, 0, 1, 1).data.slice(0, 3)];
  }, shot);
};

for (const gl of [true, false]) {
  const kind = gl ? 'WebGL' : 'canvas';
  await tap.test(`${kind}: boxes are where their times are, in their category's colour`, () => using(place(NEAR), { gl }, async (page) => {
    equal(await colourAt(page, await at(page, 20.85, FIRST_TRACK + 6)), [0x4c, 0x76, 0x5c], 'kernel');
    equal(await colourAt(page, await at(page, 20.3, FIRST_TRACK + 6)), [255, 255, 255], 'nothing');
    equal(await colourAt(page, await at(page, 22.2, FIRST_TRACK + 26)), [0xb9, 0x43, 0x16], 'copy');
  }));
  await tap.test(`${kind}: a kernel and an op of the host that are called alike have their own colours`, () => using(place('', 'one/name'), { gl }, async (page) => {
    const [wide, tall] = await page.locator('.trace-area').evaluate((area) => [area.clientWidth, area.clientHeight]);
    const box = await page.locator('.trace-area').boundingBox();
    const seen = new Set();
    for (let y = 2; y < Math.min(tall, 160); y += 4) seen.add((await colourAt(page, { x: box.x + wide * 0.3, y: box.y + y })).join());
    assert(seen.has('76,118,92'), `no device compute among ${[...seen].join(' ')}`);
    assert(seen.has([0xc2, 0x7c, 0x0b].join()), `no host compute among ${[...seen].join(' ')}`);
    equal(await page.$$eval('.trace-legend .legend span', (keys) => keys.map((key) => key.textContent)), ['Device compute', 'Host compute']);
  }));
  await tap.test(`${kind}: a click chooses an event; details, link and line say what it is`, () => using(place(NEAR), { gl }, async (page) => {
    const { x, y } = await at(page, 20.8, FIRST_TRACK);
    await page.mouse.click(x, y);
    await param(page, 'sel', KERNEL);
    await live(page, 'volta_scudnn_winograd_128x128_ldg1_ldg4_relu, ');
    await live(page, 'Stream #13(Compute), step 122');
    await page.waitForSelector('.trace-detail:has-text("Launched by")');
    const text = await page.textContent('.trace-detail');
    for (const part of ['20.70 ms', 'Device compute', '256,1,1', 'Launched by', 'cuLaunchKernel', '<img src=x']) assert(text.includes(part), `${part} is missing: ${text}`);
    assert(await page.evaluate(() => window.hit === undefined), 'a name became markup');
    equal(await page.getAttribute('.trace-extra a:text-is("Kernel stats")', 'href'), `#/kernel_stats?run=${RUN}&f.kernel==volta_scudnn_winograd_128x128_ldg1_ldg4_relu`);
    await page.keyboard.press('Escape');
    await param(page, 'sel', null);
    await page.waitForSelector('.trace-detail', { state: 'hidden' });
  }));
}

await tap.test('a merged stretch says how many it is and a click looks closer', () => using(place(), {}, async (page) => {
  const box = await page.locator('.trace-area').boundingBox();
  let x = box.x + 30;
  for (; x < box.x + 400; x += 2) {
    await page.mouse.move(x, box.y + FIRST_TRACK);
    if ((await page.textContent('.trace-tip')).includes(' events')) break;
  }
  const tip = await page.textContent('.trace-tip');
  assert(/^\d+ events.*% busy; longest: .*Click to zoom in/.test(tip), tip);
  await page.mouse.click(x, box.y + FIRST_TRACK);
  await param(page, 'from');
  equal((await params(page)).sel, undefined);
}));

await tap.test('the footer counts what is drawn and what there is', () => using(place(), {}, async (page) => {
  const text = await page.textContent('.trace-tally');
  const [, boxes, events, total] = /^([\d,]+) drawn for ([\d,]+) in sight of ([\d,]+) events at [\d.]+ µs\/px · hatched/.exec(text) ?? [];
  const number = (part) => Number(part.replace(/,/g, ''));
  // The 400 values of the counter are no boxes.
  equal(number(total) - 400, number(events), text);
  assert(number(boxes) < number(events) && number(boxes) > 500, text);
}));

await tap.test('a counter of memory says what was in use and leads to the memory profile then', () => using(place(NEAR), {}, async (page) => {
  const row = await page.locator('.trace-row', { hasText: 'Memory GPU_0_bfc' }).boundingBox();
  const { x } = await at(page, 22.3, 0);
  await page.mouse.move(x, row.y + row.height / 2);
  await page.waitForFunction(() => /^[\d.]+ [GM]iB at 22\.[23]\d* msMemory GPU_0_bfc\. Click/.test(document.querySelector('.trace-tip:not([hidden])')?.textContent ?? ''));
  await page.mouse.click(x, row.y + row.height / 2);
  await page.waitForFunction(() => location.hash.startsWith('#/memory_profile?'));
  const { at: moment, mem, run } = await params(page);
  equal([mem, run], ['GPU_0_bfc', RUN]);
  assert(Math.abs(Number(moment) - 22.3e6) < 10e3, moment);
}));

await tap.test('links lead along flows, by button and by key', () => using(place(`${NEAR}&sel=${KERNEL}`), {}, async (page) => {
  await live(page, 'volta');
  await page.keyboard.press('[');
  await live(page, 'cuLaunchKernel, 30.00 µs, tf_Compute/202');
  await page.keyboard.press(']');
  await live(page, 'volta');
  await page.click('.trace-extra .linklike:text-is("cuLaunchKernel")');
  await live(page, 'cuLaunchKernel');
}));

await tap.test('arrows go to neighbours, parents and children', () => using(place(NEAR), {}, async (page) => {
  await page.focus('.trace-area');
  await page.keyboard.press('ArrowRight');
  await param(page, 'sel');
  const first = (await params(page)).sel;
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction((id) => !location.hash.includes(`sel=${id}`), first);
  await page.keyboard.press('ArrowLeft');
  await param(page, 'sel', first);
  await page.keyboard.press('ArrowDown');
  await live(page, 'MemcpyH2D');
  const before = asked.length;
  await edit(page, /sel=[\d.]+/, 'sel=0.4.16');
  await live(page, 'train, 9.50 ms, python3');
  assert(asked.length > before, 'nothing was asked for');
  await page.keyboard.press('ArrowDown');
  await live(page, '__inference_train_function_5821');
  await page.keyboard.press('ArrowDown');
  await live(page, 'FunctionRun');
  await page.keyboard.press('ArrowUp');
  await live(page, '__inference');
  await page.keyboard.press('.');
  await live(page, 'step 123');
  await page.keyboard.press(',');
  await live(page, 'step 122');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.closest('.trace-detail') !== null);
}));

await tap.test('W, A, S, D by their place; +, -, 0; f centres, twice fits', () => using(place(NEAR), {}, async (page) => {
  const view = () => page.evaluate(() => ['from', 'to'].map((key) => Number(new URLSearchParams(location.hash.split('?')[1]).get(key))));
  const changes = async (act) => {
    const before = await view();
    await act();
    await page.waitForFunction(([from, to]) => {
      const now = new URLSearchParams(location.hash.split('?')[1]);
      return Number(now.get('from')) !== from || Number(now.get('to')) !== to;
    }, before);
    await still(page);
    return [before, await view()];
  };
  let [a, b] = await changes(() => page.keyboard.press('w'));
  assert(b[1] - b[0] < a[1] - a[0], 'w does not zoom in');
  [a, b] = await changes(() => page.keyboard.press('s'));
  assert(b[1] - b[0] > a[1] - a[0], 's does not zoom out');
  [a, b] = await changes(() => page.keyboard.press('d'));
  assert(b[0] > a[0] && Math.abs((b[1] - b[0]) / (a[1] - a[0]) - 1) < 0.01, 'd does not move right');
  [a, b] = await changes(() => page.keyboard.press('a'));
  assert(b[0] < a[0], 'a does not move left');
  // A French keyboard has the letter z where others have w.
  [a, b] = await changes(() => page.evaluate(() => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'z', code: 'KeyW', bubbles: true, cancelable: true }))));
  assert(b[1] - b[0] < a[1] - a[0], 'the place of w does not zoom in');
  await page.evaluate(() => document.dispatchEvent(new KeyboardEvent('keyup', { key: 'z', code: 'KeyW' })));
  [a, b] = await changes(() => page.keyboard.press('+'));
  assert(b[1] - b[0] < a[1] - a[0], '+ does not zoom in');
  await page.keyboard.press('0');
  await param(page, 'from', null);
  await edit(page, null, `&sel=${KERNEL}`);
  await live(page, 'volta');
  await page.keyboard.press('f');
  await page.keyboard.press('f');
  await page.waitForFunction(() => {
    const to = Number(new URLSearchParams(location.hash.split('?')[1]).get('to'));
    return to > 0 && to < 21_200_000;
  });
  const [from, to] = await view();
  assert(from < 20_700_000 && to > 20_912_000 && to - from < 600_000, `${from} to ${to}`);
}));

await tap.test('dragging chooses an area with its table; the address holds it; r makes one of the selection', () => using(place(NEAR), {}, async (page) => {
  const [from, to] = [await at(page, 20.6, FIRST_TRACK - 4), await at(page, 21.6, FIRST_TRACK + 30)];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 5 });
  await page.mouse.up();
  await param(page, 'sel');
  const { sel } = await params(page);
  const [, start, end, tracks] = /^area:([\d.]+)-([\d.]+):(.*)$/.exec(sel) ?? [];
  assert(Math.abs(Number(start) - 20.6e6) < 1e4 && Math.abs(Number(end) - 21.6e6) < 1e4, sel);
  equal(tracks, '0.0,0.1');
  await page.waitForSelector('.trace-drawer .tabulator-row');
  const cells = (id) => page.$$eval(`.trace-drawer .tabulator-cell[tabulator-field="${id}"]`, (list) => list.map((cell) => cell.textContent));
  const shown = await cells('name');
  assert(shown.includes('MemcpyH2D') && shown.includes('Relu'), shown.join());
  // The copy begins before the area and ends after it: it counts with the length of the area.
  equal((await cells('share'))[shown.indexOf('MemcpyH2D')], '100.0 %');
  await page.click('.trace-drawer .sort:has-text("Count")');
  await param(page, 'a.sort', '-count');
  const other = await open(await hashOf(page));
  await other.waitForSelector('.trace-drawer .tabulator-row');
  const lines = (one) => one.$$eval('.trace-drawer .tabulator-row', (rows) => rows.map((row) => row.textContent));
  await page.waitForSelector('.trace-drawer [tabulator-field=count][aria-sort=descending]');
  await becomes(() => lines(other), await lines(page), 'the link shows something else');
  await close(other);
  await page.click('[aria-label="Clear the area"]');
  await param(page, 'sel', null);
  await edit(page, null, `&sel=${KERNEL}`);
  await live(page, 'volta');
  await page.keyboard.press('r');
  await page.waitForFunction(() => location.hash.includes('sel=area:20700000-20'));
}));

await tap.test('an area says how busy it was; derived lines are summed up by themselves', () => using(place(`${NEAR}&sel=area:20600000-21600000`), {}, async (page) => {
  await page.waitForSelector('.trace-drawer .tabulator-row');
  await page.waitForSelector('.trace-drawer header:has-text("host threads busy")');
  const facts = await page.textContent('.trace-drawer header');
  assert(/devices busy [\d.]+ %, host threads busy [\d.]+ %/.test(facts), facts);
  const shares = [...facts.matchAll(/busy ([\d.]+) %/g)].map(([, share]) => Number(share));
  assert(shares.every((share) => share > 0 && share <= 100), facts);
  equal(await page.$$eval('.trace-drawer select option', (options) => options.map((option) => option.textContent)), ['what was recorded', 'lines “Framework Ops”']);
  await page.selectOption('.trace-drawer select', 'Framework Ops');
  await param(page, 'a.layer', 'Framework Ops');
  await page.waitForFunction(() => /on 1 of 6 tracks/.test(document.querySelector('.trace-drawer header').textContent) && !/host threads busy/.test(document.querySelector('.trace-drawer header').textContent));
}));

await tap.test('search counts the whole trace and goes from hit to hit', () => using(place(), {}, async (page) => {
  await page.keyboard.press('/');
  await page.keyboard.type('iteratorgetnext');
  await page.waitForFunction(() => document.querySelector('.trace-search-status')?.textContent === '120 events on 1 track');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.trace-search-status')?.textContent === '1 of 120 events on 1 track');
  await live(page, 'IteratorGetNext');
  const first = (await params(page)).sel;
  await page.keyboard.press('Enter');
  await becomes(async () => (await params(page)).sel, (id) => id !== first);
  await page.keyboard.press('Shift+Enter');
  await param(page, 'sel', first);
  // Faster than its event comes: what is asked for last is chosen.
  await page.route('**/trace_viewer/event?*', async (route) => {
    await new Promise((done) => { setTimeout(done, 400); });
    await route.continue();
  });
  await live(page, 'IteratorGetNext');
  await page.locator('.find input').press('Enter');
  await page.locator('.find input').press('Shift+Enter');
  equal((await params(page)).sel, first);
  await page.keyboard.press('Shift+Enter');
  await page.waitForFunction(() => document.querySelector('.trace-search-status')?.textContent.startsWith('120 of 120'));
  await page.click('.trace-search [aria-label="Next event found"]');
  await param(page, 'sel', first);
  await page.fill('.find input', '^train$');
  await page.click('.regex');
  await page.waitForFunction(() => document.querySelector('.trace-search-status')?.textContent.startsWith('20 events'));
  await page.fill('.find input', '(');
  await page.waitForFunction(() => document.querySelector('.trace-search-status')?.textContent.startsWith('not a regular expression'));
  complaints.length = 0;
  await page.click('.trace-search button:has-text("Clear")');
  await param(page, 'q', null);
}));

await tap.test('marks of a search are over the whole trace, and going to a hit shows it', () => using(place('&q=hay&in=args', 'many/hits'), {}, async (page) => {
  const status = (text) => page.waitForFunction((wanted) => document.querySelector('.trace-search-status')?.textContent.startsWith(wanted), text);
  await status('3,000 events on 1 track');
  await framed(page);
  // A row of pixels of the map above its density: which parts of the trace have a mark.
  const marks = () => page.$eval('.trace-map', (canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 1, canvas.width, 1);
    return Array.from({ length: 20 }, (_, part) => {
      const [from, to] = [part, part + 1].map((at) => Math.floor((at / 20) * canvas.width));
      let marked = 0;
      for (let x = from; x < to; x += 1) if (data[4 * x] < 80 && data[4 * x + 3] > 0) marked += 1;
      return marked > 0;
    });
  });
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
  equal(await marks(), new Array(20).fill(true), 'parts of the trace with a mark');
  const wide = async () => {
    const { from, to } = await params(page);
    return (1000 / (Number(to) - Number(from))) * (await page.locator('.trace-area').boundingBox()).width;
  };
  await page.focus('.find input');
  await page.keyboard.press('Enter');
  await status('1 of 3,000');
  await param(page, 'from');
  await still(page);
  const seen = await wide();
  assert(seen >= 20 && seen < 200, `the hit is ${seen} px wide`);
  // The next one at the same zoom, though it is far away.
  await page.keyboard.press('Enter');
  await status('2 of 3,000');
  await param(page, 'sel', '0.0.1');
  await still(page);
  assert(Number((await params(page)).from) < 100e6 && Number((await params(page)).to) > 100e6, `${(await params(page)).from} to ${(await params(page)).to}`);
  assert(Math.abs((await wide()) / seen - 1) < 0.01, 'another zoom');
  // Late in the trace hits are framed that no page of the list holds yet.
  const asking = page.waitForResponse((response) => response.url().includes('/trace_viewer/search') && response.url().includes('from_ps='));
  const { from, to, sel, ...kept } = await params(page);
  await page.evaluate((query) => { location.hash = `#/trace_viewer?${query}`; }, String(new URLSearchParams({ ...kept, from: '289999995000', to: '290000015000' })));
  await asking;
  await page.waitForFunction(([y]) => {
    const top = document.querySelector('.trace-top');
    const scale = top.width / top.clientWidth;
    // The event ends at three tenths of the view; its frame is there.
    const { data } = top.getContext('2d').getImageData(Math.round(0.3 * top.width) - 3, Math.round(y * scale), 6, 1);
    return Array.from({ length: 6 }, (_, i) => data[4 * i + 3]).some((alpha) => alpha > 100);
  }, [FIRST_TRACK]);
}));

await tap.test('arguments can be searched', () => using(place('&q=19300000&in=args'), {}, async (page) => {
  await page.waitForFunction(() => document.querySelector('.trace-search-status')?.textContent === '40 events on 1 track');
}));

await tap.test('n and p go through steps, a link to a step shows it', () => using(place('&step=train 125'), {}, async (page) => {
  await page.keyboard.press('n');
  await param(page, 'step', '126');
  await page.waitForFunction(() => Number(new URLSearchParams(location.hash.split('?')[1]).get('from')) > 59e6);
  await page.keyboard.press('p');
  await param(page, 'step', '125');
}));

await tap.test('tracks fold, pin, hide, move and filter; the address remembers', () => using(place(), {}, async (page) => {
  const names = (one = page) => one.$$eval('.trace-row', (rows) => rows.map((row) => ({ name: row.querySelector('.trace-name').textContent, y: row.getBoundingClientRect().top })).sort((a, b) => a.y - b.y).map((row) => row.name));
  const drawn = (wanted, one = page) => becomes(() => names(one), wanted, 'rows');
  const device = ['Stream #13(Compute)', 'Stream #14(MemcpyH2D)', 'Framework Ops', 'Memory GPU_0_bfc'];
  const host = ['python3', 'tf_Compute/202'];
  await drawn(['/device:GPU:0', ...device, '/host:CPU', ...host]);
  await page.click('.trace-fold:has-text("/device:GPU:0")');
  await drawn(['/device:GPU:0', '/host:CPU', ...host]);
  await param(page, 'fold', 'p0.1');
  await page.click('.trace-fold:has-text("/device:GPU:0")');
  await page.hover('.trace-row:has-text("tf_Compute/202")');
  await page.click('[aria-label="Pin tf_Compute/202 to the top"]');
  await drawn(['tf_Compute/202', '/device:GPU:0', ...device, '/host:CPU', 'python3']);
  await param(page, 'pin', '0.5');
  const menu = async (row, item) => {
    await page.hover(`.trace-row:has-text("${row}")`);
    await page.click(`.trace-row:has-text("${row}") .trace-more`);
    await page.click(`.menu-item:text-is("${item}")`);
  };
  await menu('Framework Ops', 'Hide this track');
  await drawn(['tf_Compute/202', '/device:GPU:0', ...device.filter((name) => name !== 'Framework Ops'), '/host:CPU', 'python3']);
  await menu('/host:CPU', 'Move up');
  await drawn(['tf_Compute/202', '/host:CPU', 'python3', '/device:GPU:0', ...device.filter((name) => name !== 'Framework Ops')]);
  const other = await open(await hashOf(page));
  await drawn(await names(), other);
  await close(other);
  await page.fill('.trace-filter', 'python');
  await drawn(['/host:CPU', 'python3']);
  await page.fill('.trace-filter', '');
  await page.click('.menu > button:text-is("Tracks")');
  await page.click('.menu-item:has-text("Show what is hidden")');
  await param(page, 'hide', null);
}));

await tap.test('wheel pans and zooms; middle button and Shift pan', () => using(place(NEAR), {}, async (page) => {
  const { x, y } = await at(page, 22, 300);
  await page.mouse.move(x, y);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -100);
  await page.keyboard.up('Control');
  await page.waitForFunction(() => Number(new URLSearchParams(location.hash.split('?')[1]).get('from')) > 20_100_000);
  const { from, to } = await params(page);
  assert(Math.abs((22e6 - from) / (to - from) - 0.5) < 0.02, 'the time under the pointer moved');
  await page.mouse.wheel(200, 0);
  await page.waitForFunction((before) => Number(new URLSearchParams(location.hash.split('?')[1]).get('from')) > Number(before) + 1000, from);
  await still(page);
  const moved = (await params(page)).from;
  await page.keyboard.down('Shift');
  await page.mouse.down();
  await page.mouse.move(x + 200, y, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await page.waitForFunction((before) => Number(new URLSearchParams(location.hash.split('?')[1]).get('from')) < Number(before), moved);
  equal((await params(page)).sel, undefined);
}));

await tap.test('modes 1 to 4: dragging zooms, pans and measures', () => using(place(NEAR), {}, async (page) => {
  const drag = async (a, b) => {
    await page.mouse.move(a.x, a.y);
    await page.mouse.down();
    await page.mouse.move(b.x, b.y, { steps: 4 });
    await page.mouse.up();
  };
  await page.keyboard.press('4');
  // The kernel lasts from 20.7 ms on; both ends are near its edges and hold on to them.
  const [a, b] = [await at(page, 20.702, FIRST_TRACK), await at(page, 20.91, FIRST_TRACK)];
  await drag(a, b);
  await param(page, 'measure');
  await becomes(async () => (await params(page)).measure, (text) => text.startsWith('20700000-209'), 'it measures something else');
  await page.keyboard.press('Escape');
  await param(page, 'measure', null);
  await page.keyboard.press('3');
  await drag(await at(page, 21, 60), await at(page, 22, 60));
  await page.waitForFunction(() => Math.abs(Number(new URLSearchParams(location.hash.split('?')[1]).get('from')) - 21e6) < 2e4);
  await page.keyboard.press('2');
  await drag(await at(page, 21.5, 60), await at(page, 21.9, 60));
  await page.waitForFunction(() => Number(new URLSearchParams(location.hash.split('?')[1]).get('from')) < 20.8e6);
  await becomes(() => page.isChecked('.segmented input[value=pan]'), true);
}));

await tap.test('marks are set, named, linked and removed', () => using(place(`${NEAR}&sel=${KERNEL}`), {}, async (page) => {
  await live(page, 'volta');
  await page.keyboard.press('m');
  await param(page, 'mark', '20700000');
  await page.click('.menu > button:text-is("Marks")');
  await page.fill('.trace-mark input', 'first, kernel');
  await page.keyboard.press('Tab');
  await param(page, 'mark', '20700000~first%2C kernel');
  await page.click('.trace-mark [aria-label^="Remove the mark"]');
  await param(page, 'mark', null);
}));

await tap.test('list view: a real table of the visible range, from the keyboard', () => using(place(NEAR), {}, async (page) => {
  await page.keyboard.press('v');
  await page.waitForSelector('.trace-list tbody tr');
  equal(await page.$$eval('.trace-list thead th', (heads) => heads.map((head) => head.textContent)), ['Name', 'Start', 'Duration', 'Track', 'Depth']);
  await becomes(() => page.textContent('.trace-list p [role=status]'), (text) => /^1 to \d+ of \d+ events between 20.00 ms and 24.00 ms/.test(text), 'it says');
  await page.focus('.trace-list tbody button >> nth=0');
  await page.keyboard.press('Enter');
  await live(page, 'train');
  await becomes(() => page.getAttribute('.trace-list tbody button >> nth=0', 'aria-pressed'), 'true');
  await page.keyboard.press('v');
  await page.waitForSelector('.trace-list', { state: 'hidden' });
}));

await tap.test('list view: however long names are, every column is in sight', () => using(place(`${NEAR}&view=list`), { height: 1000 }, async (page) => {
  await page.waitForSelector('.trace-list tbody tr');
  const wide = await page.$eval('.trace-list', (list) => ({ room: list.clientWidth, needs: list.scrollWidth, names: list.querySelector('tbody th').getBoundingClientRect().width, rows: [...list.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect().height) }));
  assert(wide.needs <= wide.room, `${wide.needs} of ${wide.room} pixels`);
  assert(Math.max(...wide.rows) < 50, `a row is ${Math.max(...wide.rows)} pixels high`);
  await becomes(() => page.textContent('.trace-tally'), '', 'boxes are counted where none is drawn');
}));

await tap.test('a base run has no part in it, and that is said', () => using(place('&base=two/hosts'), {}, async (page) => {
  const text = await page.textContent('.verdict:has-text("Not compared")');
  assert(text.includes('nothing of two/hosts'), text);
  await page.click('.verdict a');
  await page.waitForFunction((run) => { const now = new URLSearchParams(location.hash.split('?')[1]); return now.get('run') === 'two/hosts' && now.get('base') === run; }, RUN);
}));

await tap.test('Tab reaches pin and menu of a track of one depth', () => using(place(), {}, async (page) => {
  await page.focus('.trace-fold:has-text("/device:GPU:0")');
  const reached = [];
  for (let i = 0; i < 8 && !reached.includes('Actions for Stream #14(MemcpyH2D)'); i += 1) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent));
  }
  for (const wanted of ['Pin Stream #13(Compute) to the top', 'Actions for Stream #13(Compute)', 'Pin Stream #14(MemcpyH2D) to the top', 'Actions for Stream #14(MemcpyH2D)']) assert(reached.includes(wanted), `${wanted} is not among ${reached.join(', ')}`);
  assert(await page.evaluate(() => Number(getComputedStyle(document.activeElement.closest('.trace-acts')).opacity) === 1), 'what has the focus is not seen');
  await page.keyboard.press('Enter');
  await page.click('.menu-item:text-is("Move up")');
  await param(page, 'order');
}));

await tap.test('what the pointer rests on is not told on after keys have moved the view', () => using(place(NEAR), {}, async (page) => {
  const { x, y } = await at(page, 20.8, FIRST_TRACK);
  await page.mouse.move(x, y);
  await page.waitForSelector('.trace-tip', { state: 'visible' });
  await page.keyboard.press('+');
  await page.waitForSelector('.trace-tip', { state: 'hidden' });
  await still(page);
  assert(await page.isHidden('.trace-tip'), 'it came back by itself');
  await page.mouse.move(x + 1, y);
  await page.waitForSelector('.trace-tip', { state: 'visible' });
}));

await tap.test('what can be done with an event is in sight at 1440 × 1000', () => using(place(`${NEAR}&sel=${KERNEL}`), { height: 1000 }, async (page) => {
  await live(page, 'volta');
  const drawer = await page.locator('.trace-drawers').boundingBox();
  for (const button of await page.$$('.trace-extra .button')) {
    const box = await button.boundingBox();
    assert(box.y >= drawer.y && box.y + box.height <= drawer.y + drawer.height && box.y + box.height <= 1000, `${await button.textContent()} is out of sight`);
  }
}));

await tap.test('everything in the address comes back', () => using(place(`${NEAR}&pin=0.1&hide=0.2&fold=0.5&color=name&flow=off&sel=${KERNEL}&q=Relu&mark=21000000~here&min=1000&track=str`), {}, async (page) => {
  const text = (one) => one.evaluate(() => document.querySelector('.slot').innerText.replace(/\d[\d,]* drawn for.*/, ''));
  await live(page, 'volta');
  await page.waitForFunction(() => /events/.test(document.querySelector('.trace-search-status').textContent));
  await page.waitForSelector('.trace-detail .slowest, .trace-detail .facts >> nth=0');
  const shown = await text(page);
  const other = await open(await hashOf(page));
  await live(other, 'volta');
  await other.waitForFunction(() => /events/.test(document.querySelector('.trace-search-status').textContent));
  await other.waitForFunction((wanted) => document.querySelector('.slot').innerText.replace(/\d[\d,]* drawn for.*/, '') === wanted, shown).catch(async () => equal(await text(other), shown));
  assert(shown.includes('Colour: name'), 'the colour was forgotten');
  equal(await params(other), await params(page));
  await close(other);
}));

await tap.test('going back undoes a choice and a jump', () => using(place(NEAR), {}, async (page) => {
  const { x, y } = await at(page, 20.8, FIRST_TRACK);
  await page.mouse.click(x, y);
  await param(page, 'sel', KERNEL);
  await page.goBack();
  await param(page, 'sel', null);
  await page.waitForSelector('.trace-detail', { state: 'hidden' });
}));

await tap.test('several hosts, one without a begin: all are shown, and it is said', () => using(place('', 'two/hosts'), {}, async (page) => {
  assert((await page.textContent('.verdict')).includes('worker1 does not say when its profile began'));
  equal(await page.$$eval('.trace-row.process .trace-name', (rows) => rows.map((row) => row.textContent)), ['worker0 /device:GPU:0', 'worker0 /host:CPU', 'worker1 /device:GPU:0', 'worker1 /host:CPU']);
}));

await tap.test('the lane says whose steps it shows, and shows those of another host', () => using(place('', 'two/lanes'), {}, async (page) => {
  equal(await page.$$eval('.trace-lane option', (options) => options.map((option) => option.textContent)), ['worker0', 'worker1']);
  assert((await page.textContent('.trace-lane')).startsWith('Steps of'), 'it does not say what it is');
  await page.selectOption('.trace-lane select', 'worker1');
  await param(page, 'steps_of', 'worker1');
  await page.keyboard.press('Escape');
  await page.focus('.trace-area');
  await page.waitForFunction(() => document.querySelector('.trace-lane select').value === 'worker1');
  while (!asked.some((url) => url.pathname === '/trace_viewer/steps' && url.searchParams.get('host') === 'worker1')) await page.waitForTimeout(20);
  await page.waitForFunction(() => document.body.textContent.includes('5 steps of worker1'));
  await page.keyboard.press('n');
  // Its steps are four times as long as those of the other.
  await page.waitForFunction(() => { const now = new URLSearchParams(location.hash.split('?')[1]); return Number(now.get('to')) - Number(now.get('from')) > 30e6; });
  const other = await open(await hashOf(page));
  await other.waitForFunction(() => document.querySelector('.trace-lane select').value === 'worker1');
  await close(other);
}));
await tap.test('one host: the lane is called steps', () => using(place(), {}, async (page) => {
  equal(await page.textContent('.trace-lane'), 'Steps');
}));
await tap.test('an event leads to the memory of its host at its start', () => using(place(`${NEAR}&sel=${KERNEL}`), {}, async (page) => {
  await live(page, 'volta');
  equal(await page.getAttribute('.trace-extra a:text-is("Memory at its start")', 'href'), `#/memory_profile?run=${RUN}&at=20700000`);
}));

await tap.test('nothing recorded says so', () => using(place('', 'empty/none'), {}, async (page) => {
  assert((await page.textContent('.state')).includes('No events were recorded'));
}));

await tap.test('a part that cannot be loaded is told and tried again', async () => {
  const page = await open(place());
  let broken = true;
  await page.route('**/trace_viewer/tiles?*', (route) => (broken ? route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'the disk is gone' } } }) : route.continue()));
  await edit(page, null, '&from=30000000&to=30100000');
  await page.waitForSelector('.slow[role=alert]:has-text("the disk is gone")');
  broken = false;
  await page.click('.slow[role=alert] button');
  await page.waitForSelector('.slow[role=alert]', { state: 'hidden' });
  complaints.length = 0;
  await close(page);
});

await tap.test('ten million events: few requests, nothing for each event in the document', () => using(place('', 'big/ten-million'), { gl: true }, async (page) => {
  assert(/of 9,999,968 events/.test(await page.textContent('.trace-tally')));
  assert(await page.evaluate(() => document.querySelectorAll('*').length) < 1200, 'too many elements');
}));

await tap.test('touch: one finger pans, two zoom', () => using(place(NEAR), { touch: true, width: 390, height: 800 }, async (page) => {
  const session = await page.context().newCDPSession(page);
  const box = await page.locator('.trace-area').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + 100];
  const send = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })) });
  const span = () => page.evaluate(() => ['from', 'to'].map((key) => Number(new URLSearchParams(location.hash.split('?')[1]).get(key))));
  await send('touchStart', [[x - 20, y], [x + 20, y]]);
  for (let i = 1; i <= 5; i += 1) await send('touchMove', [[x - 20 - 10 * i, y], [x + 20 + 10 * i, y]]);
  await send('touchEnd', []);
  await page.waitForFunction(() => Number(new URLSearchParams(location.hash.split('?')[1]).get('from')) > 20_100_000);
  await still(page);
  const [from, to] = await span();
  assert(to - from < 3e6, `${to - from}`);
  await send('touchStart', [[x, y]]);
  for (let i = 1; i <= 5; i += 1) await send('touchMove', [[x + 12 * i, y]]);
  await send('touchEnd', []);
  await page.waitForFunction((before) => Number(new URLSearchParams(location.hash.split('?')[1]).get('from')) < before, from);
}));

await tap.test('320 pixels: the page does not scroll sideways', () => using(place(`${NEAR}&sel=${KERNEL}`), { width: 320, height: 640 }, async (page) => {
  await live(page, 'volta');
  equal(await page.evaluate(() => document.documentElement.scrollWidth <= 320), true);
}));

await tap.test('colours of the system are taken where they are forced', () => using(place(NEAR), { forced: true }, async (page) => {
  const colour = await colourAt(page, await at(page, 20.3, FIRST_TRACK + 6));
  const wanted = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = 'Canvas';
    return getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
  });
  equal(colour, wanted);
}));

await tap.test('the page has a skeleton until its code is there, and says when that does not come', async () => {
  const page = await freshPage(root, { width: 1280, height: 800, quiet: true });
  let release;
  const held = new Promise((done) => { release = done; });
  let broken = false;
  await page.route('**/trace_viewer_*.js', async (route) => {
    await held;
    await (broken ? route.abort() : route.continue());
  });
  await page.goto(root + place(NEAR));
  await page.waitForSelector('[aria-busy=true] .skeleton');
  equal(await page.textContent('h1'), 'Trace viewer');
  release();
  await settled(page);
  equal(await page.locator('h1').count(), 1);
  broken = true;
  await page.goto('about:blank');
  await page.goto(root + place(NEAR));
  await page.waitForSelector('.state.failed');
  assert((await page.textContent('.state.failed')).includes('could not be loaded'));
  // The server does not answer: the page stays and says so again.
  let reached = 0;
  await page.route(root, (route) => { reached += 1; return route.abort(); });
  await page.click('.state.failed button:text-is("Try again")');
  await page.waitForSelector('.state.failed');
  while (reached === 0) await page.waitForTimeout(20);
  await page.unroute(root);
  await page.waitForSelector('.state.failed');
  broken = false;
  await page.click('.state.failed button:text-is("Try again")');
  await settled(page);
  equal((await params(page))['from'], '20000000');
  await close(page);
});

const ofTrace = (what) => asked.filter((url) => url.pathname === `/trace_viewer/${what}` && url.searchParams.get('run') === 'raw/steps').map((url) => url.searchParams.get('derived'));
await tap.test('a raw capture is shown at once; steps and derived lines come later and nothing else moves', async () => {
  let tell;
  found = () => new Promise((done) => { tell = done; });
  await using(place(`${NEAR}&sel=${KERNEL}&pin=0.1`, 'raw/steps'), { height: 700 }, async (page) => {
    await live(page, 'volta');
    await page.waitForSelector('.trace-finding:visible');
    equal(await page.textContent('.trace-finding'), 'finding steps and derived lines…');
    const names = () => page.textContent('.trace-frame');
    assert(!(await names()).includes('Framework Ops'), 'a derived line is there already');
    equal(ofTrace('tracks'), ['0', null]);
    assert(ofTrace('tiles').length > 0 && ofTrace('tiles').every((derived) => derived === '0'), 'tiles wait for derived lines');
    // Scrolled down: rows that come above must not push away what is looked at.
    await page.locator('.trace-body').evaluate((body) => { body.scrollTop = 1e6; });
    await settled(page);
    const bottom = page.locator('.trace-frame').getByText('tf_Compute/202', { exact: true });
    const before = (await bottom.boundingBox())?.y;
    const address = await addressOf(page);
    const head = (await page.locator('.trace-body').boundingBox())?.y;
    const tiles = ofTrace('tiles').length;
    const places = asked.filter((url) => url.pathname === '/trace_viewer/tiles').map((url) => `${url.searchParams.get('tracks')}/${url.searchParams.get('level')}/${url.searchParams.get('tile')}`);
    tell(true);
    await page.waitForSelector('.trace-finding', { state: 'hidden' });
    await settled(page);
    equal((await bottom.boundingBox())?.y, before, 'rows moved');
    assert((await page.locator('.trace-body').boundingBox())?.y > head, 'there is no line of steps');
    equal(await addressOf(page), address);
    assert((await page.textContent('.trace-live')).includes('volta'), 'the selection is lost');
    await page.locator('.trace-body').evaluate((body) => { body.scrollTop = 0; });
    await page.waitForFunction(() => document.querySelector('.trace-frame').textContent.includes('Framework Ops'));
    assert((await names()).includes('4 lines'), 'the process counts its tracks as before');
    await settled(page);
    const later = asked.filter((url) => url.pathname === '/trace_viewer/tiles' && url.searchParams.get('run') === 'raw/steps').slice(tiles);
    assert(later.length > 0 && later.every((url) => !url.searchParams.has('derived')), 'tiles are still asked for without derived lines');
    assert(!later.some((url) => places.includes(`${url.searchParams.get('tracks')}/${url.searchParams.get('level')}/${url.searchParams.get('tile')}`)), 'a tile was asked for twice');
    equal(ofTrace('tracks'), ['0', null]);
    await page.keyboard.press('n');
    await param(page, 'step');
  });
});
await tap.test('a step in the address is gone to once it is known; a failure says so and can be tried again', async () => {
  let tell;
  found = () => new Promise((done) => { tell = done; });
  await using(place('&step=125', 'raw/steps'), {}, async (page) => {
    equal((await page.textContent('.trace-tally')).includes('in sight'), true);
    const scale = async () => /at (.*?)\/px/.exec(await page.textContent('.trace-tally'))?.[1];
    const wholeScale = await scale();
    tell(false);
    await page.waitForSelector('.trace-finding button');
    assert((await page.textContent('.trace-finding')).includes('the steps are lost'));
    await page.click('.trace-finding button');
    await page.waitForFunction(() => document.querySelector('.trace-finding').textContent.startsWith('finding'));
    tell(true);
    await page.waitForSelector('.trace-finding', { state: 'hidden' });
    await becomes(scale, (text) => text !== undefined && text !== wholeScale, 'the view stays on the whole trace');
    equal((await params(page))['step'], '125');
  });
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('400')));
  found = async () => true;
});
await tap.test('a capture that is complete is asked for once', async () => {
  const before = asked.length;
  await using(place(NEAR), {}, async (page) => {
    await settled(page);
    const mine = asked.slice(before);
    equal(mine.filter((url) => url.pathname === '/trace_viewer/tracks').length, 1);
    assert(mine.some((url) => url.pathname === '/trace_viewer/tiles') && mine.every((url) => url.pathname !== '/trace_viewer/tiles' || !url.searchParams.has('derived')), 'tiles');
    equal(await page.isVisible('.trace-finding'), false);
  });
});

await tap.test('help lists the keys of the timeline', () => using(place(), {}, async (page) => {
  await page.keyboard.press('?');
  await page.waitForSelector('dialog:has-text("On the timeline")');
  const text = await page.textContent('dialog');
  for (const part of ['On the timeline', 'Zoom in', 'Set or remove a mark', 'With the timeline in focus', 'Follow the link to what it leads to']) assert(text.includes(part), `${part} is missing`);
}));

await tap.test('many arguments and a long name can be scrolled with the keyboard; few need no stop', async () => {
  const page = await freshPage(root);
  let many = true;
  await page.route('**/trace_viewer/event?*', async (route) => {
    const event = await (await route.fetch()).json();
    if (many) Object.assign(event, { long_name: 'void kernel<float>(int) '.repeat(200), args: Array.from({ length: 60 }, (_, index) => ({ name: `argument_${index}`, value: index })) });
    await route.fulfill({ json: event });
  });
  await page.goto(root + place(`${NEAR}&sel=${KERNEL}`));
  await page.waitForSelector('.trace-args[tabindex="0"]');
  await page.waitForSelector('.trace-detail .full-name[tabindex="0"]');
  await axe(page, 'many arguments');
  await page.focus('.trace-args');
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.querySelector('.trace-args').scrollTop > 0);
  many = false;
  await page.reload();
  await page.waitForSelector('.trace-detail .full-name');
  await settled(page);
  await becomes(() => page.locator('.trace-args[tabindex], .trace-detail .full-name[tabindex]').count(), 0);
  await close(page);
});

await tap.test('accessible: timeline, search and details', () => using(place(`${NEAR}&sel=${KERNEL}&q=relu&pin=0.1`), {}, async (page) => {
  await live(page, 'volta');
  await axe(page, 'event');
}));
await tap.test('accessible: area, list, menus', () => using(place(`${NEAR}&sel=area:20600000-21600000&view=list`), {}, async (page) => {
  await page.waitForSelector('.trace-drawer .tabulator-row');
  await page.waitForSelector('.trace-list tbody tr');
  await axe(page, 'list');
  for (const name of ['Tracks', 'Marks', 'Export']) {
    await page.click(`.menu > button:text-is("${name}")`);
    await page.waitForSelector('.menu-panel:visible');
    await axe(page, name, `.menu:has(> button[aria-expanded=true])`);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.menu-panel:visible', { state: 'detached' });
  }
  await page.click('.menu > button:has-text("Colour: category")');
  await page.waitForSelector('.menu-panel:visible');
  await axe(page, 'Colour', `.menu:has(> button[aria-expanded=true])`);
}));

await tap.test('what was made up has the shape of what the server answers', () => checkMocks(process.argv[2]));
await tap.test('nothing was asked of another origin, and the browser had nothing to complain of', () => {
  equal([...foreign], []);
  equal(complaints, []);
});

await browser.close();
stop();
tap.end();
