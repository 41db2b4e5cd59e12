// SPDX-License-Identifier: Apache-2.0
// The layout of flame graphs: node tests/web/flame_unit.mjs

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './modules.mjs';

const { Flame, flameTree, folded, reduced, MOST_LEVELS } = await load('core/flame');

const node = (name, value, children = [], base = undefined) => ({ key: name, name, value, children, ...(base === undefined ? {} : { base }) });
const tree = () => flameTree(node('root', 100, [node('a', 30, [node('a1', 10), node('a2', 20)]), node('b', 60, [node('b1', 60, [node('b11', 15)])])]));

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
  const name = (depth, place) => (flame.at(depth, place) < 0 ? '' : flame.name(flame.at(depth, place)));
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
  const name = (index) => (index < 0 ? '' : flame.name(index));
  assert.equal(name(flame.child(flame.find('root'))), 'b');
  assert.equal(name(flame.sibling(flame.find('b'), 1)), 'a');
  assert.equal(name(flame.sibling(flame.find('a'), 1)), '');
  assert.equal(name(flame.sibling(flame.find('a2'), -1)), '', 'not into the children of another');
  assert.equal(name(flame.child(flame.find('a1'))), '');
  assert.deepEqual(flame.path(flame.find('b11')).map(name), ['root', 'b', 'b1', 'b11']);
});

test('what children take together, their parent has at least', () => {
  const flame = new Flame(flameTree(node('root', 10, [node('x', 8), node('y', 8)])));
  assert.deepEqual(placed(flame, 'root'), [0, 0, 16]);
  assert.deepEqual(placed(flame, 'y'), [1, 8, 8]);
});

test('matches in one another count once', () => {
  const flame = new Flame(tree());
  const { count, share, is } = flame.search((name) => name.startsWith('b'));
  assert.equal(count, 3);
  assert.equal(share, 0.6);
  assert.equal(is[flame.find('a')], 0);
  assert.deepEqual(flame.search(() => false).share, 0);
});

test('hidden nodes take their part with them', () => {
  const less = reduced(tree(), null, (name) => name === 'a2' || name === 'b11');
  const flame = new Flame(less);
  assert.deepEqual(placed(flame, 'root'), [0, 0, 65]);
  assert.deepEqual(placed(flame, 'a'), [1, 45, 10]);
  assert.deepEqual(placed(flame, 'b1'), [2, 0, 45]);
  assert.equal(flame.find('b11'), -1);
});

test('widths may be those of the base run', () => {
  const flame = new Flame(flameTree(node('root', 10, [node('x', 8, [], 2), node('y', 2, [], 18)], 20)), 'base');
  assert.deepEqual(placed(flame, 'y'), [1, 0, 18]);
  assert.deepEqual(placed(flame, 'x'), [1, 18, 2]);
});

test('in focus is what a name stands for, with the way there and all below', () => {
  const less = reduced(tree(), (name) => name === 'a1' || name === 'b1', null);
  const flame = new Flame(less);
  assert.deepEqual(placed(flame, 'root'), [0, 0, 70]);
  assert.deepEqual(placed(flame, 'a'), [1, 60, 10], 'the way has nothing of its own');
  assert.deepEqual(placed(flame, 'b1'), [2, 0, 60]);
  assert.deepEqual(placed(flame, 'b11'), [3, 0, 15], 'what is below is kept');
  assert.equal(flame.find('a2'), -1);
  const both = new Flame(reduced(tree(), (name) => name === 'b', (name) => name === 'b11'));
  assert.deepEqual(placed(both, 'root'), [0, 0, 45]);
  const all = tree();
  assert.equal(reduced(all, null, null), all);
  assert.deepEqual(placed(new Flame(reduced(all, (name) => name === 'root', null)), 'a2'), placed(new Flame(all), 'a2'));
});

test('what is unknown is as wide as what is known below it, and stays unknown', () => {
  const some = flameTree(node('root', 10, [node('x', NaN, [node('x1', 4)]), node('y', 2)]));
  const flame = new Flame(some);
  assert.deepEqual(placed(flame, 'root'), [0, 0, 10]);
  assert.deepEqual(placed(flame, 'x'), [1, 0, 4]);
  const less = reduced(some, null, (name) => name === 'y');
  assert.equal(Number.isNaN(less.value[less.find('x')]), true);
  assert.equal(less.value[0], 8);
});

