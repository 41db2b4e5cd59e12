// SPDX-License-Identifier: Apache-2.0
// What the capture dialog knows without a document: fields, their checks, words, the command that
// does the same.

export interface CaptureForm {
  addresses: string;
  durationMs: string;
  delayMs: string;
  retries: string;
  host: string;
  device: string;
  python: string;
  name: string;
  options: string;
}

/**
 * The peers' own defaults, but for the retries of their dialog, which would disturb a program that
 * is at work.
 */
export const DEFAULTS: CaptureForm = {
  addresses: '',
  durationMs: '1000',
  delayMs: '0',
  retries: '0',
  host: '2',
  device: '1',
  python: '0',
  name: '',
  options: '',
};

const LIMIT_MS = 3_600_000;
const MAX_TARGETS = 64;

export interface Level {
  value: string;
  label: string;
  /** What it records, and what that costs the program. */
  cost: string;
}

export const LEVELS: Record<'host' | 'device' | 'python', Level[]> = {
  host: [
    {
      value: '0',
      label: 'off',
      cost: 'Nothing from the CPU: no steps, no input pipeline, no memory profile. Almost no overhead.',
    },
    {
      value: '1',
      label: 'marked',
      cost: 'Only what the program marks itself, such as its steps. Low overhead; memory profile and tf.data stay empty.',
    },
    {
      value: '2',
      label: 'operations',
      cost: 'Also the larger operations. Most pages need this level, and it is the default of profilers.',
    },
    {
      value: '3',
      label: 'all',
      cost: 'Also the smallest operations. Captures are much larger, and a program with many small operations slows down noticeably.',
    },
  ],
  device: [
    { value: '0', label: 'off', cost: 'Nothing from the GPU or TPU: no kernels, no device time.' },
    {
      value: '1',
      label: 'on',
      cost: 'Kernels, copies and device time. Most pages of a GPU or TPU need this level.',
    },
  ],
  python: [
    { value: '0', label: 'off', cost: 'No Python calls.' },
    {
      value: '1',
      label: 'on',
      cost: 'Every Python call. This slows the program, fills its memory, and makes captures many times larger. Keep the duration short.',
    },
  ],
};

/** A level's sentence. */
export function costOf(tracer: keyof typeof LEVELS, value: string): string {
  return LEVELS[tracer].find((level) => level.value === value)?.cost ?? '';
}

