// SPDX-License-Identifier: Apache-2.0
// The pure parts of the page: node tests/web/unit.mjs

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './modules.mjs';

const format = await load('core/format');
const filter = await load('core/filter');
const names = await load('core/names');
const state = await load('core/url_state');
const view = await load('core/table_view');
const openRows = await load('core/open_rows');
const compare = await load('core/compare');
const csv = await load('core/csv');
const gviz = await load('core/gviz');
const progress = await load('core/progress');
const runs = await load('core/runs');

const shown = (us) => format.joined(format.duration(us));

test('how far an answer is', () => {
  const one = (more) => ({ state: 'running', stage: 'reading', bytes_done: 0, bytes_total: 0, events: 0, hosts_done: 0, hosts_total: 1, position: null, ...more });
  const both = (more) => [progress.progressFraction(one(more)), progress.progressText(one(more))];
  assert.deepEqual(both({}), [null, 'Reading the capture']);
  assert.deepEqual(both({ bytes_done: 1 << 20, bytes_total: 4 << 20, events: 1234 }), [0.25, 'Reading the capture · 1.00 MiB of 4.00 MiB · 1,234 events']);
  assert.deepEqual(both({ stage: 'analysing', bytes_done: 5, bytes_total: 5 }), [null, 'Analysing · 5 B']);
  assert.deepEqual(both({ hosts_done: 4, hosts_total: 4, stage: 'writing' }), [1, 'Writing the answer · host 4 of 4']);
  assert.deepEqual(both({ state: 'waiting', stage: 'waiting', position: 1, hosts_total: 0 }), [null, 'Next in the queue of the server']);
  assert.deepEqual(both({ state: 'waiting', stage: 'waiting', position: 12 }), [null, 'Waiting: number 12 in the queue of the server']);
});

test('durations choose their unit', () => {
  assert.equal(shown(0), '0 µs');
  assert.equal(shown(2e-13), '0 µs', 'less than a picosecond is rounding');
  assert.equal(shown(0.25), '250.0 ns');
  assert.equal(shown(4.6457), '4.65 µs');
  assert.equal(shown(812.1), '812.1 µs');
  assert.equal(shown(4645.76), '4.65 ms');
  assert.equal(shown(39_133_000), '39.13 s');
  assert.equal(shown(600e6), '10.00 min');
});

test('other numbers', () => {
  assert.equal(format.count(10431887), '10,431,887');
  assert.equal(format.joined(format.bytes(146651)), '143.2 KiB');
  assert.equal(format.joined(format.bytes(12)), '12 B');
  assert.equal(format.percent(0.358559), '35.9 %');
  assert.equal(format.percent(0.0001), '<0.1 %');
  assert.equal(format.percent(0), '0.0 %');
  assert.equal(format.percent(6557.327), '655,733 %');
  assert.equal(format.fixed(0.0004, 1), '<0.1');
  assert.equal(format.fixed(4841.779, 1), '4,841.8');
  assert.equal(format.fixed(-3.25, 1), '−3.3');
  assert.equal(format.columnDecimals([1, 2, null]), 0);
  // From 10,000 µs on nobody wants to count digits.
  assert.deepEqual(format.timeUnit([9_999.9, 1]), { name: 'µs', us: 1, decimals: 1 });
  assert.deepEqual(format.timeUnit([10_000, 1, null]), { name: 'ms', us: 1e3, decimals: 3 });
  assert.deepEqual(format.timeUnit([-12e6]), { name: 's', us: 1e6, decimals: 3 });
  const seconds = format.timeUnit([12e6]);
  assert.equal(format.inTimeUnit(77_772_900, seconds), '77.773');
  assert.equal(format.inTimeUnit(1.44, seconds), '1.44 µs', 'what is nothing in seconds has its own unit');
  assert.equal(format.inTimeUnit(0, seconds), '0.000');
  assert.equal(format.inTimeUnit(1_450_095.8, format.timeUnit([1_450_095.8])), '1,450.096');
  assert.equal(format.columnDecimals([0.5, 4000]), 1);
  assert.equal(format.columnDecimals([0.5, 3]), 3);
  const change = (value) => format.change(value, (size) => format.fixed(size, 1));
  assert.deepEqual([5, -3.25, 0, 0.01, -0.01].map(change), ['+5.0', '−3.3', '0.0', '+<0.1', '−<0.1']);
  assert.equal(format.plural(1, 'host'), '1 host');
});

