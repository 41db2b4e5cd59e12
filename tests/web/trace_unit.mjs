// SPDX-License-Identifier: Apache-2.0
// The pure parts of the timeline: node tests/web/trace_unit.mjs

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './modules.mjs';

const viewport = await load('timeline/viewport');
const model = await load('timeline/model');
const decode = await load('timeline/decode');
const tiles = await load('timeline/tiles');
const marks = await load('timeline/marks');
const hits = await load('timeline/hit_test');
const counters = await load('timeline/counters');
const pointer = await load('timeline/pointer');
// Which theme there is does not matter here.
globalThis.matchMedia = () => ({ matches: false, addEventListener: () => undefined });
const ruler = await load('timeline/ruler');
const colouringOf = await load('timeline/colours');
const colours = await load('core/colours');
const link = await load('core/trace_link');
const names = await load('core/names');
const places = await load('core/url_state');
const words = await load('core/words');

const close = (a, b, limit = 1e-6) => assert.ok(Math.abs(a - b) <= limit, `${a} is not ${b}`);

test('what the timeline counts is said where it is not what was recorded', () => {
  const text = (counts) => words.countsText(counts, String);
  assert.equal(text({ events: 680, recorded: 880, hidden: 200, derived: 0 }), '880 recorded, 200 of them not shown');
  assert.equal(text({ events: 2175, recorded: 1992, hidden: 59, derived: 242 }), '1992 recorded, 59 of them not shown, 242 derived');
  assert.equal(text({ events: 5, recorded: 5, hidden: 0, derived: 0 }), '');
  assert.equal(text({ events: 5 }), '', 'servers before');
});

test('a slow event leads to itself, with room around it, on its own host', () => {
  const context = (hosts, has = true) => ({ tool: { hosts }, has: () => has, link: (tool, params) => [tool, params] });
  const one = { host: 'b', event: '1.2.3', start_us: 100.5, duration_us: 2 };
  assert.deepEqual(link.slowestLink(context(['a', 'b']))(one), ['trace_viewer', { from: '96500', to: '106500', sel: '1.2.3', host: 'b' }]);
  assert.deepEqual(link.slowestLink(context(['b']))({ ...one, start_us: 1, duration_us: 0 }), ['trace_viewer', { from: '980', to: '1030', sel: '1.2.3' }]);
  assert.equal(link.slowestLink(context(['b']))({ ...one, start_us: 0 })[1].from, '0');
  assert.equal(link.slowestLink(context(['b']))({ host: 'b', start_us: 7, duration_us: 2 }), null);
  assert.equal(link.slowestLink(context(['b'], false))(one), null);
});

test('a hit is shown as large as it takes to see it', () => {
  const all = 290e12;
  const shown = viewport.showing(viewport.whole(all), 1200, 200e12, 200e12 + 1e6, all);
  close(viewport.toX(shown, 1200, 200e12 + 1e6) - viewport.toX(shown, 1200, 200e12), 24, 0.1);
  close((shown.from + shown.to) / 2, 200e12 + 5e5, 1);
  // Wide enough and in sight: nothing moves. Out of sight: the same zoom.
  assert.equal(viewport.showing(shown, 1200, 200e12, 200e12 + 2e6, all), shown);
  close(viewport.span(viewport.showing(shown, 1200, 100e12, 100e12 + 2e6, all)), viewport.span(shown), 1);
  // An event longer than the view is seen whole; one without length as if it had some.
  close(viewport.span(viewport.showing(shown, 1200, 1e12, 5e12, all)), 4.4e12, 1);
  close(viewport.span(viewport.showing(shown, 1200, 1e12, 1e12, all)), 5e5, 1);
});

test('a mark over each pixel with a hit, however many there are elsewhere', () => {
  const heights = ruler.hitHeights([0, 1, 0, 1000, 30, 0], (slot) => Math.floor(slot / 2));
  assert.deepEqual([...heights.keys()], [0, 1, 2]);
  assert.ok(heights.get(0) >= 4 && heights.get(0) < heights.get(2) && heights.get(2) < heights.get(1));
  assert.deepEqual([...ruler.hitHeights([1, 0, 1], (slot) => slot).values()], [4, 4]);
  assert.equal(ruler.hitHeights([0, 0], (slot) => slot).size, 0);
});

