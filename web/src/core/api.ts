// SPDX-License-Identifier: Apache-2.0
// The server's answers. Addresses are relative to the document: the page may live below any prefix.

import type { GvizTable } from './gviz';

export interface RunSummary {
  run: string;
  /** A graph run is of TensorBoard's event files: of all tools only the profile shows it. */
  kind?: 'capture' | 'graph run';
  hosts: string[];
  files: number;
  bytes: number;
  /** When it was made: runs are listed, sorted and compared by this, newest first. */
  time_ms: number;
  time_from: 'capture' | 'name' | 'file';
  /** When its files changed. */
  modified_ms: number;
}

export interface RunList {
  logdir: string;
  version: string;
  runs: RunSummary[];
  /** What the search came across that a person should know. */
  notes?: string[];
  searched?: { folders: number; files: number; truncated: boolean };
  problem: { message: string; hint?: string; found?: string[] } | null;
}

export interface RunInfo {
  run: string;
  bytes: number;
  device_type: string | null;
  device_count: number | null;
}

/** What a tool can be asked besides run and host; all of a parameter's words are the server's. */
export interface Parameter {
  name: string;
  kind: 'text' | 'count' | 'integer' | 'number' | 'boolean' | 'choice';
  values: string[];
  /** What counts without it; null where the sentence says that. */
  default: string | null;
  sentence: string;
}

export interface Tool {
  name: string;
  title: string;
  summary?: string;
  available?: boolean;
  reason?: string | null;
  hosts?: string[];
  /** Names that older links and other programs use. */
  aliases?: string[];
  /** The letter that opens it after `g`. */
  key?: string | null;
  /** What the search box filters on its page. */
  filter?: string;
  /** Its page speaks of steps, and keeps the chosen ones. */
  shows_steps?: boolean;
  parameters?: Parameter[];
}

/** The tool that goes by a name, also by an older one. */
export function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  return (
    tools.find((tool) => tool.name === name) ??
    tools.find((tool) => tool.aliases?.includes(name) === true)
  );
}

export interface Diagnostic {
  severity: 'error' | 'warning' | 'info';
  host?: string | null;
  message: string;
  hint?: string | null;
  offset?: number | null;
}

export interface CaptureFacts {
  host: string;
  bytes: number;
  planes: number;
  lines: number;
  events: number;
  duration_ms: number;
}

export interface Diagnostics {
  entries: Diagnostic[];
  captures: CaptureFacts[];
}

/**
 * One of the slowest events of a row; start_us from the run's zero, event where the timeline has
 * it.
 */
export interface Slowest {
  host: string;
  plane: string;
  line: string;
  start_us: number;
  duration_us: number;
  event?: string;
}

export interface Instances {
  count: number;
  total_us: number;
  min_us: number;
  mean_us: number;
  median_us: number;
  p95_us: number;
  max_us: number;
  stddev_us: number;
  histogram: { from_us: number; to_us: number; count: number }[];
  slowest: Slowest[];
}

export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
    readonly file: string | null = null,
    readonly offset: number | null = null,
    readonly address = '',
  ) {
    super(message);
  }
}

export type Query = Record<string, string | number | null | undefined>;

/** A relative address; keys without a value are left out. */
export function address(path: string, query: Query = {}): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