test('a run says when it was made', () => {
  // A name has no zone: it is shown as it stands, not as the server's clock has it.
  assert.equal(format.dateTime(format.runTime({ run: 'train/2023_11_07_18_18_59', time_ms: 0, time_from: 'name' })), '2023-11-07 18:18:59');
  assert.equal(format.dateTime(format.runTime({ run: 'a/2023_11_07_18_18_59-warm', time_ms: 0, time_from: 'name' })), '2023-11-07 18:18:59');
  assert.equal(format.runTime({ run: 'GPU-multi-worker', time_ms: 5, time_from: 'file' }).getTime(), 5);
  // The capture knows better than the name.
  assert.equal(format.runTime({ run: 'train/2023_11_07_18_18_59', time_ms: 7, time_from: 'capture' }).getTime(), 7);
});

test('number filters', () => {
  const passes = (query, values, meaning) => values.filter((value) => filter.numberFilter(query, meaning).test(value));
  const values = [null, -1, 0, 5, 10, 20, 100, 2000];
  assert.deepEqual(passes('>10', values), [20, 100, 2000]);
  assert.deepEqual(passes('<= 5', values), [-1, 0, 5]);
  assert.deepEqual(passes('10..20', values), [10, 20]);
  assert.deepEqual(passes('10 .. 20', values), [10, 20]);
  assert.deepEqual(passes('..0', values), [-1, 0]);
  assert.deepEqual(passes('100..', values), [100, 2000]);
  assert.deepEqual(passes('>=5 <100', values), [5, 10, 20]);
  assert.deepEqual(passes('20', values), [20]);
  assert.deepEqual(passes('!=20 >5', values), [10, 100, 2000]);
  assert.deepEqual(passes('>1,000', values), [2000]);
  assert.deepEqual(passes('>=2ms', values, { time: true }), [2000]);
  assert.deepEqual(passes('>1k', values), [2000]);
  assert.deepEqual(passes('>50', [0.4, 0.6], { scale: 0.01 }), [0.6]);
  assert.deepEqual(passes('', values), values);
  // What is typed below a column of milliseconds gets its unit, and only there.
  assert.equal(filter.withUnit('>5 <=1,000.5', 'ms'), '>5ms <=1,000.5ms');
  assert.equal(filter.withUnit('2ms..1s', 's'), '2ms..1s');
  assert.equal(filter.withUnit('>5', 'µs'), '>5');
  assert.equal(filter.withUnit('>5', ''), '>5');
  assert.deepEqual(passes(filter.withUnit('>5', 'ms'), [4_000, 6_000], { time: true }), [6_000]);
  assert.match(filter.numberFilter('>x').problem, /not a number filter/);
  assert.match(filter.numberFilter('..').problem, /not a number filter/);
});

test('text filters', () => {
  assert.ok(filter.textFilter('conv BACK', false).test('Conv2DBackpropInput'));
  assert.ok(!filter.textFilter('conv relu', false).test('Conv2D'));
  assert.ok(filter.textFilter('^conv\\dd$', true).test('Conv2D'));
  assert.ok(filter.textFilter('a(', true).problem !== null);
  assert.ok(filter.columnTextFilter('=Conv2D').test('Conv2D'));
  assert.ok(!filter.columnTextFilter('=Conv2D').test('Conv2DBackpropInput'));
  assert.ok(!filter.columnTextFilter('!conv').test('Conv2D'));
  assert.ok(filter.columnTextFilter('/^a|b$/').test('cb'));
});

