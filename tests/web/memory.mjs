// SPDX-License-Identifier: Apache-2.0
// The memory profile in a browser against a running server: node tests/web/memory.mjs URL MANY [PATTERN]
// What it shows is held against the API, and answers made up here where the demo has no such case.

import { addressOf, axe, becomes, browser, complaints, downloaded, foreign, framed, freshPage, hears, using as usingPage } from './browser.mjs';
import { checkMocks } from './shapes.mjs';
import { assert, equal, Tap } from './support.mjs';

const root = new URL(process.argv[2] ?? 'http://127.0.0.1:6006/').href;
const tap = new Tap(process.argv[4]);

const api = async (path) => (await fetch(root + path)).json();
const [RUN] = await api('runs');
const [HOST, OTHER] = (await api('tools?run=' + encodeURIComponent(RUN))).find(({ name }) => name === 'memory_profile').hosts;
const data = (query) => api(`data?tag=memory_profile&run=${encodeURIComponent(RUN)}&host=${HOST}&${query}`);
const records = (table) => table.rows.map((row) => Object.fromEntries(table.cols.map(({ id }, index) => [id, row.c[index].v])));
const place = (more = '') => `#/memory_profile?run=${RUN}${more}`;

async function open(hash, { answers = null, ...options } = {}) {
  const page = await freshPage(root, options);
  if (answers !== null) {
    await page.route('**/data?*memory_profile*', async (route) => {
      try {
        const response = await route.fetch();
        const body = await response.json();
        await route.fulfill({ json: answers(new URL(route.request().url()).searchParams.get('view'), body) });
      } catch (error) {
        // A page that is closed takes its requests with it.
        if (!page.isClosed()) throw error;
      }
    });
  }
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

const param = (page, key) => page.evaluate((name) => new URLSearchParams(location.hash.split('?')[1]).get(name), key);
const hasParam = (page, key, wanted = null) => page.waitForFunction(([name, value]) => {
  const now = new URLSearchParams(location.hash.split('?')[1]).get(name);
  return value === null ? now !== null : now === value;
}, [key, wanted]);
const lacksParam = (page, key) => page.waitForFunction((name) => new URLSearchParams(location.hash.split('?')[1]).get(name) === null, key);
const column = (page, id) => page.$$eval(`.tabulator-cell[tabulator-field="${id}"]`, (cells) => cells.map((cell) => cell.textContent));
const tile = async (page, label) => (await page.textContent(`.tile:has(dt:text-is("${label}")) .figure`)).trim();
const plot = (page) => page.locator('.chart-card canvas').boundingBox();
const moment = (page) => page.textContent('.moment');

const [first] = records(await data('view=summary'));
const gib = (value) => `${(value / 2 ** 30).toFixed(2)} GiB`;

await tap.test('the summary has all of XProf’s numbers, from all events', () => using(place(), {}, async (page) => {
  const document = await data('');
  const { profileSummary: summary } = document.memoryProfilePerAllocator[first.memory_id];
  equal(await tile(page, 'Allocations'), first.allocations.toLocaleString('en-US'));
  equal(await tile(page, 'Deallocations'), first.deallocations.toLocaleString('en-US'));
  equal(await tile(page, 'Memory capacity'), gib(Number(summary.memoryCapacity)));
  equal(await tile(page, 'Peak heap, lifetime'), gib(Number(summary.peakBytesUsageLifetime)));
  equal(await tile(page, 'Peak in the profile'), gib(Number(summary.peakStats.peakBytesInUse)));
  equal(await tile(page, 'Heap at the peak'), gib(Number(summary.peakStats.heapAllocatedBytes)));
  equal(await tile(page, 'Free at the peak'), gib(Number(summary.peakStats.freeMemoryBytes)));
  equal(await tile(page, 'Stack at the peak'), '0 B');
  equal(await tile(page, 'Fragmentation'), `${(summary.peakStats.fragmentation * 100).toFixed(1)} %`);
  const note = await page.textContent('.tile:has(dt:text-is("Peak in the profile")) .delta');
  assert(note.startsWith(`at ${(Number(summary.peakStatsTimePs) / 1e9).toFixed(1)} ms`), note);
}));

await tap.test('the breakdown at the peak is XProf’s list of active allocations', () => using(place('&sort=-total'), {}, async (page) => {
  const { activeAllocations, specialAllocations, memoryProfileSnapshots } = (await data('')).memoryProfilePerAllocator[first.memory_id];
  equal(await page.textContent('.table-card .card-head small'), `${activeAllocations.length} rows`);
  const names = activeAllocations.map((one) => (one.specialIndex === '-1' ? memoryProfileSnapshots[Number(one.snapshotIndex)].activityMetadata : specialAllocations[Number(one.specialIndex)]).tfOpName).sort();
  const table = records(await data('view=breakdown'));
  equal(table.map((row) => row.op_name).sort(), names);
  assert((await column(page, 'op')).some((name) => name.includes('device memory')), 'no line for what is unused');
  const seconds = (first.peak_time_ps / 1e9).toFixed(1);
  assert((await moment(page)).startsWith(`At ${seconds} ms`), await moment(page));
}));

await tap.test('a click asks for what was in use then, and Escape lets go of it', () => using(place(), {}, async (page) => {
  const box = await plot(page);
  const before = await column(page, 'total');
  await page.mouse.click(box.x + box.width * 0.45, box.y + box.height * 0.5);
  await hasParam(page, 'at');
  await settled(page);
  const at = Number(await param(page, 'at'));
  await page.waitForFunction((text) => !document.querySelector('.moment').textContent.startsWith(text), `At ${(first.peak_time_ps / 1e9).toFixed(1)}`);
  const right = await data(`view=breakdown&at_ps=${Math.round(at * 1000)}`);
  await becomes(() => page.textContent('.table-card .card-head small'), right.rows.length === 1 ? '1 row' : `${right.rows.length} rows`);
  const sum = records(right).reduce((total, row) => total + row.total_bytes, 0);
  equal(sum, Number(right.p.heap_bytes) + Number(right.p.stack_bytes), 'the parts are not the whole');
  await becomes(() => column(page, 'total'), (now) => now.length > 0 && JSON.stringify(now) !== JSON.stringify(before), 'the table did not change');
  await becomes(() => page.isChecked('input[value=at]'), true, 'the choice of moments does not follow');
  await page.keyboard.press('Escape');
  await lacksParam(page, 'at');
}));

await tap.test('steps from event to event by keys and buttons, and says what happened', () => using(place(), {}, async (page) => {
  await page.keyboard.press(',');
  await hasParam(page, 'at');
  const one = Number(await param(page, 'at'));
  assert(one < first.peak_time_ps / 1000, 'not before the peak');
  await page.click('button[aria-label^="Event before"]');
  await page.waitForFunction((now) => Number(new URLSearchParams(location.hash.split('?')[1]).get('at')) < now, one);
  await hears(page, /allocated|freed/, () => page.keyboard.press('.'));
  await page.waitForFunction((now) => Number(new URLSearchParams(location.hash.split('?')[1]).get('at')) === now, one);
}));

await tap.test('zooms by wheel, drag, keys and buttons, and back', () => using(place(), {}, async (page) => {
  const box = await plot(page);
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5);
  await page.mouse.wheel(0, -600);
  await hasParam(page, 'from');
  await page.click('button:text-is("Reset zoom")');
  await lacksParam(page, 'from');
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.5, { steps: 4 });
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5, { steps: 4 });
  await page.mouse.up();
  await hasParam(page, 'to');
  const [from, to] = [Number(await param(page, 'from')), Number(await param(page, 'to'))];
  const share = (to - from) / (first.last_ps / 1000);
  assert(share > 0.1 && share < 0.35, `the drag took ${share} of the profile`);
  equal(await param(page, 'at'), null, 'a drag is no click');
  await page.keyboard.press('+');
  await page.waitForFunction((width) => {
    const now = new URLSearchParams(location.hash.split('?')[1]);
    return Number(now.get('to')) - Number(now.get('from')) < width;
  }, to - from);
  await page.keyboard.press('0');
  await lacksParam(page, 'from');
}));

