// SPDX-License-Identifier: Apache-2.0
// The pure parts of the memory profile: node tests/web/memory_unit.mjs

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './modules.mjs';

const memory = await load('core/memory');

const table = (columns, rows, p = {}) => ({ cols: columns.map((id) => ({ id, label: id, type: 'number' })), rows: rows.map((row) => ({ c: row.map((v) => ({ v })) })), p });

test('the summary: picoseconds become nanoseconds, a capacity of nothing is none', () => {
  const columns = ['memory_id', 'allocations', 'capacity_bytes', 'peak_bytes', 'peak_time_ps', 'severity', 'note'];
  const { allocators, outOfMemory } = memory.readSummary(table(columns, [['a', 3, 0, 10, 2500, 'warning', 'full'], ['b', 0, 100, null, null, '', '']], { clocks_differ: 'true' }));
  assert.equal(outOfMemory, '');
  assert.deepEqual([allocators[0].capacity, allocators[0].peakNs, allocators[0].note], [null, 2.5, 'full']);
  assert.deepEqual([allocators[1].capacity, allocators[1].peak, allocators[1].peakNs], [100, null, null]);
});

test('a breakdown: what stands for no allocation is the same line at any size', () => {
  const columns = ['op_name', 'total_bytes', 'allocation_bytes', 'requested_bytes', 'occurrences', 'region_type', 'data_type', 'shape', 'first_ps', 'step', 'kind'];
  const read = (size) => memory.readBreakdown(table(columns, [['unused preallocated device memory', size, size, size, 1, 'persist/dynamic', 'INVALID', 'unknown', null, null, 'unused'], ['x', 8, 4, 3, 2, 'temp', 'float', '[1]', 7000, 1, 'allocation']], { time_ps: '9000', rows_total: '5', heap_bytes: '12' }));
  const [one, other] = [read(4), read(6)];
  assert.equal(one.blocks[0].key, other.blocks[0].key);
  assert.notEqual(one.blocks[1].key, one.blocks[0].key);
  assert.deepEqual([one.ns, one.rowsTotal, one.heap, one.blocks[1].firstNs, one.blocks[1].total], [9, 5, 12, 7, 8]);
  assert.equal(memory.readBreakdown(table(columns, [])).ns, null);
});

test('the state under a time is that of the last event before it', () => {
  const points = [10, 20, 20, 35].map((ns) => ({ ns }));
  assert.deepEqual([5, 10, 19, 20, 34.9, 99].map((ns) => memory.pointAt(points, ns)), [-1, 0, 0, 2, 2, 3]);
  assert.equal(memory.pointAt([], 1), -1);
});

test('marks of a byte axis are powers of two', () => {
  assert.equal(memory.byteStep(6 * 2 ** 30, 6), 2 ** 30);
  assert.equal(memory.byteStep(6 * 2 ** 30 + 1, 6), 2 ** 31);
  assert.equal(memory.byteStep(100, 6), 32);
  assert.equal(memory.byteStep(0, 6), 1);
  assert.equal(memory.byteStep(NaN, 6), 1);
});

test('zooming keeps what is under the pointer there and stays within the whole', () => {
  const whole = { from: 0, to: 1000 };
  assert.deepEqual(memory.zoomed(whole, whole, 0.5, 200), { from: 100, to: 600 });
  assert.deepEqual(memory.zoomed({ from: 100, to: 600 }, whole, 2, 200), whole);
  assert.deepEqual(memory.zoomed({ from: 900, to: 1000 }, whole, 4, 1000), { from: 600, to: 1000 });
  assert.deepEqual(memory.zoomed({ from: 10, to: 11 }, whole, 0.001, 10.5), { from: 10, to: 11 });
});

test('bands are named by their step where nothing else names them', () => {
  const bands = memory.readBands(table(['step', 'name', 'begin_ps', 'end_ps'], [[3, '', 1000, 2000], [4, 'train 9', 2000, 3500]]));
  assert.deepEqual(bands, [{ name: '3', fromNs: 1, toNs: 2 }, { name: 'train 9', fromNs: 2, toNs: 3.5 }]);
});
