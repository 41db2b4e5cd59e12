// SPDX-License-Identifier: Apache-2.0
// The layout of flame graphs: node tests/web/flame_unit.mjs

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './modules.mjs';

const { Flame, folded, without, MOST_LEVELS } = await load('core/flame');

const node = (name, value, children = [], base = undefined) => ({ key: name, name, value, children, ...(base === undefined ? {} : { base }) });
const tree = () => node('root', 100, [node('a', 30, [node('a1', 10), node('a2', 20)]), node('b', 60, [node('b1', 60, [node('b11', 15)])])]);

const placed = (flame, name) => {
  const index = flame.find(name);
  return [flame.depth[index], flame.start[index], flame.width[index]];
};

test('children hang below their parent, the widest first, and leave its own part at the right', () => {
  const flame = new Flame(tree());
  assert.deepEqual(placed(flame, 'root'), [0, 0, 100]);
  assert.deepEqual(placed(flame, 'b'), [1, 0, 60]);
  assert.deepEqual(placed(flame, 'a'), [1, 60, 30]);
  assert.deepEqual(placed(flame, 'a2'), [2, 60, 20]);
  assert.deepEqual(placed(flame, 'a1'), [2, 80, 10]);
  assert.deepEqual(placed(flame, 'b11'), [3, 0, 15]);
  assert.equal(flame.find('nowhere'), -1);
});

test('a place of a level is one node', () => {
  const flame = new Flame(tree());
  const name = (depth, place) => (flame.at(depth, place) < 0 ? '' : flame.node(flame.at(depth, place)).name);
  assert.equal(name(1, 0), 'b');
  assert.equal(name(1, 59.9), 'b');
  assert.equal(name(1, 60), 'a');
  assert.equal(name(1, 95), '', 'the root\'s own part');
  assert.equal(name(2, 79), 'a2');
  assert.equal(name(3, 20), '');
  assert.equal(name(9, 0), '');
});

test('one walks from node to node', () => {
  const flame = new Flame(tree());
  const name = (index) => (index < 0 ? '' : flame.node(index).name);
  assert.equal(name(flame.child(flame.find('root'))), 'b');
  assert.equal(name(flame.sibling(flame.find('b'), 1)), 'a');
  assert.equal(name(flame.sibling(flame.find('a'), 1)), '');
  assert.equal(name(flame.sibling(flame.find('a2'), -1)), '', 'not into the children of another');
  assert.equal(name(flame.child(flame.find('a1'))), '');
  assert.deepEqual(flame.path(flame.find('b11')).map(name), ['root', 'b', 'b1', 'b11']);
});

test('what children take together, their parent has at least', () => {
  const flame = new Flame(node('root', 10, [node('x', 8), node('y', 8)]));
  assert.deepEqual(placed(flame, 'root'), [0, 0, 16]);
  assert.deepEqual(placed(flame, 'y'), [1, 8, 8]);
});

test('matches in one another count once', () => {
  const flame = new Flame(tree());
  const { count, share, found } = flame.search((name) => name.startsWith('b'));
  assert.equal(count, 3);
  assert.equal(share, 0.6);
  assert.equal(found[flame.find('a')], 0);
  assert.deepEqual(flame.search(() => false).share, 0);
});

test('hidden nodes take their part with them', () => {
  const less = without(tree(), (name) => name === 'a2' || name === 'b11');
  const flame = new Flame(less);
  assert.deepEqual(placed(flame, 'root'), [0, 0, 65]);
  assert.deepEqual(placed(flame, 'a'), [1, 45, 10]);
  assert.deepEqual(placed(flame, 'b1'), [2, 0, 45]);
  assert.equal(flame.find('b11'), -1);
});

test('widths may be those of the base run', () => {
  const flame = new Flame(node('root', 10, [node('x', 8, [], 2), node('y', 2, [], 18)], 20), 'base');
  assert.deepEqual(placed(flame, 'y'), [1, 0, 18]);
  assert.deepEqual(placed(flame, 'x'), [1, 18, 2]);
});

test('folded stacks have each node\'s own part', () => {
  assert.equal(folded(node('r;x', 10, [node('a', 4, [node('b', 4)]), node('c', 5)])), 'r_x 1\nr_x;a;b 4\nr_x;c 5\n');
  assert.equal(folded(node('r', 0)), '');
});

test('a tree of any depth is laid out', () => {
  let deep = node('leaf', 1);
  for (let i = 0; i < 20_000; i += 1) deep = node(`n${i}`, 1, [deep]);
  const flame = new Flame(deep);
  assert.equal(flame.levels.length, MOST_LEVELS);
  assert.equal(flame.cut, 1);
  assert.equal(folded(node('r', 1, [])).length > 0, true);
});

test('a hundred thousand nodes are laid out', () => {
  const wide = node('root', 100_000, Array.from({ length: 1000 }, (_, i) => node(`p${i}`, 100, Array.from({ length: 100 }, (_one, k) => node(`p${i}.${k}`, 1)))));
  const flame = new Flame(wide);
  assert.equal(flame.nodes.length, 101_001);
  assert.equal(flame.node(flame.at(2, 55_555.5)).name.startsWith('p'), true);
});