test('addresses are read and written', () => {
  const place = state.parsePlace('#/framework_op_stats?sort=-total_time&run=train/2023_11_07&zzz=kept&q=a%20b');
  assert.equal(place.tool, 'framework_op_stats');
  assert.equal(place.params.q, 'a b');
  assert.equal(state.formatPlace(place), '#/framework_op_stats?run=train/2023_11_07&q=a%20b&sort=-total_time&zzz=kept');
  assert.deepEqual(state.parsePlace(''), { tool: '', params: {} });
  assert.equal(state.formatPlace({ tool: '', params: {} }), '#/');
  for (const value of ['100%', 'a&b=c', '#x', 'ü/ö', '=x', '<b>"\'', '%41', '+']) {
    const params = { run: value, q: value };
    assert.deepEqual(state.parsePlace(state.formatPlace({ tool: 'x', params })).params, params);
  }
  assert.equal(state.parsePlace('#/x?q=%E0%A4%A').params.q, '%E0%A4%A');
  assert.deepEqual(state.patched({ a: '1', b: '2' }, { a: null, b: '', c: '3' }), { c: '3' });
});

test('kernel names become short', () => {
  const cases = {
    'volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1': 'volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1',
    'void fft2d_c2r_32x32<float, false, 0u>(float*, float2 const*, int)': 'fft2d_c2r_32x32',
    'void cudnn::cnn::wgrad_alg0_engine<float, 512, 6>(int, float const*)': 'wgrad_alg0_engine',
    'void (anonymous namespace)::my_kernel(int)': 'my_kernel',
    'void at::native::(anonymous namespace)::softmax_warp<float>(float*)': 'softmax_warp',
    'void cutlass::Kernel<cutlass_80_tensorop_s16816gemm_f16>(cutlass_80_tensorop_s16816gemm_f16::Params)': 'cutlass_80_tensorop_s16816gemm_f16',
    'void ck_tile::kentry<ck_tile::gfx950_t, 1, ck_tile::FmhaBwdDQDKDVKernel<ck_tile::X<std::bfloat16_t>, void> >(int)': 'FmhaBwdDQDKDVKernel',
    'void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<Eigen::TensorMap<Eigen::Tensor<float, 1, 1, int>, 16>, Eigen::TensorCwiseBinaryOp<Eigen::internal::scalar_sum_op<float const, float const>, int> const> const, Eigen::GpuDevice>, int>(Eigen::X, int)': 'EigenMetaKernel<scalar_sum_op>',
    'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)': 'ncclDevKernel_AllReduce_Sum_f32_RING_LL',
    '_ZN10tensorflow7functor12FillPhiloxV2EPfi': 'FillPhiloxV2',
    'loop_add_fusion_3.kd': 'loop_add_fusion_3',
    'Memcpy HtoD': 'Memcpy HtoD',
    '': '',
  };
  for (const [name, short] of Object.entries(cases)) assert.equal(names.shortKernel(name), short, name);
  // Any name in a capture must give some text, not hang or throw.
  for (const broken of ['<', '>', '((((', 'a<b<c', 'void ', '_ZN', '_ZN9999999999x', 'operator<(a)', '::', 'a::', '<>::<>']) assert.equal(typeof names.shortKernel(broken), 'string');
});

test('names are cut from the left and stay distinct', () => {
  assert.equal(names.trimLeft('abcdef', 6), 'abcdef');
  assert.equal(names.trimLeft('abcdefg', 4), '…efg');
  const long = ['model/encoder/layer_1/attention/self/query/MatMul', 'model/encoder/layer_2/attention/self/query/MatMul'];
  const labels = names.distinctTails(long, 26);
  assert.notEqual(labels[0], labels[1]);
  assert.ok(labels.every((label) => label.length <= 27), labels.join());
  assert.ok(labels[0].includes('layer_1'));
  const pairs = ['conv1', 'conv2'].flatMap((part) => ['', 'replica_1/'].map((replica) => `gradient_tape/${replica}resnet50_vit/stage3/${part}/Conv2D/Conv2DBackpropFilter`));
  assert.equal(new Set(names.distinctTails(pairs, 44)).size, 4);
  assert.deepEqual(names.distinctTails(['same/long/name', 'same/long/name'], 6), ['…/name', '…/name']);
});

test('keys and types from names', () => {
  assert.equal(names.opTypeFromName('a/b/MatMul_1'), 'MatMul');
  assert.equal(names.opTypeFromName('jit(f)/add:Add'), 'Add');
  assert.equal(names.opTypeFromName('jit(f)/jvp()/dot_general:'), 'dot_general');
  assert.equal(names.opTypeFromName(''), '');
  assert.equal(names.addressKey(['a', 'b'], 'b'), 'a|b');
  const key = names.addressKey(['x'.repeat(400)], 'x'.repeat(400));
  assert.ok(key.length < 60 && /~[0-9a-f]{8}$/.test(key));
});

