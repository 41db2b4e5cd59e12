// SPDX-License-Identifier: Apache-2.0
// What the pages about programs read from answers: node tests/web/hlo_unit.mjs

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './modules.mjs';

const hlo = await load('core/hlo');

test('the cell of a source is taken apart as text', () => {
  const cell = "<div class='source-info-cell' title='/a/b.py:7:3\n/a/c.py:9:1\n'>/a/b.py:7</div>";
  assert.deepEqual(hlo.readSource(cell), { place: '/a/b.py:7', stack: ['/a/b.py:7:3', '/a/c.py:9:1'] });
  assert.deepEqual(hlo.readSource('/x.py:1'), { place: '/x.py:1', stack: [] });
  assert.equal(hlo.readSource(''), null);
  assert.equal(hlo.readSource("<div class='source-info-cell' title=''></div>"), null);
  assert.equal(hlo.readSource("<div title='&lt;f&gt;.py:1'>&lt;img src=x&gt;&amp;amp;</div>").place, '<img src=x>&amp;');
});

const leaf = (name, time, metrics = {}, more = {}) => ({ name, metrics: { rawTime: time, rawFlops: 0, rawBytesAccessedArray: [0, 0, 0], bandwidthUtils: [0, 0, 0], uncappedFlops: 0, occurrences: 1, ...metrics }, children: [], ...more });

test('use of the peaks and what is wasted follow XProf\'s page', () => {
  // Half of the time at 60 % of the peak flops and 20 % of the bandwidth.
  const root = hlo.readOpProfile(leaf('root', 100, {}, { children: [leaf('a', 50, { rawFlops: 5, rawBytesAccessedArray: [3, 1, 0], uncappedFlops: 0.3, bandwidthUtils: [0.2, 0, 0] }), leaf('b', 30)] }));
  const [a, b] = root.children;
  assert.equal(a.share, 0.5);
  assert.equal(a.flopsUse, 0.6);
  assert.equal(a.bandwidthUse, 0.2);
  assert.ok(Math.abs(a.wasted - 0.5 * 0.4) < 1e-12);
  assert.equal(a.bytes, 4);
  assert.equal(b.wasted, null, 'without a cost nobody knows what is wasted');
  assert.equal(hlo.readOpProfile({}), null, 'a tree of nothing');
});

test('what a node has below it and is not in the answer is counted', () => {
  const root = hlo.readOpProfile(leaf('root', 10, {}, { numChildren: 5, children: [leaf('a', 5), leaf('a', 3)] }));
  assert.equal(root.missing, 3);
  assert.notEqual(root.children[0].key, root.children[1].key);
});

test('a tree of any depth is read and compared', () => {
  let deep = leaf('leaf', 1);
  for (let i = 0; i < 20_000; i += 1) deep = leaf(`n${i}`, 1, {}, { children: [deep] });
  const tree = hlo.readOpProfile(deep);
  assert.equal(hlo.compareTrees(tree, tree).children.length, 1);
});

test('trees of two runs are joined by name, then by name without counters', () => {
  const tree = (children) => hlo.readOpProfile(leaf('root', 100, {}, { children }));
  const joined = hlo.compareTrees(tree([leaf('fusion.1', 10), leaf('fusion.7', 30), leaf('copy', 5)]), tree([leaf('fusion.2', 20), leaf('fusion.1', 11), leaf('dot.3', 4)]));
  const by = Object.fromEntries(joined.children.map((one) => [one.node.name, [one.now, one.base]]));
  assert.deepEqual(by, { 'fusion.1': [10, 11], 'fusion.7': [30, 20], copy: [5, null], 'dot.3': [null, 4] });
  assert.equal(joined.children.find((one) => one.now === null).node.time, 0);
});

test('programs are the same though their ids differ', () => {
  const tree = (name) => hlo.readOpProfile(leaf('root', 100, {}, { children: [leaf(name, 50)] }));
  const joined = hlo.compareTrees(tree('jit_step(17)'), tree('jit_step(23)'));
  assert.deepEqual(joined.children.map((one) => [one.now, one.base]), [[50, 50]]);
});

test('a roof rises with the intensity until the peak', () => {
  // 1 GiB/s is 1.073741824 GB/s.
  assert.ok(Math.abs(hlo.roofAt(1000, 100, 2) - 214.7483648) < 1e-9);
  assert.equal(hlo.roofAt(1000, 100, 50), 1000);
  const roofs = hlo.readRoofs({ device_type: 'Nvidia GPU (Hopper)', peak_flop_rate: '989400', peak_hbm_bw: '3122.1', peak_vmem_write_bw: '1000', peak_cmem_read_bw: '0' });
  assert.deepEqual(roofs, { flops: 989400, levels: [{ name: 'HBM', bandwidth: 3122.1 }, { name: 'Shared memory / L1', bandwidth: 1000 }] });
  assert.deepEqual(hlo.readRoofs({}), { flops: 0, levels: [] });
});

test('every category has a colour, and collectives one of their own', () => {
  for (const name of ['all-reduce', 'all-gather-start', 'reduce-scatter', 'collective-permute-done', 'send']) assert.equal(hlo.categoryToken(name), 'collectives', name);
  assert.equal(hlo.categoryToken('loop fusion'), 'device-compute');
  assert.equal(hlo.categoryToken('IDLE'), 'all-others');
  assert.equal(hlo.categoryToken('anything else'), 'device-to-device');
});