function errorFrom(body: unknown, status: number, where: string): ApiError {
  const error = (body as { error?: Record<string, unknown> } | null)?.error;
  if (error !== undefined && typeof error === 'object') {
    const text = (key: string): string | null =>
      typeof error[key] === 'string' ? error[key] : null;
    return new ApiError(
      text('code') ?? `http_${status}`,
      text('message') ?? `The server answered ${status}.`,
      text('hint'),
      text('file'),
      typeof error['offset'] === 'number' ? error['offset'] : null,
      where,
    );
  }
  return new ApiError(`http_${status}`, `The server answered ${status}.`, null, null, null, where);
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Addresses that were asked for and have not answered, by the signal that ends them. */
const pending = new WeakMap<AbortSignal, Set<string>>();

/** Addresses that are still awaited under a signal, the oldest first. */
export function awaited(signal: AbortSignal): string[] {
  return [...(pending.get(signal) ?? [])];
}

export function getJson<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const where = address(path, query);
  // no-cache revalidates by ETag; an unchanged answer comes out of the browser's cache.
  if (signal === undefined) return fetchJson<T>(where, { cache: 'no-cache' });
  const asked = pending.get(signal) ?? new Set<string>();
  pending.set(signal, asked);
  asked.add(where);
  return fetchJson<T>(where, { cache: 'no-cache', signal }).finally(() => asked.delete(where));
}

/** Asks for a change. */
export function postJson<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return fetchJson<T>(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

let signedOut: (() => void) | null = null;

/** Called, once, when the server asks for its token: then no request is answered any more. */
export function onSignedOut(listener: () => void): void {
  signedOut = listener;
}

let heard: (heard: boolean) => void = () => undefined;
let missing: () => void = () => undefined;

/** Called for every request: whether the server could answer it. */
export function onHeard(listener: (heard: boolean) => void): void {
  heard = listener;
}

/** Called when the server says that what was asked about is not there. */
export function onMissing(listener: () => void): void {
  missing = listener;
}

function noAnswer(where: string): ApiError {
  return new ApiError(
    'network',
    'The server did not answer.',
    'Is tfprof-server still running, and is this machine still connected to it?',
    null,
    null,
    where,
  );
}

/** The statuses by which a proxy reports that the server is not there. */
const PROXY_STATUS = [502, 503, 504];
/** A machine that went away says nothing at all. */
const HEALTH_MS = 8000;

/** Whether the server answers and can do its work: null, or what is wrong. */
export async function health(): Promise<{ kind: 'silent' | 'unwell'; error: ApiError } | null> {
  const where = 'healthz';
  try {
    const response = await fetch(where, {
      cache: 'no-store',
      signal: AbortSignal.timeout(HEALTH_MS),
    });
    if (response.ok || !PROXY_STATUS.includes(response.status)) return null;
    const body: unknown = await response.json().catch(() => null);
    return (body as { error?: unknown } | null)?.error === undefined
      ? { kind: 'silent', error: noAnswer(where) }
      : { kind: 'unwell', error: errorFrom(body, response.status, where) };
  } catch {
    return { kind: 'silent', error: noAnswer(where) };
  }
}

async function fetchJson<T>(where: string, init: RequestInit): Promise<T> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(where, init);
  } catch (error) {
    if (isAbort(error)) throw error;
    heard(false);
    throw noAnswer(where);
  }
  try {
    body = await response.json();
  } catch (error) {
    if (isAbort(error)) throw error;
    // An answer that breaks off is none.
    if (error instanceof TypeError || PROXY_STATUS.includes(response.status)) {
      heard(false);
      throw noAnswer(where);
    }
    heard(true);
    if (!response.ok) throw errorFrom(null, response.status, where);
    throw new ApiError(
      'bad_answer',
      'The answer is not JSON.',
      'Something between this page and the server may have changed it.',
      null,
      null,
      where,
    );
  }
  const error = response.ok ? null : errorFrom(body, response.status, where);
  // Without its directory the server can say no more than without itself.
  heard(error?.code !== 'unavailable');
  if (response.status === 404) missing();
  if (response.status === 401) {
    signedOut?.();
    signedOut = null;
  }
  if (error !== null) throw error;
  return body as T;
}

/** The tables of a tool; some tools answer with one table, some with several. */
export async function getTables(query: Query, signal?: AbortSignal): Promise<GvizTable[]> {
  const body = await getJson<GvizTable | GvizTable[]>('data', { ...query, limit: 0 }, signal);
  return Array.isArray(body) ? body : [body];
}
