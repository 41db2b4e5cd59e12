// SPDX-License-Identifier: Apache-2.0
// A made-up trace behind the server's interface (docs/api.md, /trace_viewer/...), for tests of the page and for frame times:
// node tests/web/trace_mock.mjs DIR [PORT] shows the built page in DIR with it.
// `raw/*` are captures in which steps and derived lines must be found first: `derived=0` gets what is there without them.
// Small runs hold real lists of events, so that every answer can be checked; `big/*` has as many events as wanted, computed
// from their number when somebody looks, so that ten million take no memory.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { note } from './shapes.mjs';
import { toolsOf } from './support.mjs';

const US = 1e6;
const MS = 1e9;
const TILE_SLOTS = 512;
const HTML = '<img src=x onerror="window.hit=1"><b>bold</b>';

/** A number in 0..1 that depends on nothing but its input. */
function noise(n) {
  let x = Math.imul((n >>> 0) ^ 0x9e3779b9, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

const KERNELS = ['volta_scudnn_winograd_128x128_ldg1_ldg4_relu', 'void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<int>, long>(int, long)', 'Relu', 'bn_fw_tr_1C11_kernel', 'bn_bw_1C11', 'ncclKernel_AllReduce_RING_LL_Sum_float', 'MemcpyD2D'];
const HOST = ['train', '__inference_train_function_5821', 'FunctionRun', 'ExecutorState::Process', 'Conv2D', 'IteratorGetNext', 'Iterator::Prefetch::Map', 'DecodeJpeg', 'cuLaunchKernel', 'MatMul'];
const CATEGORY = { Relu: 0, MemcpyH2D: 5, MemcpyD2D: 1, 'ncclKernel_AllReduce_RING_LL_Sum_float': 2, train: 3, FunctionRun: 4, 'ExecutorState::Process': 4, Conv2D: 3, MatMul: 3, IteratorGetNext: 5, 'Iterator::Prefetch::Map': 5, DecodeJpeg: 6, cuLaunchKernel: 4 };
/** On a host's thread an op that is called as its kernel is one of the host. */
const categoryOf = (name, track) => (name === 'Relu' && track.process.kind === 'host' ? 3 : CATEGORY[name] ?? (KERNELS.includes(name) ? 0 : 8));

/** A list of events that is there: [start, duration, depth, name, args?] in picoseconds. */
class Listed {
  constructor(events) {
    this.events = events.map(([start, duration, depth, name, args = []], index) => ({ index, start, duration, depth, name, args }));
    this.depth = events.reduce((most, [, , depth]) => Math.max(most, depth + 1), 1);
    this.begin = Math.min(...events.map(([start]) => start));
    this.end = Math.max(...events.map(([start, duration]) => start + duration));
  }

  get count() {
    return this.events.length;
  }

  at(index) {
    return this.events[index];
  }

  between(from, to) {
    return this.events.filter((event) => event.start < to && event.start + Math.max(1, event.duration) > from);
  }

  entries(from, to, slot) {
    const rows = [];
    for (let depth = 0; depth < this.depth; depth += 1) {
      const row = [];
      let open = null;
      for (const event of this.events) {
        if (event.depth !== depth || event.start >= to || event.start + Math.max(1, event.duration) <= from) continue;
        const begun = event.start < from;
        const short = event.duration < slot;
        if (begun && short) continue;
        const at = Math.floor(event.start / slot);
        if (short && open !== null && open.slot === at) {
          open.duration = event.start + event.duration - open.start;
          open.busy += event.duration;
          open.count += 1;
          if (event.duration > open.longest) Object.assign(open, { name: event.name, event: event.index, longest: event.duration });
          continue;
        }
        const entry = { start: event.start, duration: event.duration, name: event.name, event: event.index, count: 1, busy: event.duration, longest: event.duration, slot: at, before: begun };
        row.push(entry);
        open = short ? entry : null;
      }
      rows.push(row);
    }
    return rows;
  }
}

/** Events by rule: at each depth one after the other, each a little shorter than its turn. */
class Ruled {
  constructor(count, duration, depth, names, seed) {
    this.names = names;
    this.depth = depth;
    this.seed = seed;
    this.perDepth = Math.floor(count / depth);
    this.count = this.perDepth * depth;
    this.turn = duration / this.perDepth;
    this.begin = 0;
    this.end = duration;
  }

  one(n, depth) {
    const r = noise(n * 31 + depth * 7 + this.seed);
    const start = Math.round((n + 0.1 * r) * this.turn);
    return { index: n * this.depth + depth, start, duration: Math.max(1, Math.round(this.turn * (0.25 + 0.6 * r))), depth, name: this.names[Math.floor(noise(n + depth + this.seed) * this.names.length)], args: [] };
  }

  at(index) {
    return index >= 0 && index < this.count ? this.one(Math.floor(index / this.depth), index % this.depth) : undefined;
  }

  between(from, to, limit = 5000) {
    const found = [];
    for (let n = Math.max(0, Math.floor(from / this.turn) - 1); n < this.perDepth && n * this.turn < to && found.length < limit; n += 1) {
      for (let depth = 0; depth < this.depth; depth += 1) {
        const event = this.one(n, depth);
        if (event.start < to && event.start + event.duration > from) found.push(event);
      }
    }
    return found;
  }

  entries(from, to, slot) {
    const rows = [];
    for (let depth = 0; depth < this.depth; depth += 1) {
      const row = [];
      if (this.turn >= slot) {
        for (let n = Math.max(0, Math.floor(from / this.turn) - 1); n < this.perDepth && n * this.turn < to; n += 1) {
          const event = this.one(n, depth);
          if (event.start >= to || event.start + event.duration <= from) continue;
          row.push({ start: event.start, duration: event.duration, name: event.name, event: event.index, count: 1, busy: event.duration, before: event.start < from });
        }
      } else {
        for (let start = Math.floor(from / slot) * slot; start < Math.min(to, this.end); start += slot) {
          const first = Math.ceil(start / this.turn);
          const last = Math.min(this.perDepth, Math.ceil((start + slot) / this.turn));
          if (last <= first) continue;
          const longest = this.one(first, depth);
          const end = this.one(last - 1, depth);
          // Every 40th slot is left empty, so that not all is one grey band.
          if (Math.floor(start / slot / 40) % 7 === 6) continue;
          row.push({ start: longest.start, duration: end.start + end.duration - longest.start, name: longest.name, event: longest.index, count: last - first, busy: Math.round((last - first) * this.turn * 0.55), before: false });
        }
      }
      rows.push(row);
    }
    return rows;
  }
}

/** Values over time. */
class Counted {
  constructor(values) {
    this.values = values;
    this.count = values.length;
    this.depth = 1;
    this.begin = values[0][0];
    this.end = values[values.length - 1][0];
    this.max = Math.max(...values.map(([, value]) => value));
  }

  at() {
    return undefined;
  }

  between() {
    return [];
  }
}

function smallHost(host, shift) {
  const [python, executor, stream, copies, ops] = [[], [], [], [], []];
  for (let step = 0; step < 20; step += 1) {
    const at = shift + step * 10 * MS;
    python.push([at, 9.5 * MS, 0, 'train', [{ name: 'step_num', value: step }]], [at + 0.2 * MS, 9 * MS, 1, '__inference_train_function_5821']);
    for (let i = 0; i < 6; i += 1) {
      const begin = at + (0.5 + i * 1.4) * MS;
      python.push([begin, 0.9 * MS, 2, 'FunctionRun']);
      executor.push([begin + 0.05 * MS, 1.2 * MS, 0, 'ExecutorState::Process']);
      for (let j = 0; j < 4; j += 1) {
        executor.push([begin + (0.1 + j * 0.28) * MS, 0.2 * MS, 1, j === 3 ? 'IteratorGetNext' : 'Conv2D', [{ name: 'long_name', value: `model/conv${j}/Conv2D:Conv2D` }]]);
        executor.push([begin + (0.12 + j * 0.28) * MS, 0.03 * MS, 2, 'cuLaunchKernel', [{ name: 'correlation_id', value: step * 100 + i * 10 + j }]]);
        const kernel = KERNELS[(i + j) % KERNELS.length];
        const start = begin + (0.2 + j * 0.3) * MS;
        const length = (0.16 + 0.1 * noise(step * 100 + i * 10 + j)) * MS;
        stream.push([start, length, 0, kernel, [{ name: 'grid', value: '256,1,1' }, { name: 'html', value: HTML }]]);
        ops.push([start, length, 0, i % 2 === 0 ? 'MatMul' : 'Relu']);
        // A crowd far too small to be told apart from afar.
        if (j === 1) for (let k = 0; k < 40; k += 1) stream.push([start + length + k * 0.4 * US, 0.3 * US, 0, k % 3 === 0 ? 'Relu' : 'bn_bw_1C11']);
      }
      if (i % 3 === 0) copies.push([begin, 1.8 * MS, 0, 'MemcpyH2D', [{ name: 'bytes', value: 19_300_000 }]]);
    }
  }
  stream.push([shift + 201 * MS, 1 * MS, 0, HTML]);
  for (const list of [python, executor, stream, copies, ops]) list.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const memory = Array.from({ length: 400 }, (_, i) => [shift + i * 0.5 * MS, 2e9 + 1e9 * Math.sin(i / 11) + 4e8 * noise(i)]);
  return [
    { pid: 1, name: '/device:GPU:0', kind: 'device', tracks: [
      { tid: 13, name: 'Stream #13(Compute)', kind: 'stream', source: new Listed(stream) }, { tid: 14, name: 'Stream #14(MemcpyH2D)', kind: 'stream', source: new Listed(copies) },
      { tid: 3735928562, name: 'Framework Ops', kind: 'derived', source: new Listed(ops) }, { tid: 0, name: 'Memory GPU_0_bfc', kind: 'counter', allocator: 'GPU_0_bfc', source: new Counted(memory) },
    ] },
    { pid: 701, name: '/host:CPU', kind: 'host', tracks: [
      { tid: 100, name: 'python3', kind: 'thread', source: new Listed(python) }, { tid: 202, name: 'tf_Compute/202', kind: 'thread', source: new Listed(executor) },
    ] },
  ].map((process) => ({ ...process, host }));
}

function bigHost(host, events, duration) {
  const each = events / 40;
  const tracks = (n, kind, depth, names, name) => Array.from({ length: n }, (_, i) => ({ tid: 10 + i, name: name(i), kind, source: new Ruled(each, duration, depth, names, host * 1000 + i + depth * 100) }));
  return [
    { pid: 1, name: '/device:GPU:0', kind: 'device', host, tracks: tracks(8, 'stream', 1, KERNELS, (i) => `Stream #${13 + i}`) },
    { pid: 701, name: '/host:CPU', kind: 'host', host, tracks: tracks(32, 'thread', 3, HOST, (i) => `tf_Compute/${200 + i}`) },
  ];
}

/** A kernel and the host's op that is called alike. */
function oneName() {
  const events = [[0, 4 * MS, 0, 'Relu'], [6 * MS, 4 * MS, 0, 'Relu']];
  return [
    { pid: 1, name: '/device:GPU:0', kind: 'device', host: 0, tracks: [{ tid: 13, name: 'Stream #13(Compute)', kind: 'stream', source: new Listed(events) }] },
    { pid: 701, name: '/host:CPU', kind: 'host', host: 0, tracks: [{ tid: 100, name: 'python3', kind: 'thread', source: new Listed(events) }] },
  ];
}

/** Some thousand events of a microsecond, over minutes: a page of a search holds those of the first minute and a half. */
function manyHits() {
  const events = Array.from({ length: 3000 }, (_, i) => [i * 100 * MS, 1 * US, 0, 'needle', [{ name: 'tag', value: 'hay' }]]);
  return [{ pid: 1, name: '/device:GPU:0', kind: 'device', host: 0, tracks: [{ tid: 13, name: 'Stream #13(Compute)', kind: 'stream', source: new Listed(events) }] }];
}

function makeTrace(hosts, processes, steps, more = {}) {
  const duration = Math.max(0, ...processes.flatMap((process) => process.tracks.map((track) => track.source.end)));
  const numbers = new Map();
  for (const process of processes) {
    for (const track of process.tracks) {
      const next = numbers.get(process.host) ?? 0;
      numbers.set(process.host, next + 1);
      track.id = `${process.host}.${next}`;
      track.process = process;
    }
  }
  return { hosts, processes, steps, duration, alignment: null, ...more, tracks: new Map(processes.flatMap((process) => process.tracks.map((track) => [track.id, track]))) };
}

const steps = (n, ms) => Array.from({ length: n }, (_, i) => ({ number: i, name: String(120 + i), start_ps: i * ms * MS, duration_ps: (ms - 0.4) * MS }));
const host = (index, name, offset = 0) => ({ index, host: name, offset_ps: offset, aligned: true });

export const BIG_EVENTS = 10_000_000;

export const TRACES = {
  'resnet50/2026_11_20_09_14_02': makeTrace([host(0, 'worker0')], smallHost(0, 0), steps(20, 10)),
  'two/hosts': makeTrace([host(0, 'worker0'), { ...host(1, 'worker1'), aligned: false }], [...smallHost(0, 0), ...smallHost(1, 3 * MS)], [], { alignment: 'worker1 does not say when its profile began; its events are shown from their own beginning.' }),
  'two/lanes': makeTrace([host(0, 'worker0'), host(1, 'worker1')], [...smallHost(0, 0), ...smallHost(1, 3 * MS)], steps(20, 10), { stepsOf: { worker1: steps(5, 40) } }),
  'big/ten-million': makeTrace([host(0, 'worker0')], bigHost(0, BIG_EVENTS, 5e12), steps(40, 125)),
  'raw/steps': makeTrace([host(0, 'worker0')], smallHost(0, 0), steps(20, 10), { raw: true }),
  'many/hits': makeTrace([host(0, 'worker0')], manyHits(), []),
  'one/name': makeTrace([host(0, 'worker0')], oneName(), []),
  'empty/none': makeTrace([host(0, 'worker0')], [], []),
};
const TOOLS = ['overview_page', 'trace_viewer', 'kernel_stats', 'framework_op_stats', 'memory_profile'];

function tracksAnswer(trace, early) {
  const slots = 1000;
  const there = (tracks) => tracks.filter((track) => !early || track.kind !== 'derived');
  const density = (kind) => Array.from({ length: slots }, (_, i) => (trace.processes.some((process) => process.kind === kind) ? Math.round(255 * (0.2 + 0.8 * noise(Math.floor(i / 3) + (kind === 'host' ? 1 : 2)))) : 0));
  return {
    begin_ns: '1699381139000000000', first_ps: 0, duration_ps: trace.duration, hosts: trace.hosts, alignment: trace.alignment,
    complete: !early, events: there([...trace.tracks.values()]).reduce((sum, track) => sum + track.source.count, 0),
    processes: trace.processes.map((process) => ({
      id: `${process.host}.${process.pid}`, host: process.host, pid: process.pid, name: process.name, kind: process.kind,
      tracks: there(process.tracks).map(({ id, tid, name, kind, allocator, source }) => ({ id, tid, name, kind, events: source.count, depth: source.depth, begin_ps: source.begin, end_ps: source.end, ...(kind === 'counter' ? { max: source.max } : {}), ...(allocator === undefined ? {} : { allocator, unit: 'bytes' }) })),
    })),
    steps: early ? [] : trace.steps, steps_host: early || trace.steps.length === 0 ? null : 0, categories: ['device_compute', 'device_to_device', 'device_collectives', 'host_compute', 'kernel_launch', 'infeed', 'outfeed', 'compile', 'other'],
    density: { slots, host: density('host'), device: density('device') },
  };
}

const differences = (values) => values.map((value, i) => value - (i === 0 ? 0 : values[i - 1]));

export function tilesAnswer(trace, tracks, level, tile, tiles) {
  const slot = 2 ** level;
  const [from, to] = [tile * TILE_SLOTS * slot, (tile + tiles) * TILE_SLOTS * slot];
  const names = new Map();
  const nameId = (name, track) => {
    const category = categoryOf(name, track);
    const key = `${category} ${name}`;
    if (!names.has(key)) names.set(key, { id: names.size, name, category });
    return names.get(key).id;
  };
  const list = tracks.map((track) => {
    if (track.kind === 'counter') {
      const inside = track.source.values.filter(([time]) => time >= from && time < to);
      return { id: track.id, slot_ps: slot, time: differences(inside.map(([time]) => time)), min: inside.map(([, value]) => value), max: inside.map(([, value]) => value), last: inside.map(([, value]) => value) };
    }
    const rows = track.source.entries(from, to, slot);
    const flat = rows.flat();
    const merged = flat.flatMap((entry, i) => (entry.count > 1 ? [i] : []));
    return {
      id: track.id, slot_ps: slot, start: rows.flatMap((row) => differences(row.map((entry) => entry.start))), duration: flat.map((entry) => entry.duration),
      depth: rows.flatMap((row, depth) => (row.length > 0 ? [[depth, row.length]] : [])), name: flat.map((entry) => nameId(entry.name, track)), event: rows.flatMap((row) => differences(row.map((entry) => entry.event))),
      merged: differences(merged), count: merged.map((i) => flat[i].count), busy: merged.map((i) => flat[i].busy),
      events: flat.reduce((sum, entry) => sum + (entry.before ? 0 : entry.count), 0), before: flat.filter((entry) => entry.before).length,
    };
  });
  return { level, tile, tiles, from_ps: from, to_ps: to, slot_ps: slot, names: [...names.values()].map(({ name }) => name), categories: [...names.values()].map(({ category }) => category), tracks: list };
}

const idOf = (track, event) => `${track.id}.${event.index}`;
const brief = (track, event) => ({ id: idOf(track, event), track: track.id, name: event.name, start_ps: event.start, duration_ps: event.duration, depth: event.depth });

function eventAnswer(trace, id) {
  const [h, t, e] = id.split('.');
  const track = trace.tracks.get(`${h}.${t}`);
  const event = track?.source.at(Number(e));
  if (event === undefined) return null;
  const around = track.source.between(event.start - 50 * MS, event.start + event.duration + 50 * MS);
  const row = around.filter((one) => one.depth === event.depth);
  const at = row.findIndex((one) => one.index === event.index);
  const holds = (a, b) => a.start <= b.start && a.start + a.duration >= b.start + b.duration && a.index !== b.index;
  const parent = around.filter((one) => one.depth === event.depth - 1 && holds(one, event))[0];
  const children = around.filter((one) => one.depth === event.depth + 1 && holds(event, one));
  const step = trace.steps.find((one) => one.start_ps <= event.start && event.start < one.start_ps + one.duration_ps);
  const flows = [];
  // A launch and the kernel it launched are 0.1 ms apart, in the small runs.
  if (track.source instanceof Listed) {
    const [device, threads] = ['device', 'host'].map((kind) => trace.processes.find((process) => process.host === Number(h) && process.kind === kind));
    const [stream, executor] = [device?.tracks[0], threads?.tracks[1]];
    const launches = executor?.source.events.filter((one) => one.name === 'cuLaunchKernel') ?? [];
    const kernels = stream?.source.events.filter((one) => one.duration > 0.1 * MS) ?? [];
    const kernelAt = track === stream ? kernels.findIndex((one) => one.index === event.index) : -1;
    const launchAt = track === executor ? launches.findIndex((one) => one.index === event.index) : -1;
    const link = (direction, other, one) => ({ direction, category: 'gpu_launch', ...brief(other, one) });
    if (kernelAt >= 0 && launches[kernelAt] !== undefined) flows.push(link('in', executor, launches[kernelAt]));
    if (launchAt >= 0 && kernels[launchAt] !== undefined) flows.push(link('out', stream, kernels[launchAt]));
  }
  return {
    ...brief(track, event), ...(event.name.includes('Eigen') ? { long_name: event.name } : {}), track_name: track.name, process: track.process.name, host: trace.hosts[track.process.host].host,
    self_ps: event.duration - children.reduce((sum, one) => sum + one.duration, 0), category: categoryOf(event.name, track), ...(step === undefined ? { step: null } : { step: step.number, step_name: step.name }), args: event.args,
    parent: parent === undefined ? null : idOf(track, parent), children: children.length, first_child: children[0] === undefined ? null : idOf(track, children[0]),
    previous: row[at - 1] === undefined ? null : idOf(track, row[at - 1]), next: row[at + 1] === undefined ? null : idOf(track, row[at + 1]), flows,
    ...(track.kind === 'stream' ? { kernel: event.name } : {}), ...(event.name === 'Conv2D' ? { op: 'model/conv/Conv2D' } : {}),
  };
}

class BadQuery extends Error {}

function matcher(query) {
  const q = query.get('q') ?? '';
  const flags = query.get('case') === '1' ? '' : 'i';
  if (query.get('mode') === 'regex') {
    try {
      const pattern = new RegExp(q, flags);
      return (text) => pattern.test(text);
    } catch (error) {
      throw new BadQuery(`not a regular expression: ${error.message}`);
    }
  }
  return flags === 'i' ? (text) => text.toLowerCase().includes(q.toLowerCase()) : (text) => text.includes(q);
}

function answer(path, query, tools) {
  const names = Object.keys(TRACES);
  const trace = TRACES[query.get('run')];
  if (path === '/run_list') return { logdir: 'runs', version: '0', problem: null, runs: names.map((name, index) => ({ run: name, hosts: TRACES[name].hosts.map((one) => one.host), files: 1, bytes: 2e7, time_ms: 1.7e12 - index * 1e7, time_from: 'file', modified_ms: 1.7e12 - index * 1e7 })) };
  if (path === '/tools') return tools.map((tool) => ({ ...tool, hosts: trace?.hosts.map((one) => one.host) ?? [] }));
  if (trace === undefined) return null;
  if (path === '/run_tools') return TOOLS;
  if (path === '/run_info') return { run: query.get('run'), bytes: 2e7, device_type: 'Nvidia GPU (Volta)', device_count: 1 };
  if (path === '/diagnostics') return { entries: [], captures: [] };
  if (path === '/instances') return { count: 3, total_us: 30, min_us: 5, mean_us: 10, median_us: 10, p95_us: 15, max_us: 15, stddev_us: 5, histogram: [{ from_us: 5, to_us: 10, count: 2 }, { from_us: 10, to_us: 15, count: 1 }], slowest: [] };
  if (path === '/data') return ['kernel_stats', 'memory_profile'].includes(query.get('tag')) ? { cols: [], rows: [], p: {} } : [{ cols: [], rows: [], p: {} }, { cols: [], rows: [], p: {} }];
  const wanted = (query.get('tracks') ?? '').split(',').filter((id) => id !== '');
  const early = query.get('derived') === '0' && trace.raw === true;
  const tracks = wanted.length === 0 ? [...trace.tracks.values()] : wanted.map((id) => trace.tracks.get(id)).filter((track) => track !== undefined);
  const number = (key, fallback) => (query.has(key) ? Number(query.get(key)) : fallback);
  const [from, to] = [number('from_ps', 0), number('to_ps', Infinity)];
  const [offset, limit] = [number('offset', 0), number('limit', 200)];
  const all = () => tracks.flatMap((track) => track.source.between(from, Math.min(to, trace.duration + 1)).map((event) => ({ track, event }))).sort((a, b) => a.event.start - b.event.start || b.event.duration - a.event.duration);
  switch (path) {
    case '/trace_viewer/tracks': return tracksAnswer(trace, early);
    case '/trace_viewer/steps': {
      const host = trace.hosts.find((one) => one.host === query.get('host'));
      const own = trace.stepsOf?.[host?.host] ?? (host === undefined || host.index === 0 ? trace.steps : []);
      return { steps: own, steps_host: own.length === 0 ? null : host?.index ?? 0 };
    }
    case '/trace_viewer/tiles': return tilesAnswer(trace, tracks.filter((track) => !early || track.kind !== 'derived'), number('level', 0), number('tile', 0), number('tiles', 1));
    case '/trace_viewer/event': return eventAnswer(trace, query.get('id'));
    case '/trace_viewer/neighbour': {
      const own = eventAnswer(trace, query.get('id'));
      const same = tracks.flatMap((track) => (track.id === own.track ? track.source.between(0, trace.duration) : [])).filter((event) => event.name === own.name);
      const at = same.findIndex((event) => event.start === own.start_ps);
      const next = same[at + (query.get('direction') === 'same_name_next' ? 1 : -1)];
      return next === undefined ? 'null' : eventAnswer(trace, `${own.track}.${next.index}`);
    }
    case '/trace_viewer/events': {
      const list = all();
      return { total: list.length, rows: list.slice(offset, offset + limit).map(({ track, event }) => brief(track, event)) };
    }
    case '/trace_viewer/search': {
      const test = matcher(query);
      const inside = query.get('in') ?? 'name';
      const hits = all().filter(({ event }) => (inside !== 'args' && test(event.name)) || (inside !== 'name' && event.args.some((arg) => test(`${arg.value}`))));
      const counts = new Map();
      for (const { track } of hits) counts.set(track.id, (counts.get(track.id) ?? 0) + 1);
      const slots = number('slots', 0);
      const [first, last] = [from, Math.min(to, trace.duration + 1)];
      const density = new Array(slots).fill(0);
      if (slots > 0) for (const { event } of hits) density[Math.floor(((event.start - first) / (last - first)) * slots)] += 1;
      return { total: hits.length, tracks: [...counts].map(([id, count]) => ({ id, count })), ...(slots > 0 ? { density: { from_ps: first, to_ps: last, counts: density } } : {}), hits: hits.slice(offset, offset + limit).map(({ track, event }) => brief(track, event)) };
    }
    case '/trace_viewer/aggregate': {
      const rows = new Map();
      const layerOf = (track) => (track.kind === 'derived' ? track.name : '');
      const layers = new Map();
      for (const track of tracks) if (track.kind !== 'counter') layers.set(layerOf(track), (layers.get(layerOf(track)) ?? 0) + 1);
      const layer = query.get('layer') ?? (layers.has('') ? '' : [...layers.keys()][0] ?? '');
      if (query.has('layer') && !layers.has(layer)) return null;
      const list = all().filter(({ track }) => layerOf(track) === layer && track.kind !== 'counter');
      const busy = (kind) => {
        let [sum, counted] = [0, from];
        const mine = list.filter(({ track }) => track.process.kind === kind);
        for (const { event } of mine) {
          const end = Math.min(to, event.start + event.duration);
          sum += Math.max(0, end - Math.max(counted, event.start));
          counted = Math.max(counted, end);
        }
        return tracks.some((track) => track.process.kind === kind && layerOf(track) === layer) ? sum : null;
      };
      for (const { track, event } of list) {
        const time = Math.min(to, event.start + event.duration) - Math.max(from, event.start);
        const row = rows.get(event.name) ?? { name: event.name, category: categoryOf(event.name, track), count: 0, total_ps: 0, self_ps: 0, min_ps: Infinity, max_ps: 0 };
        rows.set(event.name, { ...row, count: row.count + 1, total_ps: row.total_ps + time, self_ps: row.self_ps + time, min_ps: Math.min(row.min_ps, time), max_ps: Math.max(row.max_ps, time) });
      }
      for (const row of rows.values()) row.avg_ps = row.total_ps / row.count;
      return { from_ps: from, to_ps: to, layer, layers: [...layers].map(([name, n]) => ({ layer: name, tracks: n })), host_busy_ps: busy('host'), device_busy_ps: busy('device'), events: list.length, rows: [...rows.values()].sort((a, b) => b.total_ps - a.total_ps), rows_total: rows.size };
    }
    case '/trace_viewer/export': return { traceEvents: [] };
    default: return null;
  }
}

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/**
 * Serves the built page in `dir` and the answers above; resolves to its address. `seen` is told every path that is asked for; `found` is waited for
 * before the whole of a raw capture is told: it resolves to false where that shall fail. */
export function serve(dir, port = 0, seen = () => undefined, found = async () => true) {
  const tools = toolsOf(dir, TOOLS);
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://x');
    const name = url.pathname === '/' ? 'index.html' : url.pathname.slice(1);
    response.setHeader('Content-Security-Policy', "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (/^[\w.]+\.(html|js|css|svg)$/.test(name)) {
      readFile(join(dir, name)).then((body) => response.setHeader('Content-Type', TYPES[extname(name)]).end(body), () => response.writeHead(404).end());
      return;
    }
    if (url.pathname === '/healthz') {
      response.end('ok');
      return;
    }
    if (url.pathname === '/progress') { // asked for where an answer is slow to come; nothing to tell
      note('progress', url.searchParams, 200, { state: 'none' });
      response.setHeader('Content-Type', 'application/json').end('{"state":"none"}');
      return;
    }
    seen(url);
    let body;
    let status = 200;
    try {
      const slow = url.pathname === '/trace_viewer/tracks' && TRACES[url.searchParams.get('run')]?.raw === true && url.searchParams.get('derived') !== '0';
      if (slow && !(await found())) throw new BadQuery('the steps are lost');
      body = answer(url.pathname, url.searchParams, tools);
      if (body === null) [status, body] = [404, { error: { code: 'not_found', message: 'there is no such thing' } }];
    } catch (error) {
      if (!(error instanceof BadQuery)) throw error;
      [status, body] = [400, { error: { code: 'bad_query', message: error.message } }];
    }
    if (body === 'null') body = null;
    note(url.pathname.slice(1), url.searchParams, status, body);
    const text = JSON.stringify(body);
    const tag = `"${createHash('sha1').update(text).digest('hex')}"`;
    response.setHeader('Content-Type', 'application/json').setHeader('ETag', tag);
    if (request.headers['if-none-match'] === tag) response.writeHead(304).end();
    else response.setHeader('Content-Encoding', 'gzip').writeHead(status).end(gzipSync(text, { level: 1 }));
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve({ url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() })));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve(process.argv[2], Number(process.argv[3] ?? 0));
  console.log(url);
}
