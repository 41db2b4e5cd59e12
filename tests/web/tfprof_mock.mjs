// SPDX-License-Identifier: Apache-2.0
// Answers of the tool `tfprof` as its server writes them, for cases that no capture at hand has: unknown amounts, nodes that
// were cut, a hundred thousand of them. The shape is held against the real server (shapes.mjs).

const LABELS = {
  micros: ['Total time', 'us'], accelerator_micros: ['Accelerator time', 'us'], cpu_micros: ['CPU time', 'us'],
  occurrence_run: ['Runs', 'count'], occurrence_defined: ['Defined', 'count'], float_ops: ['Flops', 'flops'],
};

/** A tree from nested lists: [name, own micros, children...]; own flops are 1000 for each microsecond, or unknown where `null`. */
export function composed(root, more = {}) {
  const names = [];
  const index = new Map();
  const named = (name) => {
    if (!index.has(name)) { index.set(name, names.length); names.push(name); }
    return index.get(name);
  };
  const nodes = { parent: [], name: [], flags: [], self: {}, total: {} };
  const ids = Object.keys(LABELS);
  for (const id of ids) { nodes.self[id] = []; nodes.total[id] = []; }
  const add = ([name, own, ...children], parent) => {
    const at = nodes.parent.length;
    const leaf = children.length === 0;
    nodes.parent.push(parent);
    nodes.name.push(named(name));
    nodes.flags.push((name.includes('backward') ? 2 : 1) + 8 + (leaf ? 32 : 0));
    const self = { micros: own, accelerator_micros: own, cpu_micros: 0, occurrence_run: leaf ? 4 : 0, occurrence_defined: leaf ? 1 : 0, float_ops: name.includes('unknown') ? null : own * 1000 };
    for (const id of ids) { nodes.self[id].push(self[id]); nodes.total[id].push(self[id]); }
    for (const child of children) {
      const below = add(child, at);
      for (const id of ids) nodes.total[id][at] = nodes.total[id][below] === null ? nodes.total[id][at] : (nodes.total[id][at] ?? 0) + nodes.total[id][below];
    }
    if (children.some((child) => child[0].includes('unknown'))) (more.partial ??= { float_ops: [] }).float_ops.push(at);
    return at;
  };
  add(root, -1);
  return answer(names, nodes, more);
}

function answer(names, nodes, more) {
  return {
    version: 1, view: 'scope', order_by: 'micros', step: 'all', steps: [{ id: 0, name: '10' }, { id: 1, name: '11' }], steps_total: 2, hosts: ['host-a'],
    quantities: Object.entries(LABELS).filter(([id]) => id in nodes.total).map(([id, [label, unit]]) => ({ id, label, unit })),
    names, nodes, node_count: nodes.parent.length, shown_count: nodes.parent.length, cut_count: 0, left_out: { ops: 0, micros: 0 }, ...more,
  };
}

/** `count` nodes in `levels` levels: scopes with ever more below them, as layers of a model have them. */
export function large(count, levels = 20) {
  const parent = [-1];
  const depth = [0];
  const children = [[]];
  // A little of everything: chains, and scopes of dozens.
  let seed = 7;
  const random = () => { seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff; return seed / 0x7fffffff; };
  const open = [0];
  while (parent.length < count) {
    const at = open[Math.floor(random() ** 2 * open.length)];
    const many = Math.min(count - parent.length, 1 + Math.floor(random() * 24));
    for (let i = 0; i < many; i += 1) {
      children[at].push(parent.length);
      if (depth[at] + 1 < levels) open.push(parent.length);
      depth.push(depth[at] + 1);
      children.push([]);
      parent.push(at);
    }
  }
  // Depth first, as the server has them.
  const order = [];
  const place = new Int32Array(count);
  const stack = [0];
  while (stack.length > 0) {
    const at = stack.pop();
    place[at] = order.length;
    order.push(at);
    for (let i = children[at].length - 1; i >= 0; i -= 1) stack.push(children[at][i]);
  }
  const names = ['(root)', ...Array.from({ length: 4000 }, (_, i) => `layer_${i % 97}/block_${i}`.slice(0, 40))];
  const self = order.map((at) => (children[at].length === 0 ? 1 + (at % 50) : 0));
  const parents = order.map((at) => (at === 0 ? -1 : place[parent[at]]));
  const total = [...self];
  for (let i = count - 1; i > 0; i -= 1) total[parents[i]] += total[i];
  const nodes = {
    parent: parents, name: order.map((at) => (at === 0 ? 0 : 1 + ((at * 7919) % 4000))), flags: order.map((at) => (children[at].length === 0 ? 41 : 9)),
    self: { micros: self }, total: { micros: total },
  };
  // Names of siblings differ.
  const used = new Map();
  nodes.name.forEach((name, i) => {
    let mine = name;
    while (used.has(`${parents[i]} ${mine}`)) mine = 1 + (mine % 4000);
    used.set(`${parents[i]} ${mine}`, true);
    nodes.name[i] = mine;
  });
  return answer(names, nodes, {});
}

export const DETAIL = {
  path: ['jit(step)', 'jvp(Dense)', 'dot_general'], name: 'dot_general', full_name: 'jit(step)/jvp(Dense)/dot_general', flags: 41, depth: 3, children: 0,
  quantities: [
    { id: 'micros', label: 'Total time', unit: 'us', self: 12.5, total: 12.5, share: 0.633 }, { id: 'accelerator_micros', label: 'Accelerator time', unit: 'us', self: 12.5, total: 12.5, share: 0.633 },
    { id: 'cpu_micros', label: 'CPU time', unit: 'us', self: 0, total: 0, share: null }, { id: 'occurrence_run', label: 'Runs', unit: 'count', self: 4, total: 4, share: 0.5 },
    { id: 'float_ops', label: 'Flops', unit: 'flops', self: 4096, total: 4096, share: 0.25 }, { id: 'peak_bytes', label: 'Peak bytes', unit: 'bytes', self: null, total: null, share: null },
  ],
  by_step: { steps: [{ id: 0, name: '10' }, { id: 1, name: '11' }, { id: 2, name: '12' }], micros: [6.25, 4, 2.25], accelerator_micros: [6.25, 4, 2.25], cpu_micros: [0, 0, 0], occurrence_run: [2, 1, 1] },
  devices: ['host-a /device:GPU:0'], op_types: ['dot_general', 'custom-call'],
  input_shapes: [{ instruction: 'cublas-gemm.3', program_id: '12', inputs: ['f32[8,16]{1,0}', 'f32[16,4]{1,0}'], output: 'f32[8,4]{1,0}' }],
  source: { file: 'model.py', line: 12, stack: ['train.py:40', 'model.py:12'] },
  instructions: [{ program_id: '12', program: 'jit_step', instruction: 'cublas-gemm.3', category: 'custom-call', expression: '%cublas-gemm.3 = f32[8,4]{1,0} custom-call(%a, %b)', micros: 12.5, occurrence_run: 4 }],
  instructions_total: 1,
  links: {
    instances: [], op_profile: [{ program_id: '12', instruction: 'cublas-gemm.3' }], trace: [{ query: 'cublas-gemm.3' }], memory: null,
  },
};