await tap.test('alive at the end: what is never freed, by op', () => using(place(), {}, async (page) => {
  await page.click('label:has(input[value=end])');
  await hasParam(page, 'alive', 'end');
  await page.click('label:has(input[value=op])');
  await hasParam(page, 'group', 'op');
  await settled(page);
  await page.waitForFunction(() => document.querySelector('.table-card small').textContent === '2 ops');
  await becomes(async () => (await column(page, 'op')).sort(), ['history/TensorListPushBack', 'unused preallocated device memory']);
  await becomes(() => moment(page), (text) => text.includes(`${first.alive_at_end} allocations of the profile were not freed`), 'it does not say how many');
  const csv = await downloaded(page, () => page.click('.table-card button:text-is("CSV")'));
  equal(csv.trim().split('\n').length, 3);
}));

await tap.test('groups by region, shape and data type add up to the same', () => using(place(), {}, async (page) => {
  const sum = (rows) => rows.reduce((total, row) => total + row.total_bytes, 0);
  const whole = sum(records(await data('view=breakdown')));
  for (const group of ['op', 'region', 'shape', 'data_type']) {
    const rows = records(await data(`view=breakdown&group=${group}`));
    equal(sum(rows), whole, group);
    await page.click(`label:has(input[value=${group}])`);
    await page.waitForFunction((count) => document.querySelector('.table-card small').textContent.startsWith(`${count} `), rows.length);
  }
}));