test('time and pixels are each other’s inverse', () => {
  const view = { from: 1e12, to: 3e12 };
  assert.equal(viewport.toX(view, 1000, 2e12), 500);
  assert.equal(viewport.toTime(view, 1000, 250), 1.5e12);
  // An hour in, a picosecond is still a picosecond.
  const deep = { from: 3.6e15, to: 3.6e15 + 1000 };
  close(viewport.toTime(deep, 1000, viewport.toX(deep, 1000, 3.6e15 + 7)), 3.6e15 + 7, 0.5);
});

test('zooming keeps what is under the pointer, and ends at the whole and at ten picoseconds', () => {
  const duration = 1e12;
  let view = { from: 2e11, to: 6e11 };
  const next = viewport.zoomAbout(view, 3e11, 0.5, duration);
  close((3e11 - next.from) / (next.to - next.from), 0.25, 1e-9);
  assert.equal(next.to - next.from, 2e11);
  for (let i = 0; i < 200; i += 1) view = viewport.zoomAbout(view, 3e11, 0.5, duration);
  assert.equal(view.to - view.from, viewport.MIN_SPAN_PS);
  for (let i = 0; i < 200; i += 1) view = viewport.zoomAbout(view, 3e11, 2, duration);
  assert.deepEqual(view, viewport.whole(duration));
});

test('a view never leaves the trace', () => {
  const all = viewport.whole(1e9);
  assert.equal(viewport.panBy({ from: 0, to: 1e8 }, -1e12, 1e9).from, all.from);
  assert.equal(viewport.panBy({ from: 0, to: 1e8 }, 1e12, 1e9).to, all.to);
  assert.deepEqual(viewport.clamp({ from: NaN, to: NaN }, 1e9), all);
});

test('between two views there is no detour', () => {
  const [a, b] = [{ from: 0, to: 1000 }, { from: 400, to: 500 }];
  close(viewport.between(a, b, 0).from, a.from);
  close(viewport.between(a, b, 0).to, a.to);
  const middle = viewport.between(a, b, 0.5);
  close(middle.to - middle.from, Math.sqrt(1000 * 100), 1e-6);
  assert.ok(middle.from > a.from && middle.to < a.to && middle.from < b.from && middle.to > b.to);
  const end = viewport.between(a, b, 1);
  close(end.from, 400);
  close(end.to, 500);
});

test('slots are about a pixel wide', () => {
  for (const span of [1e4, 1e6, 3e9, 5e12]) {
    const slot = 2 ** viewport.levelFor({ from: 0, to: span }, 1500);
    const pixels = slot / (span / 1500);
    assert.ok(pixels > 0.7 && pixels < 1.42, `${pixels}`);
  }
  assert.equal(viewport.levelFor({ from: 0, to: 10 }, 1500), 0);
  // Level 20, a block is 2048 slots: 2^31 ps.
  assert.deepEqual(viewport.blocksIn({ from: -5, to: 2 ** 31 }, 20, 1e15), { first: 0, last: 1 });
  assert.deepEqual(viewport.blocksIn({ from: 0, to: 1e15 }, 20, 2 ** 31 - 1), { first: 0, last: 0 });
});

test('the ruler counts in 1, 2 and 5 and says no digit too many', () => {
  const { step, list } = viewport.ticks({ from: 0, to: 1e12 }, 1000, 96);
  assert.equal(step, 1e11);
  assert.deepEqual(list.filter((tick) => tick.major).slice(0, 3).map((tick) => tick.ps), [0, 1e11, 2e11]);
  assert.equal(viewport.tickLabel(0, 1e11), '0');
  assert.equal(viewport.tickLabel(3e11, 1e11), '300 ms');
  assert.equal(viewport.tickLabel(1.25e12, 1e10), '1.25 s');
  assert.equal(viewport.tickLabel(131_204e6, 1e6), '131.204 ms');
  assert.equal(viewport.tickLabel(-5e8, 1e8), '−500 µs');
});

