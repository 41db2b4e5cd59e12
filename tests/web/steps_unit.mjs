// SPDX-License-Identifier: Apache-2.0
// The pure parts of the pages about steps: node tests/web/steps_unit.mjs

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import test from 'node:test';
import { load } from './modules.mjs';
import { webDir } from './support.mjs';

const steps = await load('core/steps');
const advice = await load('core/advice');
const pod = await load('core/pod');
const devices = await load('core/devices');

const table = (columns, rows, p = {}) => ({ cols: columns.map((id) => ({ id, label: id, type: 'number' })), rows: rows.map((row) => ({ c: row.map((v) => ({ v })) })), p });
const GENERIC = ['stepnum', 'deviceComputeTimeMs', 'hostComputeTimeMs', 'infeedTimeMs', 'stepTimeMs'];

test('a range of steps is read from names and numbers', () => {
  const names = ['3', '4', '5', '8', '9'];
  assert.deepEqual(steps.parseRange('4-8', names), { from: 1, to: 3 });
  assert.deepEqual(steps.parseRange('8-4', names), { from: 1, to: 3 });
  assert.deepEqual(steps.parseRange('5', names), { from: 2, to: 2 });
  assert.deepEqual(steps.parseRange('6-100', names), { from: 3, to: 4 }, 'a range of another run reaches beyond');
  assert.equal(steps.parseRange('100-200', names), null);
  assert.equal(steps.parseRange('', names), null);
  assert.equal(steps.parseRange('x', names), null);
  assert.deepEqual(steps.parseRange('a-1-b-2', ['a-1', 'x', 'b-2']), { from: 0, to: 2 }, 'names with a hyphen');
});

test('steps with a name are also found by their number', () => {
  const names = ['train 7', 'train 8', 'train 9', 'eval'];
  assert.equal(steps.findStep('train 8', names), 1);
  assert.equal(steps.findStep('8', names), 1);
  assert.equal(steps.findStep('train 8', ['7', '8']), 1);
  assert.equal(steps.findStep('80', names), -1);
  assert.equal(steps.findStep('', names), -1);
  assert.deepEqual(steps.parseRange('8-20', names), { from: 1, to: 2 });
  assert.deepEqual(steps.parseRange('train 7-train 8', names), { from: 0, to: 1 });
});

test('a range and its text are the same thing', () => {
  const names = ['10', '11', '12', '13'];
  for (const [from, to] of [[0, 1], [2, 2], [1, 3]]) assert.deepEqual(steps.parseRange(steps.formatRange({ from, to }, names), names), { from, to });
  assert.equal(steps.formatRange({ from: 0, to: 3 }, names), '', 'all of them is the default');
});

test('categories and what is missing to the step time add up', () => {
  const data = steps.readSteps(table(GENERIC, [['1', 5, 2, 1, 10], ['2', 5, 2, 1, 8]], { steptime_ms_average: '30.0', steptime_ms_standard_deviation: '-nan' }));
  assert.deepEqual(data.categories.map((category) => category.label), ['Device compute', 'Host compute', 'Input', 'Not broken down']);
  for (const step of data.steps) assert.equal(step.values.reduce((a, b) => a + b, 0), step.total);
  assert.deepEqual(steps.headline(data, null), { mean: 30_000, sd: 0, ofSlowest: true });
  assert.equal(steps.headline(data, { from: 0, to: 0 }).mean, 10_000);
  assert.equal(steps.shareOf(data, null, 'infeed'), 2 / 18);
});

test('rounding is not a category', () => {
  const data = steps.readSteps(table(GENERIC, [['1', 5, 2, 1, 8.0000001]]));
  assert.equal(data.categories.length, 3);
});

test('no table, no steps', () => {
  assert.equal(steps.readSteps(undefined).steps.length, 0);
  assert.equal(steps.readSteps({ cols: [], rows: [] }).steps.length, 0);
});

test('spread, median, fractions', () => {
  assert.deepEqual(steps.spread([1, 3]), { mean: 2, min: 1, max: 3, sd: Math.SQRT2 });
  assert.equal(steps.spread([4]).sd, 0);
  assert.equal(steps.median([5, 1, 3]), 3);
  assert.equal(steps.median([4, 1, 3, 2]), 2.5);
  assert.equal(steps.fraction('12.5%'), 0.125);
  assert.equal(steps.fraction('-nan'), null);
  assert.equal(steps.fraction(undefined), null);
});

