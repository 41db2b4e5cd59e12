// SPDX-License-Identifier: Apache-2.0
// Whether answers that tests make up are shaped as the server's: the same keys, with values of the same types.
// The mocks note each answer that they give a page in place of the server's (browser.mjs, steps_mock.mjs, trace_mock.mjs);
// checkMocks() asks a real server for the same routes and compares.

import { assert } from './support.mjs';

/** What values at one place have been seen to be: kinds of plain ones, and the shapes of what lies below. */
class Shape {
  kinds = new Set();
  below = new Map();

  learn(value) {
    if (Array.isArray(value)) {
      this.kinds.add('list');
      // A list of tables or documents has its parts in their places; of other lists all elements are alike.
      const parts = value.some((one) => isTable(one));
      value.forEach((one, index) => this.at(parts ? `[${index}]` : '[]').learn(one));
    } else if (isTable(value)) {
      this.kinds.add('table');
      for (const [index, { id, type }] of value.cols.entries()) {
        const column = this.at(`column ${name(id)}`);
        column.kinds.add(`${type} column`);
        for (const { c } of value.rows) if (c[index]?.v !== undefined) column.at('cell').learn(c[index].v);
      }
      this.at('p').learn(value.p ?? {});
    } else if (value !== null && typeof value === 'object') {
      this.kinds.add('object');
      for (const [key, one] of Object.entries(value)) this.at(name(key)).learn(one);
    } else {
      this.kinds.add(value === null ? 'null' : typeof value);
    }
  }

  at(key) {
    if (!this.below.has(key)) this.below.set(key, new Shape());
    return this.below.get(key);
  }

  /** What is here and not in `real`. */
  * beyond(real, place) {
    for (const kind of this.kinds) if (!real.kinds.has(kind)) yield `${place} is ${kind}, the server's is ${[...real.kinds].join(' or ') || 'never there'}`;
    for (const [key, shape] of this.below) {
      const other = real.below.get(key);
      if (other === undefined) yield `${place} has ${key}, the server's has ${[...real.below.keys()].join(', ') || 'nothing'}`;
      else yield* shape.beyond(other, `${place} ${key}`);
    }
  }

  get places() {
    return [...this.below.values()].reduce((sum, shape) => sum + shape.places, this.kinds.size);
  }
}

const isTable = (value) => Array.isArray(value?.cols) && Array.isArray(value?.rows);
/** Keys that are numbers are places of a map, all alike. */
const name = (key) => (/^\d+$/.test(key) ? '*' : key);

/** Runs of serve.py: one takes a moment to read, one cannot be read. */
const SLOW = 'slow';
const DAMAGED = 'damaged';

const made = new Map();
const shapeIn = (shapes, key) => {
  if (!shapes.has(key)) shapes.set(key, new Shape());
  return shapes.get(key);
};

/** /data is as many routes as there are tools and views; errors are alike whatever was asked for. */
function routeOf(path, query, status) {
  if (status >= 400) return 'an error';
  if (path !== 'data') return path;
  return ['data', query.get('tag'), query.get('view'), query.has('graph_host') ? 'graph' : null, query.has('node') ? 'node' : null].filter((part) => part !== null).join(' ');
}

/** An answer that was made up, for a path below the root of the server. */
export function note(path, query, status, body) {
  shapeIn(made, routeOf(path, query, status)).learn(body);
}

/** What a real server answers where something was made up, over all of its runs. */
async function* answers(root) {
  const ask = async (path, query = {}) => {
    const url = new URL(path, root);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const response = await fetch(url);
    const text = await response.text();
    let body;
    try {
      body = JSON.parse(text);
    } catch {
      body = undefined;
    }
    return { path, query: url.searchParams, status: response.status, body };
  };
  const list = await ask('run_list');
  yield list;
  yield await ask('run_info', { run: 'no such run' });
  for (const { run, hosts } of list.body.runs.filter((one) => one.run !== SLOW)) {
    for (const path of ['run_info', 'run_tools', 'tools', 'diagnostics']) yield await ask(path, { run });
    yield await ask('diagnostics', { run, host: hosts[0] });
    const tools = (await ask('run_tools', { run })).body;
    if (run === DAMAGED) yield await ask('data', { run, tag: 'overview_page' });
    if (!Array.isArray(tools)) continue;
    for (const tag of tools.filter((tool) => made.has(`data ${tool}`))) {
      for (const more of [{}, { steps_of: 'slowest' }, { step_source: 'module' }, { host: hosts[0] }]) yield await ask('data', { run, tag, ...more });
    }
    if (tools.includes('tfprof') && made.has('data tfprof node')) yield* profile((query) => ask('data', { run, tag: 'tfprof', ...query }));
    for (const view of ['summary', 'timeline', 'steps', 'breakdown']) {
      if (!tools.includes('memory_profile') || !made.has(`data memory_profile ${view}`)) continue;
      for (const host of hosts) yield await ask('data', { run, tag: 'memory_profile', host, view });
    }
    if (tools.includes('kernel_stats') && made.has('instances')) {
      const kernels = await ask('data', { run, tag: 'kernel_stats' });
      const at = kernels.body.cols?.findIndex(({ id }) => id === 'kernel_name');
      if (kernels.body.rows?.length > 0) yield await ask('instances', { run, tag: 'kernel_stats', kernel: kernels.body.rows[0].c[at].v });
    }
    if ([...made.keys()].some((route) => route.startsWith('trace_viewer/'))) yield* trace((path, query) => ask(`trace_viewer/${path}`, { run, ...query }), hosts);
  }
}

