// SPDX-License-Identifier: Apache-2.0
// The pure parts of the tf.data page: node tests/web/tf_data_unit.mjs

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './modules.mjs';

const tfData = await load('core/tf_data');

const use = (id, parent, more = {}) => ({ id: String(id), parent: String(parent), role: 'waited', name: `I${id}`, longName: `Iterator::I${id}`, start: 0, total: 1, self: 1, calls: 1, kind: 'other', ...more });
const shape = (list) => list.map(({ use: { id }, depth, parent }) => `${'.'.repeat(depth)}${id}<${parent?.id ?? ''}`);

test('each iterator stands below the one that calls it, in the order of their starts', () => {
  const uses = [use(3, 1, { start: 5 }), use(1, ''), use(2, 1, { start: 9 }), use(4, 3)];
  assert.deepEqual(shape(tfData.branches(uses)), ['1<', '.3<1', '..4<3', '.2<1']);
});

test('parents that are not there, oneself, and rings: everything is there once', () => {
  assert.deepEqual(shape(tfData.branches([use(2, 99), use(1, 1)])), ['1<', '2<']);
  assert.deepEqual(shape(tfData.branches([use(1, 3), use(2, 1), use(3, 2)])), ['1<', '.2<1', '..3<2']);
  assert.deepEqual(shape(tfData.branches([use(9, ''), use(1, 2), use(2, 1), use(1, 9)])), ['9<', '1<', '.2<1']);
  assert.deepEqual(tfData.branches([]), []);
});

test('a chain of thousands does not exhaust the stack', () => {
  const list = tfData.branches(Array.from({ length: 20_000 }, (_one, i) => use(i, i === 0 ? '' : i - 1)));
  assert.equal(list.length, 20_000);
  assert.equal(list.at(-1).depth, 19_999);
  assert.equal(tfData.criticalPath(list).length, 20_000);
});

test('the critical path ends at the bottleneck, or at the last that was waited for', () => {
  const uses = [use(1, ''), use(2, 1, { role: 'bottleneck' }), use(3, 2), use(4, 1, { role: 'ahead' })];
  assert.deepEqual(tfData.criticalPath(tfData.branches(uses)).map(({ id }) => id), ['1', '2']);
  uses[1] = use(2, 1);
  assert.deepEqual(tfData.criticalPath(tfData.branches(uses)).map(({ id }) => id), ['1', '2', '3']);
  assert.deepEqual(tfData.criticalPath([]), []);
});

test('inputs of one iterator are told apart by the number in their names', () => {
  const list = tfData.branches([use(1, ''), use(2, 1, { longName: 'Iterator::Zip[0]::Map' }), use(3, 1, { longName: 'Iterator::Zip[1]::Map' }), use(4, 3, { longName: 'Iterator::Zip[1]::Map[0]::Range' })]);
  assert.deepEqual(list.map(({ input }) => input), [null, '0', '1', null]);
});

test('a call is the slowest, the median, or the n-th', () => {
  assert.equal(tfData.rankOf('', 7), 0);
  assert.equal(tfData.rankOf('median', 7), 3);
  assert.equal(tfData.rankOf('median', 8), 3);
  assert.equal(tfData.rankOf('median', 1), 0);
  assert.equal(tfData.rankOf('3', 7), 2);
  assert.equal(tfData.rankOf('30', 7), 6, 'of another run');
  for (const text of ['0', '-1', 'x', '1e3', '2.5']) assert.equal(tfData.rankOf(text, 7), 0, text);
  assert.equal(tfData.rankOf('median', 0), 0);
});

test('long names break where words begin; none loses its end', () => {
  assert.deepEqual(tfData.nameLines('Map', 10), ['Map']);
  assert.deepEqual(tfData.nameLines('MaxIntraOpParallelism', 12), ['MaxIntraOp', 'Parallelism']);
  assert.deepEqual(tfData.nameLines('abcdefghijklmnopqrstuvwxyz', 10), ['abcdefghij', 'klmnopqrst', 'uvwxyz']);
  const lines = tfData.nameLines(`${'Long'.repeat(30)}End`, 10);
  assert.equal(lines.length, 3);
  assert.ok(lines.at(-1).startsWith('…') && lines.at(-1).endsWith('End'), lines.at(-1));
  assert.ok(lines.every((line) => line.length <= 10));
  assert.deepEqual(tfData.nameLines('', 10), ['–']);
  assert.equal(tfData.nameParts('Iterator::Zip[0]::Map').join('|'), 'Iterator::|Zip[0]::|Map');
});

test('a long path counts what it leaves out', () => {
  const path = Array.from({ length: 20 }, (_one, i) => use(i, ''));
  assert.equal(tfData.pathText(path.slice(0, 3)), 'I0 ← I1 ← I2');
  assert.equal(tfData.pathText(path), 'I0 ← I1 ← I2 ← I3 ← 12 more ← I16 ← I17 ← I18 ← I19');
});

test('runs of one host are compared whatever the host is called', () => {
  const list = (...hosts) => hosts.map((host) => ({ host, name: 'Host:0', key: tfData.pipelineKey(host, 'Host:0') }));
  const keys = (a, b) => [tfData.baseKey(a, b)(a[0]), tfData.baseKey(a, b)(b[0])];
  assert.deepEqual(keys(list('a'), list('b')), ['Host:0', 'Host:0']);
  assert.deepEqual(keys(list('a', 'b'), list('b')), ['a/Host:0', 'b/Host:0']);
});

test('advice is a lead and its points', () => {
  assert.deepEqual(tfData.points('(1) One. (2) Two.'), { lead: '', items: ['One.', 'Two.'] });
  assert.deepEqual(tfData.points('Just this.'), { lead: 'Just this.', items: [] });
});

test('the tables are read; what is missing is nothing', () => {
  const table = (ids, rows, p) => ({ cols: ids.map((id) => ({ id, label: id, type: 'string' })), rows: rows.map((row) => ({ c: row.map((v) => ({ v })) })), p });
  const data = tfData.readTfData([
    table(['host', 'input_pipeline', 'rank', 'name', 'parent', 'type', 'iterator', 'self_us'], [['h', 'Host:0', 0, '-7', '', 2, 'Map', 4.5], ['h', 'Host:0', 0, '8', '-7', 0, 'Range', 1], ['h', 'Host:0', 0, '9', '-7', 7, 'odd', null]]),
    table(['host', 'input_pipeline', 'min_us', 'avg_us', 'max_us', 'num_calls', 'num_slow_calls', 'root'], [['h', 'Host:0', 1, 2, 3, 4, 0, 'Iterator::Map'], ['h', 'Device:0', 1, 2, 900, 4, 4, 'Iterator::Prefetch']], { events_without_id: '3' }),
    table(['host', 'input_pipeline', 'iterator', 'long_name'], [['h', 'Host:0', '', '']], { verdict: 'fast' }),
  ]);
  assert.equal(data.verdict, 'fast');
  assert.equal(data.withoutId, 3);
  assert.deepEqual(data.slowest.get('h/Host:0').map(({ id, role, self }) => [id, role, self]), [['-7', 'bottleneck', 4.5], ['8', 'ahead', 1], ['9', 'ahead', 0]]);
  assert.equal(data.pipelines[0].bottleneck, null);
  assert.equal(tfData.worstPipeline(data.pipelines).name, 'Host:0', 'a pipeline that only copies is not the worst');
  const none = tfData.readTfData([]);
  assert.deepEqual([none.verdict, none.pipelines, tfData.worstPipeline([])], ['none', [], null]);
});