function readAddress(text: string): string | { problem: string } {
  const bare = text
    .replace(/^grpc:\/\//i, '')
    .replace(/\/$/, (slash) => (/^grpc:\/\//i.test(text) ? '' : slash));
  const match = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(bare);
  if (match === null) {
    if (/^[^:[\]]*$/.test(bare))
      return { problem: 'the port is missing; write it as in localhost:6009' };
    if (/^[0-9a-f:]*:[0-9a-f:]*:/i.test(bare))
      return { problem: 'an IPv6 address needs brackets, as in [::1]:6009' };
    return { problem: 'give host:port, as in localhost:6009' };
  }
  const [, host = '', port = ''] = match;
  if (host === '') return { problem: 'the host is missing' };
  if (Number(port) < 1 || Number(port) > 65535)
    return { problem: 'a port is a number from 1 to 65535' };
  const six = host.startsWith('[');
  if (
    six
      ? !/^\[[0-9a-f.:]+\]$/i.test(host) || !host.includes(':')
      : !/^[a-z0-9_][a-z0-9._-]*$/i.test(host)
  )
    return { problem: `“${host}” is not a host` };
  return `${host.toLowerCase()}:${Number(port)}`;
}

/** The addresses of a list, or what is wrong with it; the server looks again. */
export function parseAddresses(text: string): { targets: string[]; problem: string | null } {
  const targets: string[] = [];
  for (const part of text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')) {
    const read = readAddress(part);
    if (typeof read !== 'string') return { targets, problem: `${part}: ${read.problem}` };
    if (targets.includes(read)) return { targets, problem: `${read} is given twice` };
    targets.push(read);
  }
  if (targets.length === 0)
    return { targets, problem: 'Give the address of a running program, as host:port' };
  if (targets.length > MAX_TARGETS) return { targets, problem: `At most ${MAX_TARGETS} programs` };
  return { targets, problem: null };
}

/** Lines of KEY=VALUE. */
export function parseOptions(text: string): {
  options: Record<string, string>;
  problem: string | null;
} {
  const options: Record<string, string> = {};
  for (const line of text
    .split('\n')
    .map((one) => one.trim())
    .filter((one) => one !== '')) {
    const at = line.indexOf('=');
    if (at < 1) return { options, problem: `“${line}” is not KEY=VALUE` };
    const key = line.slice(0, at).trim();
    if (key in options) return { options, problem: `${key} is given twice` };
    options[key] = line.slice(at + 1).trim();
  }
  return { options, problem: null };
}

function parseWhole(
  text: string,
  from: number,
  to: number,
  what: string,
): { value: number; problem: string | null } {
  const value = Number(text);
  return {
    value,
    problem: /^\d+$/.test(text.trim()) && value >= from && value <= to ? null : what,
  };
}

export type Problems = Partial<Record<keyof CaptureForm, string>>;

export interface CaptureRequest {
  service_addr: string;
  duration: number;
  delay: number;
  num_retry: number;
  host_tracer_level: number;
  device_tracer_level: number;
  python_tracer_level: number;
  session: string;
  options: Record<string, string>;
}

/**
 * What to send, and what is wrong with the fields. `allowed`: the only addresses this server asks,
 * if it says so.
 */
export function readForm(
  form: CaptureForm,
  allowed: readonly string[] | null,
): { request: CaptureRequest; targets: string[]; problems: Problems } {
  const problems: Problems = {};
  const { targets, problem } = parseAddresses(form.addresses);
  const refused =
    allowed === null
      ? undefined
      : targets.find(
          (one) => !allowed.includes(one) && !allowed.includes(one.replace(/:\d+$/, '')),
        );
  if (problem !== null) problems.addresses = problem;
  else if (refused !== undefined)
    problems.addresses = `This server is not allowed to connect to ${refused}`;
  const duration = parseWhole(form.durationMs, 1, LIMIT_MS, 'From 1 to 3,600,000 ms');
  const delay = parseWhole(form.delayMs, 0, LIMIT_MS, 'From 0 to 3,600,000 ms');
  const retries = parseWhole(form.retries, 0, 100, 'From 0 to 100');
  const options = parseOptions(form.options);
  if (duration.problem !== null) problems.durationMs = duration.problem;
  if (delay.problem !== null) problems.delayMs = delay.problem;
  if (retries.problem !== null) problems.retries = retries.problem;
  if (options.problem !== null) problems.options = options.problem;
  if (!/^[\w.-]*$/.test(form.name)) problems.name = 'Letters, digits, “.”, “_” and “-” only';
  return {
    targets,
    problems,
    request: {
      service_addr: targets.join(','),
      duration: duration.value,
      delay: delay.value,
      num_retry: retries.value,
      host_tracer_level: Number(form.host),
      device_tracer_level: Number(form.device),
      python_tracer_level: Number(form.python),
      session: form.name,
      options: options.options,
    },
  };
}

/** One word of a shell's command line. */
export function shellWord(text: string): string {
  return /^[\w.,:/=@%+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
}

/** The command that does the same; defaults are left out. */
export function commandLine(request: CaptureRequest, logdir: string): string {
  const words = [
    'tfprof',
    'capture',
    request.service_addr === '' ? 'HOST:PORT' : request.service_addr,
    '--logdir',
    logdir,
    '--duration',
    `${request.duration}ms`,
  ];
  const add = (name: string, value: number | string, usual: number | string): void => {
    if (value !== usual) words.push(name, String(value));
  };
  add('--delay', request.delay === 0 ? '' : `${request.delay}ms`, '');
  add('--retries', request.num_retry, 0);
  add('--host-level', request.host_tracer_level, 2);
  add('--device-level', request.device_tracer_level, 1);
  add('--python-level', request.python_tracer_level, 0);
  add('--name', request.session, '');
  for (const [key, value] of Object.entries(request.options))
    words.push('--option', `${key}=${value}`);
  return words.map(shellWord).join(' ');
}

// ---- what the server says of a capture ----

export interface CaptureHost {
  target: string;
  state:
    | 'connecting'
    | 'asked'
    | 'receiving'
    | 'stored'
    | 'empty'
    | 'elsewhere'
    | 'failed'
    | 'cancelled';
  bytes: number;
  code: string | null;
  busy: boolean;
  message: string | null;
  hint: string | null;
  command: string | null;
}

export interface CaptureStatus {
  id: number;
  done: boolean;
  run: string | null;
  error: { code: string; message: string; hint: string | null } | null;
  attempt: number;
  retries: number;
  elapsed_ms: number;
  duration_ms: number;
  delay_ms: number;
  hosts: CaptureHost[];
}

export interface CaptureOverview {
  allowed: boolean;
  reason: { code: string; message: string; hint: string | null } | null;
  targets: string[] | null;
  running: number[];
  logdir: string;
}

export interface HostLine {
  text: string;
  tone: 'quiet' | 'good' | 'bad';
  /** 0 to 1; null where it cannot be known. */
  share: number | null;
}

const seconds = (ms: number): string =>
  ms >= 9950 ? `${Math.round(ms / 1000)} s` : `${(ms / 1000).toFixed(1)} s`;

/** What a program is doing, in words. `size` prints bytes. */
export function hostLine(
  host: CaptureHost,
  status: CaptureStatus,
  size: (bytes: number) => string,
): HostLine {
  const { elapsed_ms: elapsed, delay_ms: delay, duration_ms: duration } = status;
  switch (host.state) {
    case 'connecting':
      return {
        text:
          status.attempt > 1
            ? `connecting again, try ${status.attempt} of ${status.retries + 1}`
            : 'connecting',
        tone: 'quiet',
        share: 0,
      };
    case 'asked':
      if (elapsed < delay)
        return { text: `begins in ${seconds(delay - elapsed)}`, tone: 'quiet', share: 0 };
      if (elapsed < delay + duration)
        return {
          text: `recording, ${seconds(delay + duration - elapsed)} left`,
          tone: 'quiet',
          share: (elapsed - delay) / duration,
        };
      return { text: 'recorded; the program is preparing its profile', tone: 'quiet', share: null };
    case 'receiving':
      return { text: `receiving, ${size(host.bytes)} so far`, tone: 'quiet', share: null };
    case 'stored':
      return { text: `stored, ${size(host.bytes)}`, tone: 'good', share: 1 };
    case 'cancelled':
      return { text: 'cancelled', tone: 'quiet', share: 0 };
    case 'empty':
    case 'elsewhere':
    case 'failed':
      return { text: host.message ?? host.state, tone: 'bad', share: 0 };
  }
}

/** One sentence for the whole, once it has ended. */
export function conclusion(status: CaptureStatus): string {
  const stored = status.hosts.filter((host) => host.state === 'stored').length;
  if (status.error !== null)
    return stored > 0
      ? 'Captured, but not stored'
      : status.hosts.some((host) => host.state === 'cancelled')
        ? 'Cancelled'
        : 'Nothing was captured';
  if (stored === status.hosts.length)
    return stored === 1 ? 'Captured' : `Captured from all ${stored} programs`;
  return `Captured from ${stored} of ${status.hosts.length} programs`;
}