test('bars of many steps are means and leave none out', () => {
  const data = steps.readSteps(table(GENERIC, Array.from({ length: 1001 }, (_, index) => [String(index), index, 0, 0, index])));
  const bars = steps.bins(data, { from: 0, to: 1000 }, 100);
  assert.ok(bars.length <= 100);
  assert.equal(bars[0].from, 0);
  assert.equal(bars.at(-1).to, 1000);
  bars.slice(1).forEach((bar, index) => assert.equal(bar.from, bars[index].to + 1));
  assert.equal(bars[0].total, (bars[0].from + bars[0].to) / 2 * 1000);
});

test('verdicts carry number and limits; unknown words stay as they are', () => {
  const of = (text) => advice.inputVerdict(text);
  assert.equal(of('Your program is HIGHLY input-bound because 38.2% of the total').severity, 'error');
  assert.match(of('Your program is MODERATELY input-bound because 7.0% of the total').text, /^7\.0 %/);
  assert.match(of('Your program is POTENTIALLY input-bound because 3.0% of').limits, /3\s%/);
  assert.equal(of('Your program is NOT input-bound because only 0.1% of').severity, 'info');
  assert.match(of('The program is NOT input-bound: it waits for input for only 0.0% of the step time.').text, /^Less than 0\.1\s% of/);
  assert.match(of('The program is NOT input-bound: it waits for input for only 1.2% of the step time.').text, /^Only 1\.2\s% of/);
  assert.equal(advice.plain('13.8% goes to "Kernel launch".'), '13.8\u00a0% goes to “Kernel launch”.');
  assert.equal(of('Something else entirely').text, 'Something else entirely');
  assert.equal(of(''), null);
});

test('a verdict over several hosts is of the host that is named, whatever the others are', () => {
  const hosts = 'This verdict is for b, the slowest of 2 hosts, and holds for no other host; a is HIGHLY input-bound.';
  const verdict = advice.inputVerdict(`The program is NOT input-bound: it waits for input for 1.0% of the step time. ${hosts}`, hosts);
  assert.equal(verdict.head, 'Not input-bound.');
  assert.match(verdict.text, /This verdict is for b, the slowest of 2 hosts, and holds for no other host; a is highly input-bound\.$/);
  const found = { step_hosts: '2', steps_of_host: 'b', slowest_host: 'b', steptime_ms_average: '30.0' };
  assert.equal(steps.stepsOf(found), 'b, the slowest of 2 hosts');
  assert.equal(steps.stepsOf({ ...found, slowest_host: 'a' }), 'b, one of 2 hosts');
  assert.equal(steps.stepsOf({}), '');
  // The tile is of the same host as the bar; that the slowest of each step takes longer is said beside it.
  const data = steps.readSteps(table(GENERIC, [['0', 10, 0, 10, 20], ['1', 10, 0, 12, 22]], found));
  assert.deepEqual([steps.headline(data, null).mean, steps.headline(data, null).ofSlowest], [21_000, false]);
  assert.equal(steps.slowestOfEach(data), 30_000);
});

test('what the device did is said first where it did little, and a wait for copies is no compute', () => {
  const of = (state, statement = 'It was idle.') => advice.deviceVerdict({ device_state: state, device_statement: statement });
  assert.deepEqual(['not_recorded', 'idle', 'waiting'].map((state) => of(state).severity), ['error', 'warning', 'warning']);
  assert.match(of('idle').text, /It was idle\./);
  assert.deepEqual([of('busy'), of('none', ''), advice.deviceVerdict({})], [null, null, null]);
  const [idle] = advice.advice({ device_state: 'idle', bottleneck: 'unknown' });
  assert.equal(idle.link.tool, 'trace_viewer');
  const [waits] = advice.advice({ device_state: 'busy', device_wait_percent: '96.5%' });
  assert.match(waits.text, /^96\.5 %.* copies/);
  assert.equal(devices.hasTensorCores('AMD GPU - gfx942'), false);
  assert.equal(devices.hasTensorCores('Nvidia GPU (Pascal)'), false);
  assert.equal(devices.hasTensorCores('Nvidia GPU (Volta)'), true);
  assert.equal(devices.tellsPrecision('AMD GPU - gfx942'), false);
});

test('hosts are called as their files where the profiler gave all of them one name', () => {
  const data = pod.readPod({ hosts: ['a', 'b'], podStatsSequence: { podStatsMap: [{ stepNum: 0, podStatsPerCore: { 1: { hostName: 'localhost', totalDurationUs: 1 }, 1001: { hostName: 'localhost', totalDurationUs: 2 } } }] } });
  assert.deepEqual(data.cores.map(({ label, host }) => [label, host]), [['a', 'a'], ['b', 'b']]);
});