const track = (id, more = {}) => ({ id, tid: 1, name: `thread ${id}`, kind: 'thread', events: 5, depth: 2, begin_ps: 0, end_ps: 10, ...more });
const trace = {
  hosts: [{ index: 0, host: 'a', offset_ps: 0, aligned: true }, { index: 1, host: 'b', offset_ps: 0, aligned: true }], duration_ps: 100, steps: [],
  processes: [
    { id: '0.1', host: 0, pid: 1, name: '/device:GPU:0', kind: 'device', tracks: [track('0.0', { depth: 1 }), track('0.1')] },
    { id: '0.701', host: 0, pid: 701, name: '/host:CPU', kind: 'host', tracks: [track('0.2'), track('0.3', { depth: 40 })] },
    { id: '1.701', host: 1, pid: 701, name: 'b /host:CPU', kind: 'host', tracks: [track('1.0')] },
  ],
};
const choices = (more = {}) => ({ pin: [], hide: new Set(), fold: new Set(), open: new Set(), order: [], filter: '', ...more });
const keys = (layout) => layout.rows.map((row) => row.key);
const all = new Set(['p0.1', 'p0.701', 'p1.701']);

test('rows stand below each other, as high as their depth', () => {
  const layout = model.layout(trace, choices(), all);
  assert.deepEqual(keys(layout), ['p0.1', '0.0', '0.1', 'p0.701', '0.2', '0.3', 'p1.701', '1.0']);
  layout.rows.reduce((y, row) => {
    assert.equal(row.y, y);
    return y + row.height;
  }, 0);
  assert.equal(layout.rows[2].height - layout.rows[1].height, model.PITCH);
  assert.equal(layout.rows[0].title, 'a /device:GPU:0');
  assert.equal(layout.rows[6].title, 'b /host:CPU');
  assert.deepEqual(model.rowsBetween(layout.rows, layout.rows[1].y, layout.rows[2].y + 1).map((row) => row.key), ['0.0', '0.1']);
});

test('fold, hide, pin, order and filter', () => {
  assert.deepEqual(keys(model.layout(trace, choices({ fold: new Set(['p0.701']) }), all)), ['p0.1', '0.0', '0.1', 'p0.701', 'p1.701', '1.0']);
  assert.deepEqual(keys(model.layout(trace, choices({ open: new Set(['p1.701']) }), new Set())), ['p0.1', 'p0.701', 'p1.701', '1.0']);
  const folded = model.layout(trace, choices({ fold: new Set(['0.3']) }), all).rows.find((row) => row.key === '0.3');
  assert.ok(folded.folded && folded.height < 60);
  const hidden = model.layout(trace, choices({ hide: new Set(['0.1', 'p0.701']) }), all);
  assert.deepEqual(keys(hidden), ['p0.1', '0.0', 'p1.701', '1.0']);
  assert.equal(hidden.hidden, 3);
  const pinned = model.layout(trace, choices({ pin: ['1.0', '0.0'] }), all);
  assert.deepEqual(pinned.pinned.map((row) => [row.key, row.y]), [['1.0', 0], ['0.0', pinned.pinned[0].height]]);
  assert.ok(!keys(pinned).includes('0.0'));
  assert.deepEqual(keys(model.layout(trace, choices({ order: ['p1.701', '0.3'] }), all)).slice(0, 2), ['p1.701', '1.0']);
  assert.deepEqual(keys(model.layout(trace, choices({ filter: 'THREAD 0.2' }), new Set())), ['p0.701', '0.2']);
  assert.deepEqual(keys(model.layout(trace, choices({ filter: 'gpu' }), new Set())), ['p0.1', '0.0', '0.1']);
});

test('moving says only as much as has changed', () => {
  assert.deepEqual(model.moved(['x', 'y', 'z'], 'z', -1, []), ['x', 'z', 'y']);
  assert.deepEqual(model.moved(['x', 'y', 'z'], 'y', -1, ['other']), ['other', 'y', 'x']);
  assert.equal(model.moved(['x', 'y'], 'x', -1, []), null);
  const order = model.moved(['x', 'y', 'z', 'w'], 'w', -1e6, []);
  assert.deepEqual(model.ordered(['x', 'y', 'z', 'w'], (one) => one, order), ['w', 'x', 'y', 'z']);
});

test('with hundreds of tracks only the first processes are open', () => {
  const many = { ...trace, processes: Array.from({ length: 20 }, (_, i) => ({ id: `0.${i}`, host: 0, pid: i, name: 'p', kind: 'host', tracks: Array.from({ length: 30 }, (_track, t) => track(`0.${i * 30 + t}`)) })) };
  assert.equal(model.openByDefault(many).size, 6);
  assert.deepEqual([...model.openByDefault(trace)], [...all]);
  // Derived lines that come later fold nothing: 20 a process would leave 4 open.
  const later = { ...many, processes: many.processes.map((process) => ({ ...process, tracks: [...process.tracks, ...Array.from({ length: 20 }, (_, t) => ({ ...track(`9.${t}`), kind: 'derived' }))] })) };
  assert.deepEqual([...model.openByDefault(later)], [...model.openByDefault(many)]);
});

