// SPDX-License-Identifier: Apache-2.0
// The pure part of the capture dialog: node tests/web/capture_unit.mjs

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './modules.mjs';

const capture = await load('core/capture');

const form = (more) => ({ ...capture.DEFAULTS, addresses: 'a:1', ...more });
const problemsOf = (more, allowed = null) => Object.keys(capture.readForm(form(more), allowed).problems);

test('addresses, as the server reads them', () => {
  const good = { 'localhost:6009': 'localhost:6009', 'grpc://A.b-c:1/': 'a.b-c:1', '[::1]:9': '[::1]:9', 'my_box:80': 'my_box:80' };
  for (const [text, target] of Object.entries(good)) assert.deepEqual(capture.parseAddresses(text), { targets: [target], problem: null });
  assert.deepEqual(capture.parseAddresses('grpc://a:1, grpc://b:2,').targets, ['a:1', 'b:2']);
  for (const bad of ['', ' , ', 'a', 'a:', 'a:0', 'a:65536', ':1', '::1:6009', '[::1]', '[x]:1', 'a/b:1', 'http://a:1', 'a b:1', 'a:1,a:1', 'a:1,A:1', '.a:1', '-a:1', 'a:1/']) {
    assert.notEqual(capture.parseAddresses(bad).problem, null, bad);
  }
  assert.notEqual(capture.parseAddresses(Array.from({ length: 65 }, (_, i) => `a:${i + 1}`).join()).problem, null);
});

test('fields are checked as they are typed', () => {
  assert.deepEqual(problemsOf({}), []);
  for (const durationMs of ['', '0', '-1', '1.5', '1e3', '3600001', 'x']) assert.deepEqual(problemsOf({ durationMs }), ['durationMs'], durationMs);
  assert.deepEqual(problemsOf({ delayMs: '-1' }), ['delayMs']);
  assert.deepEqual(problemsOf({ retries: '101' }), ['retries']);
  assert.deepEqual(problemsOf({ name: '../x' }), ['name']);
  assert.deepEqual(problemsOf({ options: 'novalue' }), ['options']);
  assert.deepEqual(problemsOf({ options: 'a=1\na=2' }), ['options']);
  assert.deepEqual(problemsOf({ addresses: 'b:2' }, ['a:1', 'c']), ['addresses']);
  assert.deepEqual(problemsOf({ addresses: 'c:9,a:1' }, ['a:1', 'c']), []);
});

test('the command line says the same, in a shell’s words', () => {
  const line = (more, logdir = 'runs') => capture.commandLine(capture.readForm(form(more), null).request, logdir);
  assert.equal(line({}), 'tfprof capture a:1 --logdir runs --duration 1000ms');
  assert.equal(line({ durationMs: '2500', delayMs: '10', retries: '3', host: '3', device: '0', python: '1', name: 'n', options: 'k=a b\nx=it\'s' }, '/my logs'),
    "tfprof capture a:1 --logdir '/my logs' --duration 2500ms --delay 10ms --retries 3 --host-level 3 --device-level 0 --python-level 1 --name n --option 'k=a b' --option 'x=it'\\''s'");
  assert.equal(line({ addresses: '[::1]:1' }), "tfprof capture '[::1]:1' --logdir runs --duration 1000ms");
  assert.equal(capture.shellWord('$(x)'), "'$(x)'");
});

test('every level says what it costs', () => {
  for (const [tracer, levels] of Object.entries(capture.LEVELS)) for (const { value } of levels) assert.ok(capture.costOf(tracer, value).length > 10);
});

const status = (more) => ({ id: 1, done: false, run: null, error: null, attempt: 1, retries: 0, elapsed_ms: 0, duration_ms: 1000, delay_ms: 500, hosts: [], ...more });
const host = (more) => ({ target: 'a:1', state: 'asked', bytes: 0, code: null, busy: false, message: null, hint: null, command: null, ...more });
const line = (h, s) => capture.hostLine(host(h), status(s), (n) => `${n} B`);

test('a program’s line tells what it does', () => {
  assert.equal(line({}, { elapsed_ms: 100 }).text, 'begins in 0.4 s');
  assert.equal(line({}, { elapsed_ms: 1000 }).text, 'recording, 0.5 s left');
  assert.equal(line({}, { elapsed_ms: 1000 }).share, 0.5);
  assert.equal(line({}, { elapsed_ms: 2000 }).share, null);
  assert.equal(line({ state: 'receiving', bytes: 7 }, {}).text, 'receiving, 7 B so far');
  assert.equal(line({ state: 'connecting' }, { attempt: 2, retries: 3 }).text, 'connecting again, try 2 of 4');
  assert.deepEqual(line({ state: 'failed', message: 'no' }, {}), { text: 'no', tone: 'bad', share: 0 });
});

test('the end in one sentence', () => {
  const end = (states, error = null) => capture.conclusion(status({ done: true, error, hosts: states.map((state) => host({ state })) }));
  assert.equal(end(['stored']), 'Captured');
  assert.equal(end(['stored', 'stored']), 'Captured from all 2 programs');
  assert.equal(end(['stored', 'failed']), 'Captured from 1 of 2 programs');
  assert.equal(end(['failed'], { code: 'io', message: 'x', hint: null }), 'Nothing was captured');
  assert.equal(end(['cancelled'], { code: 'io', message: 'x', hint: null }), 'Cancelled');
});