await tap.test('earlier steps too: the history is named instead of being unused', () => using(place(), {}, async (page) => {
  const names = () => column(page, 'op');
  assert(!(await names()).some((name) => name.includes('history')), 'other steps are there from the start');
  await page.click('label.toggle:has-text("Earlier steps")');
  await hasParam(page, 'scope', 'all');
  await page.waitForFunction(() => [...document.querySelectorAll('.tabulator-cell[tabulator-field="op"]')].some((cell) => cell.textContent.includes('TensorListPushBack')));
}));

await tap.test('another allocator, another host; the address has both', () => using(place(`&host=${OTHER}`), {}, async (page) => {
  await page.click('.page button.pick');
  await page.click('.option:has-text("gpu_host_bfc")');
  await hasParam(page, 'mem', 'gpu_host_bfc');
  await settled(page);
  const [, , pinned] = records(await api(`data?tag=memory_profile&run=${RUN}&host=${OTHER}&view=summary`));
  equal(pinned.memory_id, 'gpu_host_bfc');
  await page.waitForFunction((text) => document.querySelector('.tile .figure').textContent.trim() === text, pinned.allocations.toLocaleString('en-US'));
  await becomes(() => page.getAttribute('.chart-card canvas', 'aria-label'), (text) => text.includes('gpu_host_bfc'), 'the chart is another’s');
  assert((await page.textContent('header .picks')).includes(OTHER), 'another host is named');
}));

await tap.test('without a host the first is shown, and “all” is not offered', () => using(place(), {}, async (page) => {
  assert((await page.textContent('header .picks')).includes(HOST), 'no host is named');
  await page.click('header .pick:has-text("host")');
  await page.waitForSelector('.option');
  equal(await page.locator('.option:has-text("All")').count(), 0);
}));

await tap.test('the chart as table, its CSV and its picture', () => using(place(), {}, async (page) => {
  const csv = await downloaded(page, () => page.click('.chart-card button:text-is("CSV")'));
  equal(csv.trim().split('\n').length, 1 + first.allocations + first.deallocations);
  await page.click('.chart-card button:has-text("As table")');
  assert(await page.locator('.chart-card .twin tbody tr').count() > 100, 'the table has no rows');
  // Its lines are all made by the same code, and there are thousands.
  await page.$$eval('.chart-card .twin tbody tr:nth-child(n + 40)', (rows) => rows.forEach((row) => row.remove()));
  await axe(page, 'table twin', '.chart-card');
}));