const ANSWER = {
  level: 10, tile: 8, tiles: 4, from_ps: 8 * 512 * 1024, to_ps: 12 * 512 * 1024, slot_ps: 1024, names: ['MatMul', 'Relu'], categories: [3, 0],
  tracks: [{
    id: '0.1', slot_ps: 1024, start: [4_000_000, 300_000, 10_000, 4_310_000], duration: [250_000, 5000, 40_000, 20_000], depth: [[0, 3], [1, 1]], name: [0, 1, 1, 0],
    event: [7, 1, -6, 10], merged: [1, 1], count: [12, 30], busy: [2500, 40_000], events: 44, before: 1,
  }],
};

test('a tile is read as it is written: differences within a depth, merged entries apart', () => {
  const [block] = decode.decode(ANSWER, new decode.Names(), 2);
  assert.deepEqual([...block.start], [4_000_000, 4_300_000, 4_310_000, 4_310_000]);
  assert.deepEqual([...block.depth], [0, 0, 0, 1]);
  assert.deepEqual([...block.event], [7, 8, 2, 10]);
  assert.deepEqual([...block.rows], [0, 3, 4]);
  assert.deepEqual([...block.count], [1, 12, 30, 1]);
  assert.deepEqual([...block.busy], [255, 128, 255, 255]);
  assert.equal(block.index, 2);
  assert.equal(decode.firstEndingAfter(block, 0, 4_250_000), 1);
  assert.equal(decode.firstEndingAfter(block, 0, 4_249_999), 0);
  assert.equal(decode.firstEndingAfter(block, 1, 5_000_000), 4);
  assert.equal(decode.firstStartingFrom(block, 0, 4_300_000), 1);
});

test('names keep their number over answers; nonsense in an answer breaks nothing', () => {
  const known = new decode.Names();
  known.id('Relu');
  const [block] = decode.decode(ANSWER, known, 2);
  assert.equal(known.text[block.name[1]], 'Relu');
  const [odd] = decode.decode({ ...ANSWER, tracks: [{ id: '0.1', slot_ps: 1, start: [1, 2], duration: [1, 1], depth: [[0, 99], [1e9, 5]], name: [5, -1], event: [0, 0], merged: [77], count: [3], busy: [1] }] }, known, 2);
  assert.equal(odd.size, 2);
  assert.deepEqual([...odd.count], [1, 1]);
});

test('a category is an event\'s, not a name\'s', () => {
  const known = new decode.Names();
  const one = (category, id) => decode.decode({ ...ANSWER, names: ['Relu'], categories: [category], tracks: [{ id, slot_ps: 1024, start: [0], duration: [9], depth: [[0, 1]], name: [0], event: [0] }] }, known, 2)[0];
  const [host, device] = [one(3, '0.1'), one(0, '0.2')];
  assert.equal(host.name[0], device.name[0]);
  assert.deepEqual([host.category[0], device.category[0]], [3, 0]);
  const inks = { categories: [[1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 4], [5, 5, 5]], ground: [0, 0, 0], ink2: [9, 9, 9], dark: false };
  const colouring = new colouringOf.Colouring(known, inks, 'category');
  assert.deepEqual([host, device].map((block) => colouring.of(block)[0] & 255), [4, 1]);
  assert.deepEqual([...known.categories], [3, 0]);
  // By name both are alike.
  colouring.set(inks, 'name');
  assert.equal(colouring.of(host)[0], colouring.of(device)[0]);
});