test('advice leads to evidence and says nothing where nothing was said', () => {
  assert.deepEqual(advice.advice({}), []);
  const [eager] = advice.advice({ eager_statement: '20.0% of Op time on the device used eager execution.' });
  assert.deepEqual([eager.link.tool, eager.link.params.dev], ['framework_op_stats', 'device']);
  const [precise] = advice.advice({ precision_statement: 'Only 3.0% of device computation is 16 bit.' });
  assert.deepEqual(precise.link.params, { 'f.eligible': 'yes', 'f.uses': 'no' });
});

test('tips become text, pages, and documents of tensorflow.org only', () => {
  const named = (name) => ({ trace_viewer: 'trace_viewer', tf_stats: 'framework_op_stats' })[name] ?? null;
  assert.deepEqual(advice.pieces('see trace_viewer (x_y)', named), [{ text: 'see ' }, { text: 'trace_viewer', tool: 'trace_viewer' }, { text: ' (x_y)' }]);
  assert.deepEqual(advice.pieces('tf_stats, not tf_stats2', named), [{ text: 'tf_stats', tool: 'framework_op_stats' }, { text: ', not tf_stats2' }]);
  assert.deepEqual(advice.pieces('a <a href="https://www.tensorflow.org/guide/data" target="_blank">b</a>', named), [{ text: 'a ' }, { text: 'b', href: 'https://www.tensorflow.org/guide/data' }]);
  for (const text of ['<a href="https://evil.example/">b</a>', '<a href="javascript:alert(1)">b</a>', '<script>x</script>']) assert.deepEqual(advice.pieces(text, named), [{ text }]);
});

const record = (host, input, more = {}) => ({ hostName: host, totalDurationUs: 100 + input, stepBreakdownUs: { 1: 100, 6: input }, ...more });
const answer = (...list) => ({ podStatsSequence: { podStatsMap: list.map((cores, index) => ({ stepNum: index, podStatsPerCore: cores })) } });

test('cores are in order of their numbers, missing ones stay empty, names lose their common domain', () => {
  const data = pod.readPod(answer({ 1001: record('b.example.org', 5), 1: record('a.example.org', 5) }, { 1: record('a.example.org', 9) }));
  assert.deepEqual(data.cores.map(({ id, short }) => [id, short]), [['1', 'a'], ['1001', 'b']]);
  assert.ok(Number.isNaN(pod.cellValue(data, 1, 1, -1)));
  assert.equal(pod.coreTimes(data, 1, 1).length, 1);
});

test('a straggler is named with its reason', () => {
  const data = pod.readPod(answer({ 1: record('a', 10), 1001: record('b', 10), 2001: record('c', 90) }));
  const slow = pod.coreTimes(data, 0, 0).find((row) => row.core === 2);
  assert.equal(slow.excess.metric.label, 'Input');
  assert.equal(slow.excess.by, 80);
  assert.ok(Math.abs(slow.ratio - 190 / 110) < 1e-12);
  assert.equal(slow.bottleneck.label, 'Device compute');
});

test('steps of one host are compared with each other; a total without parts is shown as such', () => {
  const data = pod.readPod(answer({ 1: record('a', 10) }, { 1: record('a', 10) }, { 1: record('a', 60) }, { 1: { hostName: 'a', totalDurationUs: 50, stepBreakdownUs: {} } }));
  const slow = pod.stepTimes(data, 0).sort((a, b) => b.ratio - a.ratio)[0];
  assert.equal(slow.step, 2);
  assert.equal(data.categories.at(-1).label, 'Not broken down');
  assert.equal(pod.cellValue(data, 3, 0, data.categories.length - 1), 50);
});

test('an empty answer has no steps', () => {
  assert.deepEqual(pod.readPod({}).steps, []);
  assert.deepEqual(pod.coreTimes(pod.readPod({}), 0, 0), []);
});

test('tasks, limits and shares are said in words', () => {
  assert.deepEqual([['1 (num tasks per host = 1)', 1], ['2 (num tasks per host = 1)', 2], ['8 (num tasks per host = 4)', 2], ['2 (num tasks per host = 2)', 2], ['0', 0]].map(([text, hosts]) => steps.tasks(text, hosts)), ['1', '2', '8, 4 on each host', '2', '0']);
  const potential = advice.inputVerdict('Your program is POTENTIALLY input-bound because 24.3% of the total step time sampled is spent on \'All Others\' time.');
  assert.equal(potential.limits.replaceAll('\u00a0', ' '), 'Potentially: at least 3 % in “All others”, and less than 5 % waiting for input.');
  const precise = (share) => advice.advice({ precision_statement: `Only ${share}% of the time of device computation is 16-bit: where it is`, device_compute_16bit_percent: `${share}%` })[0].text.replaceAll('\u00a0', ' ');
  assert.equal(precise('0.0'), 'Nothing is computed in 16-bit precision. Where the accuracy allows it, 16-bit operations may be faster.');
  assert.equal(precise('4.2'), 'Only 4.2 % of device compute time is in 16-bit precision. Where the accuracy allows it, 16-bit operations may be faster.');
});