await tap.test('says when an allocation failed and when the memory is nearly full', () => using(place(), {
  answers: (view, body) => {
    if (view === 'summary') {
      const note = body.cols.findIndex(({ id }) => id === 'note');
      const severity = body.cols.findIndex(({ id }) => id === 'severity');
      body.rows[0].c[severity].v = 'error';
      body.rows[0].c[note].v = '2 allocations got no memory. The first, at 3.0 ms, asked for 8.00 GiB for <b>x</b>.';
      body.p = { ...body.p, out_of_memory: 'RESOURCE_EXHAUSTED: Out of memory', clocks_differ: 'true' };
    }
    return body;
  },
}, async (page) => {
  const text = await page.textContent('.page');
  for (const part of ['2 allocations got no memory', 'for <b>x</b>', 'RESOURCE_EXHAUSTED']) assert(text.includes(part), `${part} is missing`);
}));

await tap.test('a moment leads to the trace at the same time, from the same zero', () => using(place(), {}, async (page) => {
  await page.waitForSelector('.moment a');
  const at = /At ([\d.]+) (µs|ms|s),/.exec(await page.textContent('.moment'));
  const ns = Number(at[1]) * { µs: 1e3, ms: 1e6, s: 1e9 }[at[2]];
  const target = new URLSearchParams((await page.getAttribute('.moment a', 'href')).split('?')[1]);
  assert(Number(target.get('from')) < ns * 1.001 && Number(target.get('to')) > ns * 0.999, `${target} is not around ${ns}`);
  const mark = Number(target.get('mark').split('~')[0]);
  assert(Math.abs(mark - ns) < ns * 0.002, `${mark} is marked, not ${ns}`);
  await page.click('.moment a');
  await page.waitForSelector('.trace-tally:not(:empty)');
  equal(await page.textContent('h1'), 'Trace viewer');
}));

await tap.test('nothing recorded: says why and how', () => using(place(), {
  answers: (view, body) => ({ ...body, rows: [] }),
}, async (page) => {
  const text = await page.textContent('.state');
  assert(text.includes('No allocator reported') && text.includes('host_tracer_level'), text);
  equal(await page.locator('.chart-card').isVisible(), false);
}));

await tap.test('a long profile is fetched again where it is looked at', async () => {
  let asked = [];
  await using(place(), {
    answers: (view, body) => (view === 'timeline' ? { ...body, p: { ...body.p, events_total: '1000000' } } : body),
  }, async (page) => {
    page.on('request', (request) => { asked.push(new URL(request.url()).searchParams); });
    const answer = page.waitForResponse((response) => response.url().includes('from_ps'));
    // All in one go: how fast a wheel turns on a busy machine is no matter here.
    await page.$eval('.chart-card canvas', (canvas) => {
      const { left, top, width, height } = canvas.getBoundingClientRect();
      for (let i = 0; i < 5; i += 1) canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -200, clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true }));
    });
    await answer;
    asked = asked.filter((query) => query.get('view') === 'timeline');
    equal(asked.length, 1, 'requests while the wheel turned');
    assert(Number(asked[0].get('from_ps')) > 0 && Number(asked[0].get('to_ps')) < first.last_ps, 'not for the window');
  });
});

await tap.test('the same address in a new tab shows the same', async () => {
  const hash = place('&group=region&at=200000000&from=100000000&to=300000000&free=1');
  const texts = [];
  for (let i = 0; i < 2; i += 1) {
    await using(hash, {}, async (page) => {
      await page.waitForFunction(() => document.querySelector('.moment').textContent !== '');
      texts.push([await moment(page), await column(page, 'total'), await page.locator('.toggle:has-text("Free") input').isChecked(), await addressOf(page)]);
    });
  }
  equal(texts[0], texts[1]);
});

await tap.test('compares with a base: tiles and lines', () => using(place(`&base=${RUN}`), {}, async (page) => {
  await page.waitForSelector('.tile .delta:has-text("same as base")');
  await page.waitForSelector('.tabulator-col[tabulator-field="delta"]');
}));

await tap.test('no serious findings, in both themes; 320 pixels need no sideways scrolling', async () => {
  await using(place(), {}, (page) => axe(page, 'memory profile'));
  await using(place(), { width: 320 }, async (page) => {
    const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert(content <= window, `the page is ${content} pixels wide`);
  });
});

await tap.test('what was made up has the shape of what the server answers', () => checkMocks(process.argv[3]));
await tap.test('no errors, no warnings, nothing from elsewhere', async () => {
  equal(complaints, []);
  equal([...foreign], []);
});

await browser.close();
tap.end();