test('values that cannot be told apart are drawn up to the highest for as long as their slot, then the last holds', () => {
  const tile = { level: 3, tile: 0, tiles: 1, from_ps: 0, to_ps: 800, slot_ps: 100, names: [], categories: [], tracks: [{ id: '0.1', slot_ps: 100, time: [10, 230, 260], min: [5, 1, 7], max: [5, 90, 7], last: [5, 2, 7] }] };
  const [block] = decode.decode(tile, new decode.Names(), 0);
  const step = (from, to, low, high = low) => ({ from, to, low, high });
  assert.deepEqual(counters.stepsOf(block, 0, 800), [step(10, 240, 5), step(240, 300, 1, 90), step(300, 500, 2), step(500, 800, 7)]);
  // The part of a block that a strip shows.
  assert.deepEqual(counters.stepsOf(block, 250, 510), [step(250, 300, 1, 90), step(300, 500, 2), step(500, 510, 7)]);
  const memory = { ...track('0.1'), kind: 'counter', name: 'Memory cpu', allocator: 'cpu', unit: 'bytes', max: 3 * 2 ** 30 };
  const strip = { block, row: { kind: 'track', key: '0.1', track: memory }, from: 0, to: 800, top: 100, pitch: 40, box: 40 };
  const view = { from: 0, to: 800 };
  const at = (ps, y = 120) => counters.readingAt([strip], view, 800, ps, y);
  assert.equal(at(5), null, 'nothing is known yet');
  assert.equal(at(20, 99), null, 'above it');
  assert.equal(counters.readingText(at(20)), '5 B');
  assert.equal(counters.readingText(at(250)), '1 B to 90 B');
  assert.equal(counters.readingText(at(400)), '2 B');
  assert.equal(at(400).track.allocator, 'cpu');
  assert.equal(counters.mostText(memory), '3.00 GiB');
  assert.equal(counters.peakText({ ...memory, unit: undefined, max: 38.0330291 }), 'at most 38.03');
  assert.equal(counters.mostText(track('0.2')), '');
});

test('a counter of memory leads to its allocator at that moment', () => {
  const context = (has) => ({ has: () => has, link: (tool, params) => [tool, params] });
  assert.deepEqual(link.memoryLink(context(true), 'b', 22.5, 'cpu'), ['memory_profile', { at: '22.5', mem: 'cpu', host: 'b' }]);
  assert.deepEqual(link.memoryLink(context(true), '', 0), ['memory_profile', { at: '0' }]);
  assert.equal(link.memoryLink(context(false), '', 0, 'cpu'), null);
});

test('what is under the pointer', () => {
  const [block] = decode.decode(ANSWER, new decode.Names(), 2);
  const row = { kind: 'track', key: '0.1', track: track('0.1') };
  const strip = { block, row, from: ANSWER.from_ps, to: ANSWER.to_ps, top: 100, pitch: 18, box: 17 };
  const view = { from: 4_200_000, to: 4_400_000 };
  const at = (ps, y) => hits.hit([strip], view, 1000, viewport.toX(view, 1000, ps), y, 0);
  assert.equal(at(4_230_000, 105).id, '0.1.7');
  assert.equal(at(4_302_000, 105).count, 12);
  assert.equal(at(4_320_000, 125).id, '0.1.10');
  assert.equal(at(4_280_000, 105), null);
  assert.equal(at(4_230_000, 99), null);
  // An edge nearby is held on to; the middle of nothing is not.
  assert.equal(hits.snap([strip], view, 1000, viewport.toX(view, 1000, 4_249_000), 105), 4_250_000);
  assert.equal(Math.round(hits.snap([strip], view, 1000, viewport.toX(view, 1000, 4_280_000), 105)), 4_280_000);
});

/** A server that answers when told to. */
class Slow {
  constructor() {
    this.asked = [];
  }

  get(what, query, signal) {
    return new Promise((resolve, reject) => {
      const one = { what, query, signal, resolve: () => resolve({ ...ANSWER, level: query.level, tile: query.tile, tracks: query.tracks.split(',').filter((id) => id !== 'gone').map((id) => ({ ...ANSWER.tracks[0], id })) }), reject };
      signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      this.asked.push(one);
    });
  }
}

const settle = () => new Promise((done) => { setTimeout(done, 0); });
const place = (id, level, index, rows = 1) => ({ track: id, rows, level, index });

test('blocks are asked for in groups, a few at a time, the first wish first', async () => {
  const server = new Slow();
  const store = new tiles.TileStore(server, new decode.Names(), () => undefined, () => undefined, { bytes: 1e9, requests: 2, rows: 4, tracks: 3 });
  store.want([place('a', 5, 1), place('b', 5, 1), place('c', 5, 1), place('d', 5, 1), place('e', 5, 2, 9), place('f', 5, 2)]);
  assert.deepEqual(server.asked.map(({ query }) => [query.tracks, query.tile, query.tiles]), [['a,b,c', 4, 4], ['d', 4, 4]]);
  server.asked[0].resolve();
  await settle();
  assert.deepEqual(server.asked.slice(2).map(({ query }) => query.tracks), ['e']);
  assert.ok(store.get('a', 5, 1) !== null && store.get('d', 5, 1) === null);
});

