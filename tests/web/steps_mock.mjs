// SPDX-License-Identifier: Apache-2.0
// Made-up answers of the server for the pages about steps, and a server that gives them:
// node tests/web/steps_mock.mjs DIR [PORT] shows the built page in DIR with them.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { note } from './shapes.mjs';
import { toolsOf } from './support.mjs';

const HTML = '<img src=x onerror="window.hit=1"><b>bold</b>';

/** The same numbers on every run. */
function random(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

const table = (cols, rows, p = {}) => ({
  cols: cols.map(([id, type, label = id, more = {}]) => ({ id, label, type, ...more })), rows: rows.map((row) => ({ c: row.map((v) => ({ v })) })), p,
});

const STEP_COLUMNS = [
  ['stepnum', 'string', 'Step number'], ['deviceComputeTimeMs', 'number', 'Device compute'], ['deviceToDeviceTimeMs', 'number', 'Device to device'],
  ['deviceCollectivesTimeMs', 'number', 'Device collective communication'], ['hostComputeTimeMs', 'number', 'Host compute'], ['kernelLaunchTimeMs', 'number', 'Kernel launch'],
  ['infeedTimeMs', 'number', 'Input'], ['outfeedTimeMs', 'number', 'Output'], ['compileTimeMs', 'number', 'Compilation'], ['otherTimeMs', 'number', 'All others'],
  ['tooltip', 'string', 'tooltip', { p: { role: 'tooltip' } }], ['stepTimeMs', 'number', 'Step time'],
];
const STEMS = ['device_compute', 'device_to_device', 'device_collectives', 'host_compute', 'kernel_launch', 'infeed', 'outfeed', 'compile', 'other'];

/** One step's nine categories in ms. */
function categories(rnd, { slow = false, scale = 1, cpu = false } = {}) {
  const about = (ms, spread) => ms * scale * (1 - spread / 2 + spread * rnd());
  if (cpu) return [0, 0, 0, about(61, 0.1), 0, about(4, 0.6), 0, 0, about(6, 0.5)];
  return [about(79.5, 0.05), about(2.6, 0.1), about(10, 0.3), about(3.4, 0.2), about(6.9, 0.3), about(slow ? 48 : 23.5, 0.25), about(0.5, 0.1), 0, about(6.2, 0.5)];
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);
const sdv = (values) => {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
};

const STATEMENTS = {
  high: (x) => [`host`, `Your program is HIGHLY input-bound because ${x}% of the total step time sampled is waiting for input. Therefore, you should first focus on reducing the input time.`],
  moderate: (x) => ['both', `Your program is MODERATELY input-bound because ${x}% of the total step time sampled is waiting for input. Therefore, you would need to reduce both the input time and other time.`],
  not: (x) => ['device', `Your program is NOT input-bound because only ${x}% of the total step time sampled is waiting for input. Therefore, you should focus on reducing other time.`],
  none: () => ['unknown', 'No step time measured. Therefore we cannot tell where the performance bottleneck is.'],
};
const verdictOf = (x) => (x === null ? STATEMENTS.none() : x >= 20 ? STATEMENTS.high(x.toFixed(1)) : x >= 5 ? STATEMENTS.moderate(x.toFixed(1)) : STATEMENTS.not(x.toFixed(1)));

function slowestHost(run) {
  const times = run.hosts.map((_host, index) => run.steps.reduce((sum, { hosts }) => sum + hosts[index].reduce((a, b) => a + b, 0), 0));
  return times.indexOf(Math.max(...times));
}

function stepTable(run) {
  const rows = run.steps.map(({ name, hosts }) => [name, hosts[run.shown ?? 0]]).map(([name, values]) => [name, ...values, `Step ${name}`, values.reduce((a, b) => a + b, 0)]);
  const totals = rows.map((row) => row[11]);
  const share = rows.length === 0 ? null : 100 * mean(rows.map((row) => row[6])) / mean(totals);
  const p = { hardware_type: run.cpu ? 'CPU_ONLY' : 'GPU', input_conclusion: verdictOf(share)[1], summary_nextstep: rows.length === 0 ? 'You may skip the rest of this page.' : 'Look at Section 3 for the breakdown of input time on the host.' };
  STEMS.forEach((stem, index) => {
    p[`${stem}_time_ms_avg`] = mean(rows.map((row) => row[index + 1])).toFixed(1);
    p[`${stem}_time_ms_sdv`] = rows.length === 1 ? '-nan' : sdv(rows.map((row) => row[index + 1])).toFixed(1);
  });
  const slowest = run.steps.map(({ hosts }) => Math.max(...hosts.map((values) => values.reduce((a, b) => a + b, 0))));
  Object.assign(p, {
    steptime_ms_average: mean(slowest).toFixed(1), steptime_ms_standard_deviation: sdv(slowest).toFixed(1),
    steptime_ms_minimum: (slowest.length === 0 ? 0 : Math.min(...slowest)).toFixed(1), steptime_ms_maximum: (slowest.length === 0 ? 0 : Math.max(...slowest)).toFixed(1),
  });
  Object.assign(p, run.modules && rows.length === 0 ? { module_steps: String(run.modules) } : {}, run.module ? { step_source: 'module', step_module: run.module } : {});
  if (run.hosts.length > 1) {
    const [shown, slow] = [run.hosts[run.shown ?? 0], run.hosts[slowestHost(run)]];
    Object.assign(p, { step_hosts: String(run.hosts.length), steps_of_host: shown, slowest_host: slow, hosts_statement: `This verdict is for ${shown}, ${shown === slow ? 'the slowest' : 'one'} of ${run.hosts.length} hosts, and holds for no other host; ${run.hosts[1]} is NOT input-bound.` });
  }
  return { table: table(STEP_COLUMNS, rows, p), share };
}

function tpuStepTable(run) {
  const rnd = random(5);
  const rows = Array.from({ length: run.tpu }, (_, index) => {
    const input = 3 + rnd() * (index === 7 ? 20 : 2);
    return [String(index), 40 + rnd(), 0, 0, input, 0.4, 2 + rnd(), 1.5, 'tip', input / 0.5, input / 0.55, input / 0.4];
  });
  return table([
    ['stepnum', 'string'], ['tcComputeTimeMs', 'number', 'TensorCore compute (in ms)'], ['scv0ComputeTimeMs', 'number'], ['scv0InfeedTimeMs', 'number'], ['tcInfeedTimeMs', 'number'],
    ['tcOutfeedTimeMs', 'number'], ['tcIdleTimeMs', 'number'], ['hostTransferTimeMs', 'number'], ['tooltip', 'string'], ['infeedPercentAverage', 'number'], ['infeedPercentMin', 'number'], ['infeedPercentMax', 'number'],
  ], rows, { hardware_type: 'TPU', steptime_ms_average: mean(rows.map((row) => row[1] + row[4] + row[5] + row[6] + row[7])).toFixed(1), input_conclusion: verdictOf(9.1)[1], output_conclusion: '', summary_nextstep: '' });
}

const OPS = [
  ['Conv2D', 'resnet50/conv4_block6_3_conv/Conv2D', 0.142, true, true], ['Conv2DBackpropFilter', 'gradient_tape/resnet50/conv4_block6_2_conv/Conv2DBackpropFilter', 0.118, true, true],
  ['Conv2DBackpropInput', 'gradient_tape/resnet50/conv4_block5_2_conv/Conv2DBackpropInput', 0.109, true, false], ['FusedBatchNormGradV3', 'gradient_tape/resnet50/conv2_block3_3_bn/FusedBatchNormGradV3', 0.071, false, false],
  ['FusedBatchNormV3', 'resnet50/conv2_block1_0_bn/FusedBatchNormV3', 0.064, false, false], ['NcclAllReduce', 'Adam/NcclAllReduce', 0.059, false, false],
  ['MatMul', 'gradient_tape/resnet50/predictions/MatMul/MatMul_1', 0.038, true, true], ['Relu', 'resnet50/conv2_block2_out/Relu', 0.031, false, false],
  ['MaxPoolGrad', 'gradient_tape/resnet50/pool1_pool/MaxPoolGrad', 0.022, false, false], ['ResourceApplyAdam', 'Adam/Adam/update_102/ResourceApplyAdam', 0.019, false, false],
];

function overview(run) {
  const { table: steps, share } = run.tpu > 0 ? { table: tpuStepTable(run), share: 9.1 } : stepTable(run);
  let sum = 0;
  const ops = run.cpu ? [] : OPS.map(([type, name, part, eligible, uses], index) => {
    sum += part;
    return [part, sum, type, run.html && index === 0 ? HTML : name, run.tpu > 0 ? 812.5 : 0, eligible, uses];
  });
  const columns = [['selfTimePercent', 'number'], ['cumulativeTimePercent', 'number'], ['category', 'string'], ['operation', 'string'], ['flopRate', 'number'], ['tcEligibility', 'boolean'], ['tcUtilization', 'boolean']];
  const common = {
    host_trace_level: '2', host_tf_op_percent: run.cpu ? '100.0%' : '7.6%', device_tf_op_percent: run.cpu ? '0.0%' : '92.4%', host_op_time_eager_percent: '13.1%', device_op_time_eager_percent: '0.0%',
    mxu_utilization_percent: '0.0%', hbm_utilization_percent: '0.0%', remark_text: '', remark_color: '',
  };
  const analysis = run.cpu || run.tpu > 0
    ? table(columns.slice(0, 5), ops.map((op) => op.slice(0, 5)), { ...common, device_duty_cycle_percent: run.tpu > 0 ? '86.5%' : '0.0%', device_idle_time_percent: run.tpu > 0 ? '13.4%' : '0.0%', host_idle_time_percent: '0.0%' })
    : table(columns, ops, { ...common, device_compute_16bit_percent: `${(71 * run.scale).toFixed(1)}%`, device_compute_32bit_percent: `${(100 - 71 * run.scale).toFixed(1)}%` });
  const [bottleneck, statement] = verdictOf(share);
  const said = share === null ? {} : {
    kernel_launch_bottleneck: 'moderate', kernel_launch_statement: '5.4% of the total step time sampled is spent on \'Kernel Launch\'. It could be due to CPU contention with tf.data. In this case, you may try to set the environment variable TF_GPU_THREAD_MODE=gpu_private.',
    device_collectives_bottleneck: 'moderate', device_collectives_statement: '7.5% of the total step time sampled is spent on \'Device Collective Communication\'.',
    all_other_bottleneck: 'moderate', all_other_statement: '4.7% of the total step time sampled is spent on \'All Others\' time.',
  };
  const recommendation = table([['tip_type', 'string'], ['link', 'string'], ['description', 'string']], [
    ['faq', 'Refer to the TF2 Profiler FAQ', 'Tool troubleshooting / FAQ'],
    ['host', 'input_pipeline_analyzer (especially Section 3 for the breakdown of input operations on the Host)', 'Next steps for reducing the Host time'],
    ['host', 'trace_viewer (look at the activities on the timeline of each Host Thread near the bottom of the trace view)', 'Next steps for reducing the Host time'],
    ['device', 'framework_op_stats (identify the time-consuming operations executed on the GPU)', 'Next steps for reducing the Device time'],
    ['doc', '<a href="https://www.tensorflow.org/guide/data_performance" target="_blank">Better performance with the tf.data API</a>', 'Other useful resources'],
    ...(run.html ? [['doc', HTML, 'Other useful resources'], ['doc', '<a href="javascript:window.hit=1">press</a>', 'Other useful resources']] : []),
  ], {
    bottleneck, statement: run.html ? HTML : statement, precision_statement: '', hosts_statement: steps.p.hosts_statement ?? '', non_bottleneck_tip_types: bottleneck === 'host' ? 'device' : bottleneck === 'device' ? 'host' : '', ...said,
    eager_statement: '13.1% of Op time on the host used eager execution. Performance could be improved with tf.function.',
    tf_function_statement: run.html ? HTML : 'Functions "train_step", "augment" are expensive due to retracing or eager execution.',
    ...(run.activity ?? {}),
  });
  return [
    analysis, steps,
    table([['host_id', 'string'], ['command_line', 'string'], ['start_time', 'string'], ['bns_address', 'string']], [], {
      host_count: String(run.hosts.length), task_count: `${run.hosts.length} (num tasks per host = 1)`, device_type: run.device, device_core_count: run.cpu ? '0' : String(run.hosts.length * 8), is_training: 'true',
    }),
    recommendation,
    table([['percentile', 'string'], ['hostTimeMs', 'number'], ['deviceTimeMs', 'number'], ['communicationTimeMs', 'number'], ['totalTimeMs', 'number']], run.inference ? [['Avg', 1.2, 3.4, 0.3, 4.9], ['50.0%', 1.1, 3.3, 0.2, 4.6], ['99.9%', 4, 9, 1, 14]] : []),
    {},
    table([['severity', 'string'], ['message', 'string']], share === null ? [['WARNING', 'No step marker observed and hence the step time is unknown.'], ...(run.failure ? [['ERROR', run.failure]] : [])] : []),
  ];
}

const PIPELINE = ['Iterator::Model', 'Iterator::Model::MaxIntraOpParallelism::Prefetch', 'Iterator::Model::MaxIntraOpParallelism::Prefetch::ParallelMapV2', 'Iterator::Model::MaxIntraOpParallelism::Prefetch::ParallelMapV2::Shuffle', 'Iterator::Model::Prefetch::ParallelMapV2::ParallelInterleaveV4[0]::TFRecord', 'MemcpyHToD'];

function inputPipeline(run) {
  const steps = run.tpu > 0 ? tpuStepTable(run) : stepTable(run).table;
  const us = [210, 40, 86_000, 31_000, 12_000, 9_200].map((value) => value * run.scale);
  const base = us.reduce((a, b) => a + b, 0);
  const kinds = ['Preprocessing', 'Preprocessing', 'Preprocessing', 'Preprocessing', 'Advanced file read', 'Enqueue'];
  return [
    run.tpu > 0 ? table([['index', 'string', 'Index'], ...Array.from({ length: 3 }, (_, index) => [String(index), 'string'])], [['Step number', '0', '1', '2'], ['Core name', 'host0:0', 'host0:3', 'host0:0']]) : { cols: [], rows: [] },
    steps,
    table([['opName', 'string', 'Input Op'], ['count', 'number'], ['timeInMs', 'number'], ['timeInPercent', 'number'], ['selfTimeInMs', 'number'], ['selfTimeInPercent', 'number'], ['category', 'string']],
      PIPELINE.map((name, index) => [run.html && index === 0 ? HTML : name, 40, us[index] * 1.3 / 1000, us[index] * 1.3 / base, us[index] / 1000, us[index] / base, kinds[index]]).sort((a, b) => b[4] - a[4]),
      { enqueue_us: (9200 * run.scale).toFixed(3), demanded_file_read_us: '0.000', advanced_file_read_us: (12_000 * run.scale).toFixed(3), preprocessing_us: (117_250 * run.scale).toFixed(3), unclassified_nonequeue_us: '0.000' }),
    table([['link', 'string']], [['Enqueuing data: you may want to combine small input data chunks into fewer but larger chunks.'], ['Data preprocessing: you may increase num_parallel_calls in <a href="https://www.tensorflow.org/api_docs/python/tf/data/Dataset#map" target="_blank">Dataset map()</a> or preprocess the data OFFLINE.']]),
    table([['severity', 'string'], ['message', 'string']], []),
  ];
}

const EVENTS = ['Device compute', 'Device to device', 'Device collective communication', 'Host compute', 'Kernel launch', 'Input', 'Output', 'Compilation', 'All others'];

function podViewer(run, only) {
  const map = run.steps.map(({ name, hosts }) => ({
    allReduceOpDb: [], channelDb: [], coreIdToReplicaIdMap: {}, stepNum: Number(name),
    podStatsPerCore: Object.fromEntries(hosts.map((values, index) => [String(index * 1000 + 1), {
      bottleneck: EVENTS[values.indexOf(Math.max(...values))], chipId: 0, nodeId: 0, hostName: run.html && index === 0 ? HTML : run.hosts[index], stepNum: Number(name),
      stepBreakdownUs: Object.fromEntries(values.map((value, at) => [String(at + 1), value * 1000])), totalDurationUs: values.reduce((a, b) => a + b, 0) * 1000,
    }]).filter((_entry, index) => only === null || run.hosts[index] === only)),
  }));
  return {
    deviceType: run.device, podStatsSequence: { podStatsMap: map }, stepBreakdownEvents: EVENTS.map((name, index) => ({ id: index + 1, name })),
    diagnostics: { info: [], warnings: map.length === 0 ? ['No step marker observed and hence the step time is unknown.'] : [], errors: [] },
    ...(run.modules && map.length === 0 ? { moduleSteps: run.modules } : {}), ...(run.module ? { stepSource: 'module', stepModule: run.module } : {}),
  };
}

function makeRun({ hosts = 4, steps = 40, first = 120, scale = 1, seed = 7, cpu = false, device = 'Nvidia GPU (Volta)', names = (index) => `worker${index}`, ...more } = {}) {
  const rnd = random(seed);
  return {
    scale, cpu, device: cpu ? 'CPU' : device, html: false, tpu: 0, ...more, hosts: Array.from({ length: hosts }, (_, index) => names(index)),
    steps: Array.from({ length: steps }, (_, index) => ({
      name: String(first + index),
      // The third host waits for its input more than the others do.
      hosts: Array.from({ length: hosts }, (_host, host) => categories(rnd, { scale: scale * (host === 2 ? 1.02 : 1), cpu, slow: [11, 12, 27].includes(index) || (host === 2 && index % 3 === 0) })),
    })),
  };
}

export const RUNS = {
  'resnet50/2026_11_20_09_14_02': makeRun(),
  'resnet50/2026_11_19_18_02_41': makeRun({ scale: 1.07, seed: 3 }),
  'marks/none': makeRun({ steps: 0, hosts: 1, modules: 12 }),
  'gpu/failed': makeRun({ steps: 0, hosts: 1, failure: 'host0: Failed to load libcupti', activity: { device_state: 'not_recorded', device_statement: 'No activity of the GPU was recorded.' } }),
  'gpu/idle': makeRun({ steps: 0, hosts: 1, device: 'AMD GPU - gfx942', activity: { device_state: 'idle', device_idle_percent: '90.5%', device_wait_percent: '0.0%', device_statement: '1 of 8 GPUs was used, and was idle for 90.5% of the captured time.' } }),
  'cpu/one': makeRun({ hosts: 1, steps: 12, first: 0, cpu: true, names: () => 'laptop.local' }),
  'tpu/slice': makeRun({ steps: 24, hosts: 1, first: 0, tpu: 24, device: 'TPU v4', names: () => 'host0' }),
  'big/pod': makeRun({ hosts: 1000, steps: 60, names: (index) => `node-${String(index).padStart(4, '0')}.cluster` }),
  'long/one': makeRun({ hosts: 1, steps: 6000, first: 0 }),
  'names/html': makeRun({ steps: 6, html: true, hosts: 2, inference: true }),
};
const TOOLS = ['overview_page', 'input_pipeline_analyzer', 'framework_op_stats', 'kernel_stats', 'pod_viewer'];

function answer(path, query, tools) {
  const names = Object.keys(RUNS);
  const run = RUNS[query.get('run')];
  const host = query.get('host');
  if (path === '/run_list') return { logdir: 'runs', version: '0', problem: null, runs: names.map((name, index) => ({ run: name, hosts: RUNS[name].hosts, files: RUNS[name].hosts.length, bytes: 2e7, time_ms: 1.7e12 - index * 1e7, time_from: 'file', modified_ms: 1.7e12 - index * 1e7 })) };
  if (path === '/tools') return tools.map((tool) => ({ ...tool, available: tool.name !== 'kernel_stats' || run?.cpu !== true, reason: 'No GPU was recorded.', hosts: run?.hosts ?? [] }));
  if (run === undefined) return null;
  if (path === '/run_tools') return TOOLS;
  if (path === '/run_info') return { run: query.get('run'), bytes: 2e7, device_type: run.device, device_count: run.hosts.length * 8 };
  if (path === '/diagnostics') return { entries: run.failure ? [{ severity: 'error', host: run.hosts[0], message: run.failure, hint: 'put CUPTI on LD_LIBRARY_PATH' }] : [], captures: run.hosts.filter((name) => host === null || name === host).slice(0, 8).map((name) => ({ host: name, bytes: 78_000_000, planes: 3, lines: 20, events: 2_607_971, duration_ms: 5200 })) };
  if (path !== '/data') return null;
  const at = host === null ? 0 : Math.max(0, run.hosts.indexOf(host));
  const own = host === null ? { ...run } : { ...run, hosts: [host], steps: run.steps.map((step) => ({ ...step, hosts: [step.hosts[at]] })) };
  const tag = query.get('tag');
  // Executions of a module are steps once somebody asks for them.
  if (query.get('steps_of') === 'slowest' && host === null && run.tpu === 0) own.shown = slowestHost(run);
  const used = query.get('step_source') === 'module' && run.modules > 0 ? { ...own, module: 'jit_train_step(7)', steps: makeRun({ hosts: 1, steps: run.modules }).steps } : own;
  if (tag === 'overview_page') return overview(used);
  if (tag === 'input_pipeline_analyzer') return inputPipeline(used);
  if (tag === 'pod_viewer') return podViewer({ ...used, hosts: run.hosts, steps: used.module ? used.steps : run.steps }, host);
  return tag === 'kernel_stats' ? table([['rank', 'number'], ['kernel_name', 'string']], []) : [table([['rank', 'number']], []), table([['rank', 'number']], [])];
}

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/** Serves the built page in `dir` and the answers above; resolves to its address. */
export function serve(dir, port = 0) {
  const tools = toolsOf(dir, TOOLS);
  const server = createServer((request, response) => {
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
    const body = answer(url.pathname, url.searchParams, tools);
    const told = body ?? { error: { code: 'not_found', message: 'there is no such thing' } };
    note(url.pathname.slice(1), url.searchParams, body === null ? 404 : 200, told);
    const text = JSON.stringify(told);
    const tag = `"${createHash('sha1').update(text).digest('hex')}"`;
    response.setHeader('Content-Type', 'application/json').setHeader('ETag', tag);
    if (request.headers['if-none-match'] === tag) response.writeHead(304).end();
    else response.writeHead(body === null ? 404 : 200).end(text);
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve({ url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() })));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve(process.argv[2], Number(process.argv[3] ?? 0));
  console.log(url);
}
