// SPDX-License-Identifier: Apache-2.0
// Whether the server still answers. A page that requests nothing would not notice, so it asks for a
// sign of life.

import { health, onHeard, type ApiError } from './api';

/** After an answer the server is taken to be there for so long. */
const QUIET_MS = 4000;
/** How often one that was lost is looked for. */
const SEARCH_MS = 2000;
/** A request that fails though the server is there is made anew by itself at most this often. */
const AGAIN_MS = 30_000;

export interface Trouble {
  /** It does not answer; or it does, and says that it cannot do its work. */
  kind: 'silent' | 'unwell';
  error: ApiError;
}

/**
 * Told whether the server was away, or only a request failed; true when the caller need not do
 * anything.
 */
type Returned = (wasAway: boolean) => boolean;

export class Connection {
  trouble: Trouble | null = null;
  private readonly listeners = new Set<() => void>();
  private returns: Returned[] = [];
  private timer: number | undefined;
  private asking = false;
  /** Requests of the page failed since it last was whole. */
  private failed = false;
  private renewed = -Infinity;

  start(): void {
    onHeard((heard) => {
      if (heard) {
        if (this.trouble === null && !this.failed) this.schedule(QUIET_MS);
        return;
      }
      this.lost();
    });
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') void this.look();
    });
    this.schedule(QUIET_MS);
  }

  /** Called when the trouble changes. */
  subscribe(listener: () => void): void {
    this.listeners.add(listener);
  }

  /**
   * Called when the server is back and something on the page failed meanwhile, the last listener
   * first; the returned function takes it back.
   */
  onReturn(listener: Returned): () => void {
    this.returns.unshift(listener);
    return () => {
      this.returns = this.returns.filter((one) => one !== listener);
    };
  }

  /** Something could not be fetched. */
  lost(): void {
    this.failed = true;
    void this.look();
  }

  async look(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    window.clearTimeout(this.timer);
    const found = await health();
    this.asking = false;
    const before = this.trouble;
    this.trouble = found;
    if (found?.kind !== before?.kind || found?.error.message !== before?.error.message) {
      for (const listener of this.listeners) listener();
    }
    this.schedule(found === null ? QUIET_MS : SEARCH_MS);
    if (found !== null || !this.failed) return;
    // A request that always fails must not make a page that begins anew for ever.
    const now = performance.now();
    this.failed = false;
    if (before === null && now - this.renewed < AGAIN_MS) return;
    this.renewed = now;
    for (const listener of [...this.returns]) {
      if (listener(before !== null)) return;
    }
  }

  private schedule(ms: number): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (document.visibilityState === 'visible') void this.look();
    }, ms);
  }
}

export const connection = new Connection();