test('what left the screen is cancelled, what is still wanted is not asked for twice', async () => {
  const server = new Slow();
  const store = new tiles.TileStore(server, new decode.Names(), () => undefined);
  store.want([place('a', 5, 1)]);
  store.want([place('a', 5, 1)]);
  assert.equal(server.asked.length, 1);
  store.want([place('a', 4, 2)]);
  assert.ok(server.asked[0].signal.aborted);
  server.asked[1].resolve();
  await settle();
  assert.equal(store.size.blocks, 1);
});

test('what expired is shown until it came again, and asked for once more', async () => {
  const server = new Slow();
  const store = new tiles.TileStore(server, new decode.Names(), () => undefined);
  store.want([place('a', 5, 1)]);
  server.asked[0].resolve();
  await settle();
  const old = store.get('a', 5, 1);
  store.want([place('a', 5, 1), place('b', 5, 1)]);
  assert.equal(server.asked.length, 2);
  store.expire();
  assert.ok(server.asked[1].signal.aborted);
  assert.equal(store.get('a', 5, 1), old);
  store.want([place('a', 5, 1), place('b', 5, 1)]);
  assert.equal(server.asked[2].query.tracks, 'a,b');
  server.asked[2].resolve();
  await settle();
  assert.ok(store.get('a', 5, 1) !== old && store.get('b', 5, 1) !== null);
  assert.equal(store.size.blocks, 2);
  store.want([place('a', 5, 1), place('b', 5, 1)]);
  assert.equal(server.asked.length, 3);
});

test('until a block is there, a coarser or finer one stands in for its part of the time', async () => {
  const server = new Slow();
  const store = new tiles.TileStore(server, new decode.Names(), () => undefined);
  assert.deepEqual(store.cover('a', 5, 1), []);
  store.want([place('a', 8, 0)]);
  server.asked[0].resolve();
  await settle();
  const size = viewport.blockSpan(5);
  assert.deepEqual(store.cover('a', 5, 1).map(({ block, from, to }) => [block.level, from, to]), [[8, size, 2 * size]]);
  store.want([place('a', 4, 2)]);
  server.asked[1].resolve();
  await settle();
  // Coarser ones cover all, so they go first.
  assert.equal(store.cover('a', 5, 1)[0].block.level, 8);
  assert.deepEqual(store.cover('a', 12, 0).map(({ block }) => block.level), []);
  assert.deepEqual(store.cover('a', 9, 0).map(({ block, to }) => [block.level, to]), [[8, viewport.blockSpan(8)]]);
});

test('a track the answer leaves out is empty, not asked for for ever', async () => {
  const server = new Slow();
  const store = new tiles.TileStore(server, new decode.Names(), () => undefined);
  store.want([place('gone', 5, 1)]);
  server.asked[0].resolve();
  await settle();
  assert.equal(store.get('gone', 5, 1).size, 0);
  store.want([place('gone', 5, 1)]);
  assert.equal(server.asked.length, 1);
});

test('what was not looked at for longest goes first; the coarsest stays', async () => {
  const server = new Slow();
  const dropped = [];
  const one = decode.weight(decode.decode(ANSWER, new decode.Names(), 0)[0]);
  const store = new tiles.TileStore(server, new decode.Names(), () => undefined, (block) => dropped.push(`${block.track}/${block.level}`), { bytes: one * 3.5, requests: 9, rows: 9, tracks: 9 });
  for (const wish of [{ ...place('root', 30, 0), keep: true }, place('a', 5, 0), place('b', 5, 0), place('c', 5, 0)]) {
    store.tick();
    store.get('a', 5, 0);
    store.want([wish]);
    server.asked[server.asked.length - 1].resolve();
    await settle();
  }
  assert.deepEqual(dropped, ['b/5']);
  assert.ok(store.get('root', 30, 0) !== null);
});

test('an error is tried again, then told', async () => {
  const server = new Slow();
  let calls = 0;
  const store = new tiles.TileStore(server, new decode.Names(), () => { calls += 1; });
  store.want([place('a', 5, 1)]);
  server.asked[0].reject(new Error('no'));
  await settle();
  store.want([place('a', 5, 1)]);
  assert.equal(server.asked.length, 1, 'asked again at once');
  assert.ok(calls > 0);
  store.again();
  store.want([place('a', 5, 1)]);
  assert.equal(server.asked.length, 2);
  store.clear();
});

