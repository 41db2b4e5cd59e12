// SPDX-License-Identifier: Apache-2.0
// The list of runs, kept fresh while it is looked at.

import { ApiError, getJson, isAbort, type RunList, type RunSummary } from './api';

const INTERVAL_MS = 5000;
/**
 * The server looks at every run's folder: 10,000 are asked for every 20 s, which is some 0.4 % of a
 * processor.
 */
const INTERVAL_MS_A_RUN = 2;

/**
 * The other runs of the same kind as one would compare with them: the nearest in time first; of two as near, the
 * newer one.
 */
export function nearest(runs: readonly RunSummary[], to: string): RunSummary[] {
  const own = runs.find(({ run }) => run === to);
  const away = (run: RunSummary): number =>
    own === undefined ? 0 : Math.abs(run.time_ms - own.time_ms);
  return runs
    .filter(({ run, kind }) => run !== to && (kind ?? 'capture') === (own?.kind ?? 'capture'))
    .sort((a, b) => away(a) - away(b) || b.time_ms - a.time_ms || (a.run < b.run ? -1 : 1));
}

export class Runs {
  list: RunList | null = null;
  error: ApiError | null = null;
  private readonly listeners = new Set<() => void>();
  private readonly watchers = new Set<{ every: number }>();
  private timer: number | undefined;
  private pending: Promise<void> | null = null;

  constructor() {
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible' && this.watchers.size > 0) void this.refresh();
    });
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Polls until the returned function is called; less often by a factor while the list itself is
   * not in sight.
   */
  watch(every = 1): () => void {
    const watcher = { every };
    this.watchers.add(watcher);
    this.schedule();
    return () => {
      this.watchers.delete(watcher);
      this.schedule();
    };
  }

  refresh(): Promise<void> {
    this.pending ??= this.load().finally(() => {
      this.pending = null;
      this.schedule();
    });
    return this.pending;
  }

  private async load(): Promise<void> {
    try {
      const list = await getJson<RunList>('run_list');
      const same = this.error === null && JSON.stringify(list) === JSON.stringify(this.list);
      this.list = list;
      this.error = null;
      if (same) return;
    } catch (error) {
      if (isAbort(error)) return;
      this.error = error instanceof ApiError ? error : new ApiError('internal', String(error));
    }
    for (const listener of [...this.listeners]) listener();
  }

  private schedule(): void {
    window.clearTimeout(this.timer);
    if (this.watchers.size === 0) return;
    const every = Math.min(...[...this.watchers].map((watcher) => watcher.every));
    this.timer = window.setTimeout(
      () => {
        if (document.visibilityState === 'visible') void this.refresh();
      },
      every * Math.max(INTERVAL_MS, INTERVAL_MS_A_RUN * (this.list?.runs.length ?? 0)),
    );
  }
}