/** Details of the profile's nodes: of the root, of a scope, and of the operations that took longest. */
async function* profile(ask) {
  // What is in no program has unknown flops.
  yield await ask({ others: 'true' });
  const { body: { nodes, names } } = await ask({});
  const path = (node) => (nodes.parent[node] < 0 ? [] : [...path(nodes.parent[node]), names[nodes.name[node]]]);
  const leaves = nodes.parent.map((_, node) => node).filter((node) => (nodes.flags[node] & 32) !== 0);
  leaves.sort((a, b) => nodes.total.micros[b] - nodes.total.micros[a]);
  for (const node of [0, 1, ...leaves.slice(0, 5)]) if (node < nodes.parent.length) yield await ask({ node: JSON.stringify(path(node)) });
}

/** The routes of the timeline, for the first and last events of a track of each kind. */
async function* trace(ask, hosts) {
  const whole = await ask('tracks');
  yield whole;
  if (whole.status !== 200) return;
  yield await ask('tracks', { derived: 0 });
  const tracks = whole.body.processes.flatMap((process) => process.tracks);
  for (const host of hosts) yield await ask('steps', { host });
  for (const level of [20, 30, 40]) yield await ask('tiles', { level, tile: 0, tiles: 1 });
  yield await ask('events', { limit: 5 });
  yield await ask('search', { q: '.', mode: 'regex', limit: 5 });
  yield await ask('search', { q: 'a', limit: 5, slots: 20 });
  yield await ask('search', { q: '(', mode: 'regex' });
  const span = { from_ps: 0, to_ps: whole.body.duration_ps };
  const sums = await ask('aggregate', span);
  yield sums;
  for (const { layer } of sums.body.layers ?? []) yield await ask('aggregate', { ...span, layer });
  for (const { id, kind } of tracks.filter((track, index) => tracks.findIndex((one) => one.kind === track.kind) === index)) {
    if (kind === 'counter') continue;
    const { body: { total, rows } } = await ask('events', { tracks: id, limit: 2 });
    const last = await ask('events', { tracks: id, offset: Math.max(0, total - 2), limit: 2 });
    for (const { id: event } of [...rows, ...last.body.rows]) {
      yield await ask('event', { id: event });
      yield await ask('neighbour', { id: event, direction: 'same_name_next' });
    }
  }
}

/** How far a job is, while one runs and after it. */
async function* progress(root) {
  // More than a server does at once, so that some wait.
  const jobs = Array.from({ length: 24 }, (_, index) => `data?run=${SLOW}&tag=kernel_stats&limit=${index + 1}`);
  const job = Promise.all(jobs.map((path) => fetch(new URL(path, root)).then((response) => response.text())));
  const ask = async () => {
    const of = new URL(`progress?of=${encodeURIComponent(jobs[Math.floor(jobs.length * Math.random())])}`, root);
    return { path: 'progress', query: of.searchParams, status: 200, body: await (await fetch(of)).json() };
  };
  let done = false;
  job.finally(() => { done = true; });
  while (!done) yield await ask();
  yield await ask();
}

/** Fails where something that was made up is not as the servers at `roots` answer. */
export async function checkMocks(...roots) {
  const real = new Map();
  const learn = async (list) => {
    for await (const { path, query, status, body } of list) if (body !== undefined) shapeIn(real, routeOf(path, query, status)).learn(body);
  };
  for (const root of roots) await learn(answers(root));
  if (made.has('progress')) await learn(progress(roots[0]));
  const wrong = [];
  let places = 0;
  for (const [route, shape] of made) {
    places += shape.places;
    wrong.push(...shape.beyond(real.get(route) ?? new Shape(), route));
  }
  console.log(`# ${made.size} routes with ${places} places of made-up answers: ${[...made.keys()].join(', ')}`);
  assert(places > 0, 'nothing was made up');
  assert(wrong.length === 0, [...new Set(wrong)].join('\n'));
}
