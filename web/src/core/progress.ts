// SPDX-License-Identifier: Apache-2.0
// How far the server is with an answer that is awaited.

import { awaited, getJson } from './api';
import { bytes, count, joined } from './format';

export interface Progress {
  state: 'waiting' | 'running';
  stage: 'waiting' | 'reading' | 'grouping' | 'analysing' | 'writing';
  bytes_done: number;
  bytes_total: number;
  events: number;
  hosts_done: number;
  hosts_total: number;
  position: number | null;
}

/** Most answers are there sooner: then no progress is asked for, and nothing flickers. */
const FIRST_MS = 400;
const NEXT_MS = 400;

/**
 * Asks how far the answers are that are awaited under a signal, and tells about the first that is
 * being made, or null where
 * none is. Ends with the signal, when nothing is awaited any more, or by the returned function.
 */
export function watchProgress(
  signal: AbortSignal,
  show: (progress: Progress | null) => void,
): () => void {
  let ended = false;
  let timer: number | undefined;
  const ask = async (): Promise<void> => {
    const addresses = awaited(signal);
    if (ended || signal.aborted || addresses.length === 0) return;
    let found: Progress | null = null;
    for (const of of addresses) {
      // A server that cannot tell is no trouble of its own: the answer will say what is wrong.
      const one = await getJson<Progress | { state: 'none' }>('progress', { of }).catch(() => ({
        state: 'none' as const,
      }));
      if (one.state === 'none') continue;
      found = one;
      break;
    }
    if (ended || signal.aborted) return;
    show(found);
    timer = window.setTimeout(() => void ask(), NEXT_MS);
  };
  timer = window.setTimeout(() => void ask(), FIRST_MS);
  return () => {
    ended = true;
    window.clearTimeout(timer);
  };
}

/** From 0 to 1, or null where it is unknown. */
export function progressFraction(progress: Progress): number | null {
  if (progress.state === 'waiting') return null;
  if (progress.hosts_total > 1) return Math.min(1, progress.hosts_done / progress.hosts_total);
  return progress.stage === 'reading' && progress.bytes_total > 0
    ? Math.min(1, progress.bytes_done / progress.bytes_total)
    : null;
}

const STAGES: Record<Progress['stage'], string> = {
  waiting: 'Waiting for the server',
  reading: 'Reading the capture',
  grouping: 'Grouping events into steps',
  analysing: 'Analysing',
  writing: 'Writing the answer',
};

export function progressText(progress: Progress): string {
  if (progress.state === 'waiting')
    return progress.position === null || progress.position <= 1
      ? 'Next in the queue of the server'
      : `Waiting: number ${count(progress.position)} in the queue of the server`;
  const parts = [STAGES[progress.stage]];
  if (progress.hosts_total > 1)
    parts.push(
      `host ${count(Math.min(progress.hosts_done + 1, progress.hosts_total))} of ${count(progress.hosts_total)}`,
    );
  if (progress.bytes_total > 0)
    parts.push(
      progress.bytes_done < progress.bytes_total
        ? `${joined(bytes(progress.bytes_done))} of ${joined(bytes(progress.bytes_total))}`
        : joined(bytes(progress.bytes_total)),
    );
  if (progress.events > 0) parts.push(`${count(progress.events)} events`);
  return parts.join(' · ');
}