test('texts do without words that people did not understand', async () => {
  const hard = ['Said from', 'to the begin of', 'thousand millions', 'num tasks per host =', 'in the wrong order here', 'Lines of the table', 'in times of the',
    'Let go of the', 'keep their books', 'Without marks it is not known', 'memory that was not there', 'for as many steps', 'Least to most', 'looks again every', 'as soon as that is mended',
    'not laid beside', 'is to be a', 'is to be JSON', 'is no JSON', 'is no number', 'is no address', 'is no socket', 'speaks no', 'anybody who reaches', 'is there twice', 'in a loop of your own', 'of what is in use',
    'Running share', 'can be taken for steps'];
  const top = join(webDir, '..');
  // XProf's own text in its table; pages and terminal show it in other words.
  const kept = { 'src/tools/overview_page.c': ['num tasks per host ='] };
  const textOf = {
    '.ts': (code) => code.replace(/^\s*(\/\/|\/?\*).*$/gm, '').replace(/\/\^.*\$\//g, ''),
    // A string may go on in the next line.
    '.c': (code) => [...code.replace(/"\s*\n\s*"/g, '').replace(/\/\*[^]*?\*\//g, '').matchAll(/"(?:\\.|[^"\\\n])*"/g)].join('\n'),
    '.md': (text) => text,
    '.1': (text) => text.replace(/\n(\.[A-Z]+ )?/g, ' '),
  };
  let files = 0;
  for (const place of ['web/src', 'src', 'docs', 'README.md', 'SECURITY.md', 'CHANGELOG.md']) {
    const below = place.endsWith('.md') ? [''] : await readdir(join(top, place), { recursive: true });
    for (const name of below.map((one) => join(place, one))) {
      const read = textOf[extname(name)];
      if (read === undefined) continue;
      const text = read(await readFile(join(top, name), 'utf8')).toLowerCase();
      files++;
      for (const words of hard) assert.ok((kept[name] ?? []).includes(words) || !text.includes(words.toLowerCase()), `${name}: ${words}`);
    }
  }
  assert.ok(files > 250, `${files} files`);
});

test('a share of 0.0 % is not said to be all there is', () => {
  const verdict = advice.inputVerdict('The program is NOT input-bound: it waits for input for 0.0% of the sampled step time. Reduce the rest.');
  assert.equal(verdict.text, 'Less than 0.1\u00a0% of the step time is spent waiting for input; look at the rest of the step.');
});

test('steps of a module say so, marked ones say nothing', () => {
  assert.equal(steps.sourceText({ step_source: 'module', step_module: 'jit_f(7)' }), 'steps are executions of module jit_f(7)');
  assert.equal(steps.sourceText({ step_source: '' }), '');
  assert(steps.sourceText({ step_source: 'module', step_module: 'x'.repeat(9000) }).length < 120, 'a name of any length has a place');
  assert.equal(pod.readPod({ moduleSteps: 12 }).moduleSteps, '12');
  assert.equal(pod.readPod({}).moduleSteps, null);
  assert.deepEqual(pod.readPod({ stepSource: 'module', stepModule: 'jit_f(7)' }).found, { step_source: 'module', step_module: 'jit_f(7)' });
});

test('shares of waiting are averaged over the steps of a bar, their ends are the outermost', () => {
  const data = steps.readSteps(table(['stepnum', 'tcComputeTimeMs', 'infeedPercentAverage', 'infeedPercentMin', 'infeedPercentMax'], [['0', 1, 10, 5, 20], ['1', 1, 30, 25, 60], ['2', 1, 50, 50, 50]]));
  const [both, last] = steps.infeedBins(data, steps.bins(data, { from: 0, to: 2 }, 2));
  assert.deepEqual(both, { label: '0–1', steps: 2, average: 0.2, min: 0.05, max: 0.6 });
  assert.deepEqual(last, { label: '2', steps: 1, average: 0.5, min: 0.5, max: 0.5 });
});