const columns = [
  { id: 'name', title: 'Name', kind: 'text', value: (row) => row.name },
  { id: 'n', title: 'N', kind: 'number', value: (row) => row.n },
  { id: 'd', title: 'D', kind: 'number', value: (row) => row.d ?? null, order: (value) => (value === null ? null : Math.abs(value)) },
  { id: 'off', title: 'Off', kind: 'text', hidden: true, value: () => 'x' },
];
const rows = [{ name: 'b', n: 1, d: -9 }, { name: 'a', n: 3, d: 2 }, { name: 'c', n: null, d: null }];
const plain = { q: '', regex: false, sort: '', where: {} };

test('a view filters and orders', () => {
  const order = (change) => view.seen(rows, columns, { ...plain, ...change }).rows.map((row) => row.name).join('');
  assert.equal(order({}), 'bac');
  assert.equal(order({ sort: 'name' }), 'abc');
  assert.equal(order({ sort: '-n' }), 'abc');
  assert.equal(order({ sort: 'n' }), 'bac');
  assert.equal(order({ sort: '-d' }), 'bac');
  assert.equal(order({ q: 'a' }), 'a');
  assert.equal(order({ where: { n: '>2' } }), 'a');
  assert.equal(order({ where: { gone: 'x' }, sort: 'gone' }), 'bac');
  assert.equal(view.visibleColumns(columns, 'off,!n').map((column) => column.id).join(), 'name,d,off');
  assert.equal(view.toggledColumn(columns, '', 'n'), '!n');
  assert.equal(view.toggledColumn(columns, '!n', 'n'), '');
});

test('a tree keeps the way to what is found', () => {
  const leaf = { name: 'x/leaf', n: 1, kids: [] };
  const roots = [{ name: 'x', n: 1, kids: [leaf] }, { name: 'y', n: 2, kids: [] }];
  const tree = { children: (row) => row.kids, isOpen: () => false };
  assert.deepEqual(view.seenTree(roots, columns, plain, tree).rows.map((row) => row.name), ['x', 'y']);
  assert.deepEqual(view.seenTree(roots, columns, { ...plain, q: 'leaf' }, tree).rows.map((row) => row.name), ['x', 'x/leaf']);
});

test('of a tree only what is open is looked at, unless something is looked for', () => {
  const roots = Array.from({ length: 50 }, (_, i) => ({ name: `r${i}`, n: i, kids: Array.from({ length: 2000 }, (_one, k) => ({ name: `r${i}/${k}`, n: k, kids: [] })) }));
  let asked = 0;
  const open = new Set([roots[3]]);
  const tree = { children: (row) => { asked += 1; return row.kids; }, isOpen: (row) => open.has(row) };
  assert.equal(view.seenTree(roots, columns, plain, tree).rows.length, 2050);
  assert.equal(asked <= 60, true, `${asked} rows were asked for those below`);
  assert.equal(view.seenTree(roots, columns, { ...plain, q: 'r7/1999' }, tree).rows.length, 2);
});

test('a tree may know a quicker way to what is kept, and how many lines are enough', () => {
  const roots = Array.from({ length: 30 }, (_, i) => ({ name: `r${i}`, n: i, kids: [{ name: `r${i}/leaf`, n: 1, kids: [] }] }));
  const kept = new Set([roots[4], roots[4].kids[0]]);
  const tree = { children: (row) => row.kids, isOpen: () => false, kept: ({ q }) => (q === 'quick' ? (row) => kept.has(row) : null) };
  const names = (q, more = {}) => view.seenTree(roots, columns, { ...plain, q }, { ...tree, ...more });
  assert.deepEqual(names('quick').rows.map((row) => row.name), ['r4', 'r4/leaf']);
  assert.deepEqual(names('r7').rows.map((row) => row.name), ['r7', 'r7/leaf']);
  assert.deepEqual(names('', { most: 7 }).rows.length, 7);
  assert.deepEqual(names('', { most: 7 }).problems, ['only the first 7 are shown']);
  assert.deepEqual(names('', { most: 30 }).problems, []);
});

