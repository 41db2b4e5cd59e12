// SPDX-License-Identifier: Apache-2.0
// Trees of the profile page, alone and joined: node tests/web/tfprof_unit.mjs

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './modules.mjs';
import { composed, large } from './tfprof_mock.mjs';

const { Profile, growsWithSteps, keyOf, pathOf, passWords, placeWords, profileScale } = await load('core/profile');
const { flops, exactAmount, amount } = await load('core/amounts');

const TREE = ['(root)', 0, ['jit(step)', 0, ['dense_1', 2, ['dot', 10], ['add', 3]], ['dense_2', 0, ['dot', 20], ['unknown op', 5]]], ['host', 7]];
const named = (profile) => Object.fromEntries(Array.from({ length: profile.size }, (_, node) => [profile.key(node), node]));

test('a node is its path in the address, whatever is in its names', () => {
  for (const path of [[], ['a'], ['a', 'b/c', 'd~e'], ['~1', '/', 'x,y']]) assert.deepEqual(pathOf(keyOf(path)), path);
  assert.equal(keyOf(['jit(step)', 'a/b']), 'jit(step)/a~1b');
  assert.equal(keyOf([]), '/');
});

test('a tree knows names, paths, depths, and what lies below', () => {
  const profile = new Profile(composed(TREE), null, 1, 'All scopes');
  assert.equal(profile.size, 9);
  assert.equal(profile.name(0), 'All scopes');
  const node = profile.find('jit(step)/dense_2/dot');
  assert.deepEqual(profile.path(node), ['jit(step)', 'dense_2', 'dot']);
  assert.equal(profile.depth[node], 3);
  assert.equal(profile.find('jit(step)/dense_3'), -1);
  assert.equal(profile.find(''), -1);
  assert.equal(profile.find('/'), 0);
  assert.deepEqual([...profile.below(profile.find('jit(step)'))].map((one) => profile.name(one)), ['dense_1', 'dense_2']);
  assert.equal(profile.total('micros')[0], 47);
  assert.equal(profile.self('micros')[profile.find('jit(step)/dense_1')], 2);
});

test('what is unknown is not 0, and a total without it says so', () => {
  const profile = new Profile(composed(TREE));
  assert.equal(Number.isNaN(profile.total('float_ops')[profile.find('jit(step)/dense_2/unknown op')]), true);
  assert.equal(profile.isPartial('float_ops', profile.find('jit(step)/dense_2')), true);
  assert.equal(profile.isPartial('float_ops', profile.find('jit(step)/dense_1')), false);
  assert.equal(Number.isNaN(profile.total('no such quantity')[0]), true);
});

test('two runs are joined by names, then by names without counters where both have as many', () => {
  const base = composed(['(root)', 0, ['jit(step)', 0, ['dense_4', 1, ['dot', 8]], ['dense_7', 0, ['dot', 30]], ['gone', 4]], ['host', 9]]);
  const profile = new Profile(composed(TREE), base, 2);
  const nodes = named(profile);
  const bases = profile.baseTotal('micros');
  assert.equal(bases[nodes['host']], 18, 'scaled to as many steps');
  assert.equal(bases[nodes['jit(step)/dense_1']], 18);
  assert.equal(bases[nodes['jit(step)/dense_2/dot']], 60);
  assert.equal(profile.baseName(nodes['jit(step)/dense_1']), 'dense_4');
  assert.equal(profile.baseName(nodes.host), null);
  assert.equal(profile.isNew(nodes['jit(step)/dense_1/add']), true);
  assert.equal(Number.isNaN(bases[nodes['jit(step)/dense_1/add']]), true);
  assert.equal(profile.isGone(nodes['jit(step)/gone']), true);
  assert.equal(Number.isNaN(profile.total('micros')[nodes['jit(step)/gone']]), true);
  assert.equal(bases[nodes['jit(step)/gone']], 8);
  assert.equal(profile.baseTotal('occurrence_defined')[0], 4, 'definitions do not grow with steps');
  profile.parent.forEach((above, node) => assert.equal(above < node, true, 'parents come first'));
});

test('counters are not guessed where one run has more of them', () => {
  const base = composed(['(root)', 0, ['jit(step)', 0, ['dense_4', 1]]]);
  const profile = new Profile(composed(TREE), base);
  assert.equal(profile.isNew(profile.find('jit(step)/dense_1')), true);
  assert.equal(profile.isGone(profile.find('jit(step)/dense_4')), true);
});

test('sums are compared for as many steps, if both have any', () => {
  const [now, base] = [composed(TREE), composed(TREE, { steps_total: 4 })];
  assert.equal(profileScale(now, base), 0.5);
  assert.equal(profileScale({ ...now, step: 'mean' }, base), 1);
  assert.equal(profileScale(now, { ...base, steps_total: 0 }), 1);
  assert.equal(growsWithSteps('micros'), true);
  assert.equal(growsWithSteps('params'), false);
  assert.equal(growsWithSteps('peak_bytes'), false);
});

test('what passes by its name stays with the way to it, and each name is tested once', () => {
  const profile = new Profile(large(100_000));
  assert.equal(profile.size, 100_000);
  let asked = 0;
  const kept = profile.kept((name) => { asked += 1; return name.endsWith('block_77'); });
  assert.equal(asked <= 4001, true, `${asked} tests`);
  kept.forEach((is, node) => {
    if (is === 1 && node > 0) assert.equal(kept[profile.parent[node]], 1);
  });
  const leaves = [...profile.parent.keys()].filter((node) => profile.name(node).endsWith('block_77'));
  assert.equal(leaves.length > 0 && leaves.every((node) => kept[node] === 1), true);
});

test('as long as there is but one way it is open', () => {
  const profile = new Profile(composed(['(root)', 0, ['a', 0, ['b', 0, ['c', 1], ['d', 2]]]]));
  assert.deepEqual([...profile.singles()].map((node) => profile.name(node)), ['a', 'b']);
  assert.deepEqual([...new Profile(composed(TREE)).singles()], []);
  assert.deepEqual([...new Profile(composed(['(root)', 1])).singles()], []);
});

test('flags in words', () => {
  assert.deepEqual(passWords(1 + 4 + 32), ['forward', 'rematerialised']);
  assert.deepEqual(placeWords(8 + 16), ['device', 'host']);
  assert.deepEqual([passWords(0), placeWords(32)], [[], []]);
});

test('amounts have the units that suit them', () => {
  assert.deepEqual(flops(4096), { value: '4.10', unit: 'kFLOP' });
  assert.deepEqual(flops(2.5e13), { value: '25.00', unit: 'TFLOP' });
  assert.deepEqual(flops(12), { value: '12', unit: 'FLOP' });
  assert.equal(amount('us')(1500), '1.50 ms');
  assert.equal(amount('bytes')(2048), '2.00 KiB');
  assert.equal(amount('count')(2.5), '2.50');
  assert.equal(exactAmount('bytes', 2048), '2,048 bytes');
});