test('folded stacks have each node\'s own part', () => {
  assert.equal(folded(flameTree(node('r;x', 10, [node('a', 4, [node('b', 4)]), node('c', 5)]))), 'r_x 1\nr_x;a;b 4\nr_x;c 5\n');
  assert.equal(folded(flameTree(node('r', 0))), '');
  assert.equal(folded(flameTree(node('r', 1.5, [node('c', 0.0004)])), 1000), 'r 1500\n');
});

test('a tree of any depth is laid out', () => {
  let deep = node('leaf', 1);
  for (let i = 0; i < 20_000; i += 1) deep = node(`n${i}`, 1, [deep]);
  const flame = new Flame(flameTree(deep));
  assert.equal(flame.levels.length, MOST_LEVELS);
  assert.equal(flame.cut, 20_001 - MOST_LEVELS);
  const less = reduced(flame.tree, (name) => name === 'leaf', null);
  assert.equal(less.value[0], 1);
});

/** A tree of 101,001 nodes as arrays: a root, 1000 below it, and 100 below each of these. */
function large() {
  const parent = Int32Array.from({ length: 101_001 }, (_, i) => (i === 0 ? -1 : i <= 1000 ? 0 : 1 + ((i - 1001) % 1000)));
  const value = Float64Array.from(parent, (above, i) => (i === 0 ? 100_000 : above === 0 ? 100 : 1));
  return { parent, value, base: null, name: (i) => `n${i}`, key: (i) => `n${i}`, find: (key) => Number(key.slice(1)) };
}

const boxes = (flame, depth, from, whole, room, found = null) => {
  const list = [];
  flame.boxes(flame.levels[depth], from, whole, room, found, (box) => list.push({ ...box }));
  return list;
};

test('a hundred thousand nodes are laid out, and a picture of them takes steps by its pixels only', () => {
  const flame = new Flame(large());
  assert.equal(flame.levels[2].length, 100_000);
  assert.equal(flame.parent[flame.at(2, 55_555.5)], flame.at(1, 55_555.5));
  let looked = 0;
  const { firstAfter } = flame;
  flame.firstAfter = (...all) => { looked += 1; return firstAfter.apply(flame, all); };
  const list = boxes(flame, 2, 0, 100_000, 1200);
  assert.equal(list.length <= 1201, true, `${list.length} boxes`);
  assert.equal(looked <= 1202, true, `${looked} searches`);
  assert.equal(list.reduce((sum, box) => sum + box.nodes, 0), 100_000, 'each node is in one box');
  // 1200 pixels for a node and its hundred: only these are looked at.
  const few = boxes(flame, 2, 500 * 100, 100, 1200);
  assert.equal(few.length, 100);
  assert.deepEqual(few.map(({ width }) => width), Array(100).fill(12));
});

test('boxes of a level cover what its nodes do, and begin in order', () => {
  const flame = new Flame(large());
  const list = boxes(flame, 1, 0, 100_000, 700);
  let end = 0;
  for (const { x, width } of list) {
    assert.equal(Math.abs(x - end) < 1e-6, true);
    end = x + width;
  }
  assert.equal(Math.abs(end - 700) < 1e-6, true);
});

test('of many in one pixel, what is looked for is drawn', () => {
  const flame = new Flame(large());
  const wanted = flame.levels[2][77_777];
  const found = flame.search((name) => name === `n${wanted}`);
  assert.equal(found.count, 1);
  const drawn = boxes(flame, 2, 0, 100_000, 300, found).map(({ node: one }) => one);
  assert.equal(drawn.includes(wanted), true);
  assert.equal(boxes(flame, 2, 0, 100_000, 300).map(({ node: one }) => one).includes(wanted), false);
});

test('a search asks for each name once', () => {
  const names = { ...large(), name: (i) => `n${i % 7}` };
  let asked = 0;
  const { count } = new Flame(names).search((name) => { asked += 1; return name === 'n3'; });
  assert.equal(asked, 7);
  assert.equal(count, 14_429);
});