test('a tree of any depth is walked', () => {
  let row = { name: 'leaf', n: 0, kids: [] };
  for (let i = 0; i < 20_000; i += 1) row = { name: 'x', n: i, kids: [row] };
  const tree = { children: (one) => one.kids, isOpen: () => false };
  assert.equal(view.seenTree([row], columns, { ...plain, q: 'leaf' }, tree).rows.length, 20_001);
  assert.equal(view.seenTree([row], columns, plain, { ...tree, isOpen: () => true }).rows.length, 20_001);
});

test('open rows are kept in the address whatever they are called', () => {
  const params = new Map();
  const url = { get: (key) => params.get(key) ?? '', set: (patch) => Object.entries(patch).forEach(([key, value]) => params.set(key, value)) };
  openRows.toggleRow(url, 'b,c');
  openRows.toggleRow(url, 'a');
  assert.deepEqual([...openRows.openRows(url)], ['a', 'b,c']);
  openRows.toggleRow(url, 'b,c');
  assert.deepEqual([...openRows.openRows(url)], ['a']);
});

test('a search for the same words is the same search', () => {
  const search = new filter.NameSearch();
  assert.equal(search.find(' ', false), null);
  const first = search.find('conv', false);
  assert.equal(first('a/Conv2D'), true);
  assert.equal(search.find('conv', false), first);
  assert.notEqual(search.find('conv', true), first);
  assert.equal(search.find('(', true), null);
});

const joined = (rows, base, more = {}) => compare.joinBase(rows, base, {
  place: (row) => ({ parts: compare.opParts(row.k), rest: row.type ?? '' }), name: (row) => row.k, measure: (row) => row.v, scale: 1,
  put: (row, difference) => ({ ...row, difference }), gone: (row) => ({ ...row, v: 0 }), ...more,
});

test('comparing joins by name', () => {
  const list = joined([{ k: 'a', v: 3 }, { k: 'b', v: 1 }], [{ k: 'a', v: 2 }, { k: 'c', v: 5 }]);
  assert.deepEqual(list.map((row) => [row.k, row.difference.state, row.difference.delta]), [['a', 'both', 1], ['b', 'new', 1], ['c', 'gone', -5]]);
  // Ten steps here, five there.
  assert.deepEqual(joined([{ k: 'a', v: 30 }], [{ k: 'a', v: 20 }], { scale: compare.stepScale({ now: 10, base: 5 }) })[0].difference, { base: 40, delta: -10, ratio: -0.25, state: 'both' });
  // Rows of one name are not added up or lost.
  assert.deepEqual(joined([{ k: 'a', v: 1 }, { k: 'a', v: 2 }], [{ k: 'a', v: 3 }, { k: 'a', v: 4 }, { k: 'a', v: 5 }]).map((row) => row.difference.delta), [-2, -2, -5]);
});

