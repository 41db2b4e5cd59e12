// SPDX-License-Identifier: Apache-2.0
// The pages about compiled programs in a browser against a running server: node tests/web/programs.mjs URL [PATTERN]
// What they show is held against the API.

import { axe, becomes, browser, complaints, downloaded, foreign, framed, freshPage, using as usingPage } from './browser.mjs';
import { assert, equal, Tap } from './support.mjs';

const root = new URL(process.argv[2] ?? 'http://127.0.0.1:6006/').href;
const tap = new Tap(process.argv[3]);

const api = async (query) => (await fetch(`${root}data?${query}`)).json();
const records = (table) => table.rows.map((row) => Object.fromEntries(table.cols.map(({ id }, index) => [id, row.c[index].v])));

async function open(hash, options = {}) {
  const page = await freshPage(root, options);
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
const segment = (page, label) => page.click(`.segmented label:has(span:text-is("${label}"))`);
const tally = (page) => page.textContent('.table-card [role=status]');

const stats = records(await api('run=now&tag=hlo_stats'));
const profile = (await api('run=now&tag=op_profile')).byProgramExcludeIdle;

await tap.test('HLO stats shows every instruction and what they sum up to', () => using('#/hlo_stats?run=now', {}, async (page) => {
  const rows = stats.filter(({ category }) => category !== 'IDLE');
  assert((await tally(page)).startsWith(`${rows.length} `), await tally(page));
  const [first] = [...rows].sort((a, b) => b.total_self_time - a.total_self_time);
  equal((await column(page, 'hlo_op_name'))[0], first.hlo_op_name);
  const remat = rows.filter(({ hlo_rematerialization: is }) => is === 'Yes').reduce((sum, row) => sum + row.total_self_time, 0);
  const all = rows.reduce((sum, row) => sum + row.total_self_time, 0);
  equal(await tile(page, 'Rematerialised'), `${(100 * remat / all).toFixed(1)} %`);
  await axe(page, 'HLO stats');
}));

await tap.test('an instruction has its text and its source', () => using('#/hlo_stats?run=now', {}, async (page) => {
  await page.click('.tabulator-row >> nth=1');
  await page.waitForSelector('.hlo-text pre');
  const name = (await column(page, 'hlo_op_name'))[1];
  assert((await page.textContent('.hlo-text pre')).startsWith(`%${name} = `), await page.textContent('.hlo-text pre'));
  assert((await page.textContent('.hlo-source')).includes('/app/'), 'the line of source');
  await page.click('.hlo-source summary');
  assert((await page.$$('.hlo-source li')).length >= 2, 'the calls that led there');
  await axe(page, 'an instruction', '.detail');
}));

await tap.test('instructions are grouped by category, source line and program, and lead back', () => using('#/hlo_stats?run=now', {}, async (page) => {
  await segment(page, 'By category');
  await hasParam(page, 'group', 'category');
  await settled(page);
  const categories = new Set(stats.filter(({ category }) => category !== 'IDLE').map(({ category }) => category));
  await becomes(() => tally(page), (text) => text.startsWith(`${categories.size} `), 'other groups');
  await segment(page, 'By source line');
  await hasParam(page, 'group', 'source');
  await settled(page);
  await becomes(() => column(page, 'hlo_op_name'), (names) => names.some((text) => text.includes('model.py:')), 'no lines of source');
  await page.click('.tabulator-row >> nth=0');
  await page.click('.members .linklike >> nth=0');
  await lacksParam(page, 'group');
  await page.waitForSelector('.hlo-text pre');
}));

await tap.test('idle time is a box only when asked for', () => using('#/op_profile?run=now', {}, async (page) => {
  assert(!(await column(page, 'name')).includes('IDLE'), 'not at first');
  await page.check('label:has-text("Include idle time") input');
  await hasParam(page, 'idle', 'in');
  await page.waitForFunction(() => [...document.querySelectorAll('.tabulator-cell[tabulator-field=name]')].some((cell) => cell.textContent.trim() === 'IDLE'));
}));

await tap.test('the op profile is a tree whose lines add up, and a picture of it', () => using('#/op_profile?run=now', {}, async (page) => {
  const [program] = profile.children;
  const categories = program.children.map(({ name }) => name);
  const names = await column(page, 'name');
  equal(names.slice(0, 1 + categories.length).map((name) => name.trim()), [program.name, ...categories], 'the only program is open');
  const canvas = page.locator('.flame canvas[role=application]');
  const box = await canvas.boundingBox();
  assert(box.height >= 4 * 21 - 1, `four levels, not ${box.height}px`);
  await canvas.hover({ position: { x: 20, y: 21 + 10 } });
  await page.waitForSelector('.flame .tip:not([hidden])');
  await becomes(() => page.textContent('.flame .tip'), (text) => text.includes(program.name), 'the tip is about something else');
  await axe(page, 'op profile');
}));

await tap.test('a box is chosen by a click, zoomed by two, and walked by keys', () => using('#/op_profile?run=now', {}, async (page) => {
  const canvas = page.locator('.flame canvas[role=application]');
  const [program] = profile.children;
  await canvas.click({ position: { x: 20, y: 2 * 21 + 10 } });
  const [largest] = [...program.children].sort((a, b) => b.metrics.rawTime - a.metrics.rawTime);
  await hasParam(page, 'sel', `${program.name}›${largest.name}`);
  await page.waitForSelector('.detail h2, .detail h3');
  await page.keyboard.press('Escape');
  await canvas.dblclick({ position: { x: 20, y: 2 * 21 + 10 } });
  await hasParam(page, 'zoom', `${program.name}›${largest.name}`);
  await page.waitForSelector('.flame-crumbs:not([hidden])');
  await canvas.focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction((start) => (new URLSearchParams(location.hash.split('?')[1]).get('sel') ?? '').startsWith(start), `${program.name}›${largest.name}›`);
  await page.keyboard.press('ArrowUp');
  await hasParam(page, 'sel', `${program.name}›${largest.name}`);
  await page.keyboard.press('Backspace');
  await hasParam(page, 'zoom', program.name);
  await page.click('.flame-crumbs button');
  await lacksParam(page, 'zoom');
}));

await tap.test('a search marks what it finds and says how much that is', () => using('#/op_profile?run=now&q=loop fusion', {}, async (page) => {
  const [program] = profile.children;
  const loop = program.children.find(({ name }) => name === 'loop fusion');
  await page.waitForFunction(() => /match/.test(document.querySelector('.flame-card [role=status]').textContent));
  const text = await page.textContent('.flame-card [role=status]');
  assert(text.includes(`${(100 * loop.metrics.rawTime / profile.metrics.rawTime).toFixed(1)} %`), text);
  await page.evaluate(() => { location.hash = '#/op_profile?run=now&re=1&q=^loop.fusion$'; });
  await page.waitForFunction(() => document.querySelector('.flame-card [role=status]').textContent.startsWith('1 match,'));
}));

await tap.test('the tree goes by category and by provenance, and is saved as folded stacks', () => using('#/op_profile?run=now', {}, async (page) => {
  await segment(page, 'Provenance');
  await hasParam(page, 'by', 'provenance');
  await settled(page);
  const text = await downloaded(page, () => page.click('button:has-text("Folded stacks")'));
  const total = text.trim().split('\n').reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  const tree = (await api('run=now&tag=op_profile&group_by=provenance')).byProvenanceExcludeIdle;
  const whole = tree.children.reduce((sum, { metrics }) => sum + metrics.rawTime, 0) / 1000;
  assert(Math.abs(total / whole - 1) < 0.001, `${total} ns of ${whole}`);
  assert(text.includes(';mlp;'), 'the scopes of the framework');
  await segment(page, 'Category');
  await hasParam(page, 'by', 'category');
  await settled(page);
  await becomes(() => column(page, 'name'), (names) => names.some((name) => name.includes('fusion')), 'no categories');
}));

await tap.test('two runs are one tree: what changed has its size and colour', () => using('#/op_profile?run=now&base=then', {}, async (page) => {
  await page.waitForSelector('.tile .delta');
  const head = await page.$$eval('.tabulator-col-title', (titles) => titles.map((title) => title.textContent));
  assert(head.some((title) => title.startsWith('Base')), String(head));
  await segment(page, 'Base run');
  await hasParam(page, 'width', 'base');
  await axe(page, 'two op profiles');
}));

await tap.test('the roofline has a point for what has a cost, and says what has none', () => using('#/roofline_model?run=now', {}, async (page) => {
  const points = records((await api('run=now&tag=roofline_model'))[0]).filter((row) => row.include_infeed_outfeed && row.step === 'Total');
  const without = points.filter(({ category, measured_flop_rate: flops, measured_memory_bw: bytes }) => category !== 'Program' && !flops && !bytes);
  await page.click('button:text-is("As table")');
  const rows = await page.$$('.chart-card table tbody tr');
  equal(rows.length, points.filter(({ measured_flop_rate: flops, operational_intensity: intensity }) => flops > 0 && intensity > 0).length);
  equal((await page.textContent('.chart-card header')).includes('no known cost'), without.length > 0);
  await axe(page, 'roofline');
}));

await tap.test('the roofline has the program in every step, and in the average one', () => using('#/roofline_model?run=now', {}, async (page) => {
  const rows = records((await api('run=now&tag=roofline_model'))[0]).filter((row) => row.include_infeed_outfeed && row.category === 'Program');
  const steps = rows.filter(({ step }) => step !== 'Total' && step !== 'Average');
  equal(steps.length, 12, 'steps');
  await segment(page, 'Every step');
  await hasParam(page, 'of', 'steps');
  await page.waitForFunction(() => document.querySelector('.table-card').textContent.includes('12 steps'));
  await page.click('button:text-is("As table")');
  await page.waitForFunction(() => document.querySelectorAll('.chart-card table tbody tr').length === 12);
  await axe(page, 'roofline of steps');
  await segment(page, 'Average step');
  await hasParam(page, 'of', 'Average');
  await page.waitForFunction(() => document.querySelectorAll('.chart-card table tbody tr').length === 1);
  const average = rows.find(({ step }) => step === 'Average');
  equal(await tile(page, 'Of the roofline'), `${(100 * average.roofline_efficiency).toFixed(1)} %`);
}));

await tap.test('a peak that is known better changes the roofs, and stays in the address', () => using('#/roofline_model?run=now', {}, async (page) => {
  const before = await tile(page, 'Of the roofline');
  await page.fill('.peaks input >> nth=0', '500');
  await page.keyboard.press('Tab');
  await hasParam(page, 'peak_tflops', '500');
  await page.waitForFunction((old) => {
    const figure = [...document.querySelectorAll('.tile')].find((one) => one.textContent.includes('Of the roofline'))?.querySelector('.figure');
    return figure !== undefined && figure !== null && figure.textContent.trim() !== old;
  }, before);
  const [program] = records((await api('run=now&tag=roofline_model&peak_tflops=500'))[0]);
  equal(await tile(page, 'Of the roofline'), `${(100 * program.roofline_efficiency).toFixed(1)} %`);
  // It is the device's, not the page's: the op profile is of the same peak.
  await page.click('.tabulator-row >> nth=1');
  await page.click('.detail .detail-links a:text-is("Op profile")');
  await page.waitForFunction(() => location.hash.startsWith('#/op_profile?'));
  await hasParam(page, 'peak_tflops', '500');
  await page.waitForFunction(() => document.querySelector('.peaks input')?.value === '500');
  assert((await page.textContent('.peaks small')).includes('what was asked for'), 'where the peaks are from');
  await page.click('button:text-is("As recorded")');
  await lacksParam(page, 'peak_tflops');
}));

await tap.test('a run that compiled nothing has kernels without HLO, or says why there is nothing', async () => {
  for (const name of ['op_profile', 'hlo_stats', 'roofline_model']) {
    await using(`#/${name}?run=eager`, {}, async (page) => {
      const text = await page.textContent('main');
      assert(/no known HLO|No instructions|nothing to put/.test(text), `${name}: ${text.slice(0, 400)}`);
      await axe(page, `${name} without programs`);
    });
  }
});

await tap.test('thousands of instructions are all there, and the page stays quick to use', async () => {
  const rows = records(await api('run=large&tag=hlo_stats')).filter(({ category }) => category !== 'IDLE');
  assert(rows.length > 20_000, `${rows.length} instructions`);
  await using('#/hlo_stats?run=large', {}, async (page) => {
    assert((await tally(page)).startsWith(rows.length.toLocaleString('en-US')), await tally(page));
  });
  await using('#/op_profile?run=large', { width: 1024, height: 768, theme: 'dark' }, async (page) => {
    assert((await page.textContent('main')).includes(' more'), 'a category says what it leaves out');
    await page.check('label:has-text("All children") input');
    await hasParam(page, 'all', 'in');
    await settled(page);
    await page.waitForFunction(() => !document.querySelector('main').textContent.includes(' more'));
  });
  await using('#/roofline_model?run=large', {}, async (page) => {
    assert((await page.textContent('main')).includes('Roofline'), 'the chart');
  });
});

await tap.test('a program leads to what its instructions cost', () => using('#/modules?run=now', {}, async (page) => {
  const [program] = records(await api('run=now&tag=modules'));
  assert((await page.textContent('.tabulator-row')).includes(program.module), 'the program');
  await axe(page, 'programs');
  await page.click('.tabulator-row a:text-is("Costs")');
  await page.waitForFunction(() => location.hash.startsWith('#/hlo_costs'));
  await hasParam(page, 'program_id', program.program_id);
  await page.waitForSelector('.tile:has(dt:text-is("Known to us alone"))');
  await settled(page);
  const { p, rows } = await api('run=now&tag=hlo_costs');
  assert((await tally(page)).startsWith(`${rows.length - Number(p.fused_total)} `), await tally(page));
  equal(await tile(page, 'Instructions'), Number(p.rows_total).toLocaleString('en-US'));
  equal(await tile(page, 'Known to us alone'), p.ours_total);
  equal(await tile(page, 'Unknown'), p.unknown_total);
  await axe(page, 'costs');
  await page.click('button.pick:has-text("program")');
  await page.waitForSelector('.option:has-text("instructions")');
  assert((await page.textContent('.option')).includes(program.module), 'the programs to choose from');
  await page.keyboard.press('Escape');
  await page.check('label:has-text("Inside of fusions") input');
  await hasParam(page, 'fused', 'in');
  await page.waitForFunction((start) => document.querySelector('.table-card [role=status]').textContent.startsWith(start), `${rows.length.toLocaleString('en-US')} `);
}));

await tap.test('an instruction leads to its rows on every page and to its events, and back', () => using('#/hlo_stats?run=now', {}, async (page) => {
  await page.click('.tabulator-row >> nth=2');
  await page.waitForSelector('.hlo-text pre');
  const name = (await column(page, 'hlo_op_name'))[2];
  const { program_id: program, source } = stats.find(({ hlo_op_name: op }) => op === name);
  const title = (wanted) => page.waitForFunction((text) => document.querySelector('.detail h2')?.textContent === text && document.querySelector('[aria-busy=true]') === null, wanted);
  const follow = async (label, tool) => {
    await page.click(`.detail .detail-links a:text-is("${label}")`);
    await page.waitForFunction((start) => location.hash.startsWith(start), `#/${tool}?`);
    await title(name);
  };
  const trace = new URLSearchParams((await page.getAttribute('.detail a:text-is("Find in the trace")', 'href')).split('?')[1]);
  const found = await (await fetch(`${root}trace_viewer/search?run=now&mode=regex&in=${trace.get('in')}&q=${encodeURIComponent(trace.get('q'))}`)).json();
  assert(found.total > 0, 'its events in the trace');
  await follow('Cost', 'hlo_costs');
  await hasParam(page, 'program_id', program);
  assert((await page.textContent('.detail .hlo-text pre')).startsWith(`%${name} = `), 'its text');
  assert(source.includes(await page.getAttribute('.detail .hlo-source p', 'title')), 'its line of source');
  await page.waitForFunction((wanted) => document.querySelector('.tabulator-row.selected')?.textContent.includes(wanted), name);
  await follow('Roofline', 'roofline_model');
  await follow('Op profile', 'op_profile');
  await follow('HLO stats', 'hlo_stats');
  // From an event of it.
  const event = found.hits.find(({ name: called }) => called === name);
  if (event === undefined) return;
  await page.goto(`${root}#/trace_viewer?run=now&sel=${event.id}`);
  await page.waitForSelector('.trace-extra a:text-is("HLO stats")');
  await page.click('.trace-extra a:text-is("HLO stats")');
  await page.waitForFunction(() => location.hash.startsWith('#/hlo_stats?'));
  await title(name);
}));

await tap.test('a program that is not there, and a run without any, are told', async () => {
  await using('#/hlo_costs?run=now&program_id=3', {}, async (page) => {
    assert((await page.textContent('main .state')).includes('not in the capture'), await page.textContent('main'));
    await page.waitForSelector('button.pick:has-text("program")');
    await axe(page, 'no such program');
  });
});

await tap.test('nothing went wrong on the way, and nothing came from elsewhere', async () => {
  equal(complaints, []);
  equal([...foreign], []);
});

await browser.close();
tap.end();
