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

const table = (columns, ...rows) => ({ cols: columns.map(([id, type = 'string']) => ({ id, label: id, type })), rows: rows.map((row) => ({ c: row.map((v) => ({ v })) })) });

test('what is not known of a program stays unknown', () => {
  const columns = [['module'], ['program_id'], ['instructions', 'number'], ['instructions_run', 'number'], ['executions', 'number'], ['time_us', 'number'], ['time_share', 'number'], ['hosts', 'number']];
  const [step, lost] = hlo.readPrograms(table(columns, ['jit_step', '17', 40, 9, 3, 120.5, 0.75, 2], [null, '12190760917235803885', null, 2, null, 40, 0.25, null]));
  assert.equal(step.label, 'jit_step(17)');
  assert.deepEqual([step.rank, step.instructions, step.executions, step.time, step.share, step.hosts], [1, 40, 3, 120.5, 0.75, 2]);
  assert.deepEqual([lost.label, lost.module, lost.instructions, lost.executions, lost.hosts], ['12190760917235803885', '', null, null, null]);
});

const COSTS = [['program_id'], ['computation'], ['comp_kind'], ['instruction'], ['opcode'], ['category'], ['xla_flops', 'number'], ['xla_bytes', 'number'], ['gpu_flops_model', 'number'], ['gpu_bytes', 'number'], ['cost_source'], ['op_name'], ['expression'], ['source'], ['source_stack']];
const costs = () => hlo.readCosts(table(
  COSTS,
  ['17', 'main', 'entry', 'add.1', 'add', 'add', 8, 96, 24, 96, 'XLA', 'f/add:Add', '%add.1 = f32[8] add(a, b)', '/m.py:7', '/m.py:7:3\n/n.py:9:1\n'],
  ['17', 'main', 'entry', 'gemm', 'custom-call', 'custom-call', null, null, 1000, 64, 'ours', '', '%gemm = custom-call(a), custom_call_target="__cublas$gemm"', '', ''],
  ['17', 'main', 'entry', 'x', 'custom-call', 'custom-call', null, null, null, null, 'unknown', '', '%x = custom-call(a), custom_call_target="mine"', '', ''],
  ['17', 'body', 'other', 'y', 'custom-call', 'custom-call', null, null, null, null, 'unknown', '', '%y = custom-call(a), custom_call_target="mine"', '', ''],
  ['17', 'body', 'other', 'z', 'sort', 'sort', null, null, null, null, 'unknown', '', '%z = sort(a)', '', ''],
));

test('costs are ranked by arithmetic, and unknown ones are last and no zeros', () => {
  const rows = costs();
  assert.deepEqual(rows.map(({ name, rank, place }) => [name, rank, place]), [['add.1', 2, 1], ['gemm', 1, 2], ['x', 3, 3], ['y', 4, 4], ['z', 5, 5]]);
  assert.deepEqual([rows[1].flops, rows[1].gpuFlops, rows[2].gpuFlops], [null, 1000, null]);
  assert.deepEqual(rows[0].source, { place: '/m.py:7', stack: ['/m.py:7:3', '/n.py:9:1'] });
  assert.equal(rows[1].source, null);
  assert.equal(rows[0].framework, 'f/add');
});

test('sums are of what is known, and say of how many it is not', () => {
  assert.deepEqual(hlo.sumKnown(costs(), (row) => row.flops), { sum: 8, unknown: 4 });
  assert.deepEqual(hlo.sumKnown(costs(), (row) => row.gpuBytes), { sum: 160, unknown: 3 });
  assert.deepEqual(hlo.unknownKinds(costs()), [{ kind: 'custom-call to mine', count: 2 }, { kind: 'sort', count: 1 }]);
});

const context = (tools, name) => ({ has: (tool) => tools.includes(tool), tool: { name }, link: (tool, keys) => `${tool}?${new URLSearchParams(keys)}` });

test('an instruction is found on every other page of the run by its program and its name', () => {
  const pages = ['op_profile', 'hlo_stats', 'roofline_model', 'hlo_costs'];
  const key = encodeURIComponent('17|fusion.1');
  assert.deepEqual(hlo.instructionLinks(context(pages, 'op_profile'), '17', 'fusion.1'), [
    { label: 'HLO stats', href: `hlo_stats?sel=${key}` },
    { label: 'Roofline', href: `roofline_model?sel=${key}` },
    { label: 'Cost', href: `hlo_costs?program_id=17&sel=${key}` },
  ]);
  assert.deepEqual(hlo.instructionLinks(context(['op_profile'], 'hlo_stats'), '17', 'a'), [{ label: 'Op profile', href: 'op_profile?f.name=%3Da&f.program=%3D17&sel=17%7Ca' }]);
  const [row] = costs();
  assert.equal(row.key, hlo.instructionKey('17', 'add.1'), 'the key of its row');
});

test('without its program an instruction is looked for by name, and has no cost', () => {
  for (const program of ['', '0'])
    assert.deepEqual(hlo.instructionLinks(context(['hlo_stats', 'hlo_costs'], 'trace_viewer'), program, 'a'), [{ label: 'HLO stats', href: 'hlo_stats?f.hlo_op_name=%3Da' }]);
  assert.deepEqual(hlo.instructionLinks(context(['hlo_stats'], 'op_profile'), '17', ''), []);
});

test('in the trace its name is looked for as a whole', () => {
  const at = new URLSearchParams(hlo.instructionTrace(context(['trace_viewer'], 'hlo_stats'), 'fusion.1').split('?')[1]);
  const q = new RegExp(at.get('q'));
  assert.deepEqual([at.get('re'), at.get('in')], ['1', 'all']);
  assert.deepEqual(['fusion.1', '%fusion.1 = f32[] add(a, b)', 'fusion.12', 'fusionx1', 'loop_fusion.1'].map((name) => q.test(name)), [true, true, false, false, false]);
  assert.equal(hlo.instructionTrace(context([], 'hlo_stats'), 'fusion.1'), null);
});

const detail = await load('timeline/event_detail');

test('an event tells which instruction it ran, on GPUs, on TPUs and on derived lines', () => {
  const event = (name, args = {}, long = undefined) => ({ name, long_name: long, args: Object.entries(args).map(([key, value]) => ({ name: key, value })) });
  assert.deepEqual(detail.instructionOf(event('gemm_kernel', { hlo_op: 'dot.3', program_id: 17 })), { programId: '17', name: 'dot.3' });
  assert.deepEqual(detail.instructionOf(event('dot.3', {}, '17/dot.3')), { programId: '17', name: 'dot.3' });
  assert.deepEqual(detail.instructionOf(event('fusion.2', { program_id: '12190760917235803885' }, '%fusion.2 = f32[8]{0} fusion(a)')), { programId: '12190760917235803885', name: 'fusion.2' });
  assert.deepEqual(detail.instructionOf(event('k', { hlo_op: 'a', program_id: 12190760917235803885 })), { programId: '', name: 'a' }, 'digits that were lost');
  assert.equal(detail.instructionOf(event('MemcpyH2D')), null);
});