test('names that differ only by counters are matched', () => {
  const found = (now, then) => joined(now.map((k) => ({ k, v: 1 })), then.map((k) => ({ k, v: 1 })))
    .map(({ k, difference }) => (difference.state === 'both' ? `${k} ${difference.baseName ?? '='}` : `${k} ${difference.state}`)).sort();
  assert.deepEqual(found(['sequential/dense/MatMul'], ['sequential_1/dense_3/MatMul']), ['sequential/dense/MatMul sequential_1/dense_3/MatMul']);
  assert.deepEqual(found(['fusion.12', 'copy-done'], ['fusion.15', 'copy-done.4']), ['copy-done copy-done.4', 'fusion.12 fusion.15']);
  // In the order of their counters, as numbers.
  assert.deepEqual(found(['m/conv2d_4/Relu', 'm/conv2d_5/Relu', 'm/conv2d_6/Relu'], ['m_2/conv2d_11/Relu', 'm_2/conv2d_9/Relu', 'm_2/conv2d_10/Relu']),
    ['m/conv2d_4/Relu m_2/conv2d_9/Relu', 'm/conv2d_5/Relu m_2/conv2d_10/Relu', 'm/conv2d_6/Relu m_2/conv2d_11/Relu']);
  // Equal names first, also within scopes that were matched without counters.
  assert.deepEqual(found(['m/add', 'm/add_1'], ['m_1/add_1', 'm_1/add_7']), ['m/add m_1/add_7', 'm/add_1 m_1/add_1']);
  assert.deepEqual(found(['fusion.1', 'fusion.2'], ['fusion.2', 'fusion.3']), ['fusion.1 fusion.3', 'fusion.2 =']);
  // Where there are more of them in one run, nobody knows which is which.
  assert.deepEqual(found(['dense_1', 'dense_2'], ['dense_3']), ['dense_1 new', 'dense_2 new', 'dense_3 gone']);
  // Numbers that are not counters tell ops apart.
  assert.deepEqual(found(['Conv2D', 'a/b'], ['Conv3D', 'a_x/b']), ['Conv2D new', 'Conv3D gone', 'a/b new', 'a_x/b gone']);
  assert.deepEqual(joined([{ k: 'a_1', v: 1, type: 'Mul' }], [{ k: 'a_2', v: 1, type: 'Add' }]).map(({ difference }) => difference.state), ['new', 'gone']);
  // JAX ends names with a colon; a path as deep as a file cares to make it is followed.
  assert.deepEqual(found(['jit(f)/dot_general_1:'], ['jit(f)/dot_general:']), ['jit(f)/dot_general_1: jit(f)/dot_general:']);
  const deep = 'a_1/'.repeat(20000);
  assert.equal(joined([{ k: `${deep}x`, v: 1 }], [{ k: `${deep}x_2`, v: 1 }]).length, 1);
});

test('counters of XLA’s kernels are left out, sizes in those of libraries are not', () => {
  const bare = (name) => compare.kernelPart(name).bare;
  for (const [a, b] of [['loop_add_fusion_3', 'loop_add_fusion'], ['gemm_fusion_dot_6.kd', 'gemm_fusion_dot.kd'], ['fusion.12', 'fusion.15']]) assert.equal(bare(a), bare(b));
  for (const [a, b] of [['volta_sgemm_128x64_32', 'volta_sgemm_128x64_16'], ['void fft_64<float>(int)', 'void fft_32<float>(int)'], ['Cijk_Ailk_WG32_8_1', 'Cijk_Ailk_WG32_8_2']]) assert.notEqual(bare(a), bare(b));
});

test('runs to compare with: the nearest in time first, of two as near the newer one', () => {
  const run = (name, hour) => ({ run: name, hosts: ['h'], files: 1, bytes: 1, time_ms: Date.UTC(2026, 0, 1, hour), time_from: 'file', modified_ms: 0 });
  const list = [run('c', 12), run('old', 1), run('b', 10), run('d', 14), run('a', 9), run('far', 23)];
  assert.deepEqual(runs.nearest(list, 'c').map((one) => one.run), ['d', 'b', 'a', 'far', 'old']);
  assert.deepEqual(runs.nearest(list, 'not listed').map((one) => one.run), ['far', 'd', 'c', 'b', 'a', 'old']);
});

test('CSV and tables', () => {
  assert.equal(csv.toCsv(['a', 'b'], [['x,y', 1.5], ['"q"', null], ['l\n2', true]]), 'a,b\n"x,y",1.5\n"""q""",\n"l\n2",true\n');
  // Formulas become text, so that no spreadsheet computes them; numbers stay numbers.
  assert.equal(csv.toCsv(['=h', 'n'], [['=1+1', -1.5], ['+a', -0.001], ['-a', 1e21], ['@a', 0], ['\ta', 1], ['\ra', 2], ['=a,b', 3], ['a=b', -4]]),
    '\'=h,n\n\'=1+1,-1.5\n\'+a,-0.001\n\'-a,1e+21\n\'@a,0\n\'\ta,1\n"\'\ra",2\n"\'=a,b",3\na=b,-4\n');
  const record = gviz.records({ cols: [{ id: 'Host_x', label: '', type: 'number' }, { id: 'b', label: '', type: 'string' }], rows: [{ c: [{ v: 1 }, null] }] })[0];
  assert.deepEqual(record, { host_x: 1, b: null });
});