test('selections, areas and marks survive the address', () => {
  assert.deepEqual(marks.readSelection('0.3.17'), { kind: 'event', id: '0.3.17' });
  const area = { from: 1_500, to: 2_000_001, tracks: ['0.1', '1.2'] };
  assert.equal(marks.writeArea(area), 'area:1.5-2000.001:0.1,1.2');
  assert.deepEqual(marks.readSelection(marks.writeArea(area)), { kind: 'area', area });
  for (const wrong of ['', 'area:', 'area:5-1', '0.3', '1e9', 'area:x-y', '<b>']) assert.equal(marks.readSelection(wrong), null, wrong);
  const list = [{ ps: 5000, label: '' }, { ps: 7_250, label: 'a, b~c' }];
  assert.deepEqual(marks.readMarks(marks.writeMarks(list)), list);
  assert.deepEqual(marks.readMarks('x,~y'), []);
  assert.equal(marks.toNs(12_345_678), '12345.678');
});

test('the wheel zooms and counts lines as pixels', () => {
  assert.equal(pointer.wheelPixels(3, 1, 800), 72);
  assert.ok(pointer.wheelFactor(100, false) > 1.2 && pointer.wheelFactor(100, false) < 1.4);
  close(pointer.wheelFactor(100, false) * pointer.wheelFactor(-100, false), 1, 1e-12);
  assert.equal(pointer.wheelFactor(1e9, false), pointer.wheelFactor(120, false));
});

test('a name has one colour, which can be seen and read on', () => {
  const grounds = { false: [255, 255, 255], true: [0x12, 0x15, 0x1a] };
  const hues = new Set();
  for (let i = 0; i < 400; i += 1) {
    const name = `model/layer_${i}/MatMul`;
    for (const dark of [false, true]) {
      const colour = colours.nameColour(name, dark);
      assert.deepEqual(colours.nameColour(name, dark), colour);
      assert.ok(colours.contrast(colour, grounds[dark]) >= 3, `${name} ${colour} on ${grounds[dark]}`);
      assert.ok(colours.contrast(colour, colours.parseColour(colours.inkOn(colour))) >= 4.5, `text on ${colour}`);
      hues.add(String(colour));
    }
  }
  assert.ok(hues.size > 150, `${hues.size} colours for 400 names in two themes`);
});

test('longer events are further from the ground', () => {
  for (const [dark, ground] of [[false, [255, 255, 255]], [true, [0x12, 0x15, 0x1a]]]) {
    const ratios = [0.1, 10, 1000, 1e6].map((us) => colours.contrast(colours.durationColour(us, dark), ground));
    assert.deepEqual([...ratios].sort((a, b) => a - b), ratios);
    assert.ok(ratios[0] >= 2.9, `${ratios[0]}`);
  }
});

test('links to the trace', () => {
  assert.deepEqual(link.tracePlace({ step: 'train 12' }), { step: 'train 12' });
  assert.deepEqual(link.tracePlace({ name: 'Relu' }), { q: 'Relu' });
  assert.deepEqual(link.tracePlace({ op: 'a/b' }), { q: 'a/b', in: 'all' });
  assert.deepEqual(link.tracePlace({ fromNs: 5, toNs: 9, event: '0.1.2' }), { from: '5', to: '9', sel: '0.1.2' });
});

test('labels shorten kernels and leave the host’s names alone', () => {
  assert.equal(names.eventLabel('ExecutorState::Process'), 'ExecutorState::Process');
  assert.equal(names.eventLabel('$train.py:12 <module>'), '$train.py:12 <module>');
  assert.equal(names.eventLabel('void tensorflow::functor::Fill<float>(int, float*)'), 'Fill');
});

test('a second table keeps its keys apart', () => {
  const params = { q: 'relu', 'a.sort': '-count', 'a.f.name': 'x' };
  const patches = [];
  const own = places.prefixed({ place: { tool: 't', params }, get: (key, fallback = '') => params[key] ?? fallback, set: (patch) => patches.push(patch) }, 'a.');
  assert.equal(own.get('q'), '');
  assert.equal(own.get('sort'), '-count');
  assert.deepEqual(own.place.params, { sort: '-count', 'f.name': 'x' });
  own.set({ sort: null });
  assert.deepEqual(patches, [{ 'a.sort': null }]);
});
