// SPDX-License-Identifier: Apache-2.0
// Searching the whole trace on the server: how many there are, on which tracks, and going from one
// to the next.

import { isAbort } from '../core/api';
import { fill, h } from '../core/dom';
import { count, plural } from '../core/format';
import { Menu } from '../components/menu';
import { button, iconButton } from '../components/states';
import {
  whole,
  type Density,
  type Hit,
  type SearchAnswer,
  type SearchQuery,
  type TraceServer,
} from './answers';
import type { View } from './viewport';

export interface SearchTell {
  /** What is known of the hits, and how many there are where, for marks over the trace. */
  found(hits: readonly Hit[], density: Density | null): void;
  /** Names that match, where names are what is searched. */
  only(test: ((name: string) => boolean) | null): void;
  go(hit: Hit): void;
  goTrack(track: string): void;
  trackName(track: string): string;
  setting(key: 'in' | 'case', value: string | null): void;
  clear(): void;
  /** Where the next one is looked for from. */
  time(): number;
  view(): View;
}

const PAGE = 1000;
/**
 * Marks over the whole trace are as fine as this; a screen has no more pixels beside each other,
 * but for the largest.
 */
const SLOTS = 2048;
/** Hits in and beside the view that are framed, where there are more than were paged through. */
const IN_VIEW = 2000;
const DELAY_MS = 180;

/**
 * The server's matching, as far as the page can do it by itself; the server's expressions know more
 * than the browser's.
 */
function matcher({ q, regex, matchCase }: SearchQuery): ((name: string) => boolean) | null {
  if (!regex)
    return matchCase
      ? (name) => name.includes(q)
      : (name) => name.toLowerCase().includes(q.toLowerCase());
  try {
    const pattern = new RegExp(q, matchCase ? '' : 'i');
    return (name) => pattern.test(name);
  } catch {
    return null;
  }
}

export class SearchBar {
  readonly element = h('div', { class: 'trace-search', hidden: true });
  private readonly status = h('span', { role: 'status', class: 'trace-search-status' });
  private readonly inside = h(
    'select',
    {
      'aria-label': 'Search in',
      on: {
        change: () =>
          this.tell.setting('in', this.inside.value === 'name' ? null : this.inside.value),
      },
    },
    h('option', { value: 'name' }, 'names'),
    h('option', { value: 'args' }, 'arguments'),
    h('option', { value: 'all' }, 'names and arguments'),
  );
  private readonly matchCase = h('input', {
    type: 'checkbox',
    on: { change: () => this.tell.setting('case', this.matchCase.checked ? '1' : null) },
  });
  private readonly tracks: Menu;
  private controller: AbortController | null = null;
  private timer: number | undefined;
  private query: SearchQuery | null = null;
  private key = '';
  private answer: SearchAnswer | null = null;
  private hits: (Hit | undefined)[] = [];
  private density: Density | null = null;
  /** Those in sight, where not all are known. */
  private near: readonly Hit[] = [];
  private looking: AbortController | null = null;
  private at = -1;
  private wish = 0;

  constructor(
    private server: TraceServer,
    private readonly tell: SearchTell,
  ) {
    this.tracks = new Menu('By track', (panel) => this.listTracks(panel));
    fill(
      this.element,
      this.status,
      iconButton('previous', 'Previous event found', () => void this.step(-1)),
      iconButton('next', 'Next event found', () => void this.step(1)),
      this.tracks.element,
      h('label', { class: 'trace-field' }, 'in ', this.inside),
      h('label', { class: 'toggle' }, this.matchCase, 'match case'),
      button('Clear', () => this.tell.clear(), 'close'),
    );
  }

  destroy(): void {
    this.controller?.abort();
    this.looking?.abort();
    window.clearTimeout(this.timer);
  }

  update(query: SearchQuery): void {
    this.inside.value = query.inside;
    this.matchCase.checked = query.matchCase;
    const key = JSON.stringify(query);
    if (key === this.key) return;
    this.key = key;
    this.controller?.abort();
    this.looking?.abort();
    window.clearTimeout(this.timer);
    this.answer = null;
    this.hits = [];
    this.density = null;
    this.near = [];
    this.at = -1;
    this.wish = 0;
    this.element.hidden = query.q === '';
    this.query = query.q === '' ? null : query;
    if (this.query === null) {
      this.tell.found([], null);
      this.tell.only(null);
      return;
    }
    this.tell.only(query.inside === 'args' ? null : matcher(query));
    this.status.textContent = 'Searching…';
    this.timer = window.setTimeout(() => void this.load(0), DELAY_MS);
  }

  /** Next or previous; asked for before the answer is here, it happens when it comes. */
  async step(by: number): Promise<void> {
    if (this.query === null) return;
    if (this.answer === null) {
      this.wish = by;
      return;
    }
    const { total } = this.answer;
    if (total === 0) return;
    if (this.at < 0) {
      const { key } = this;
      const place = await this.placeFrom(this.tell.time(), by);
      // The place is one of a search that is not this one any more.
      if (this.key !== key) return;
      this.at = place;
    } else this.at = (this.at + by + total) % total;
    const page = Math.floor(this.at / PAGE) * PAGE;
    if (this.hits[this.at] === undefined) await this.load(page);
    const hit = this.hits[this.at];
    this.say();
    if (hit !== undefined) this.tell.go(hit);
  }

  /**
   * Where a search that was left off is taken up: the first one after a time, or the last before
   * it.
   */
  private async placeFrom(ps: number, by: number): Promise<number> {
    const total = this.answer?.total ?? 0;
    const known = this.hits.findIndex((hit) => hit !== undefined && hit.start_ps >= ps);
    let after = known;
    const [first] = this.hits;
    if (
      known < 0 &&
      this.query !== null &&
      total > this.hits.length &&
      first !== undefined &&
      ps > first.start_ps
    ) {
      const before = await this.server
        .get<SearchAnswer>('search', { ...this.asked(), to_ps: Math.round(ps), limit: 1 })
        .catch(() => null);
      after = before?.total ?? 0;
    } else if (known < 0) {
      after = ps > (first?.start_ps ?? 0) ? total : 0;
    }
    return by > 0 ? after % total : (after - 1 + total) % total;
  }

  private asked(): Record<string, string | number> {
    const query = this.query;
    return query === null
      ? {}
      : {
          q: query.q,
          mode: query.regex ? 'regex' : 'text',
          in: query.inside,
          case: query.matchCase ? 1 : 0,
        };
  }

  private async load(offset: number): Promise<void> {
    const { query } = this;
    if (query === null) return;
    const controller = new AbortController();
    this.controller = controller;
    try {
      const answer = await this.server.search(
        query,
        { offset, limit: PAGE, ...(this.density === null ? { slots: SLOTS } : {}) },
        controller.signal,
      );
      if (controller.signal.aborted || query !== this.query) return;
      this.answer = answer;
      this.density ??= answer.density ?? null;
      answer.hits.forEach((hit, index) => {
        this.hits[offset + index] = hit;
      });
      this.show();
      if (offset === 0) void this.look();
      this.say();
      if (this.wish !== 0) {
        const by = this.wish;
        this.wish = 0;
        await this.step(by);
      }
    } catch (error) {
      if (isAbort(error) || controller.signal.aborted) return;
      fill(
        this.status,
        h('span', { class: 'problem' }, error instanceof Error ? error.message : String(error)),
      );
    }
  }

  private get known(): Hit[] {
    return this.hits.filter((hit): hit is Hit => hit !== undefined);
  }

  private show(): void {
    const { known } = this;
    const ids = new Set(known.map((hit) => hit.id));
    this.tell.found([...known, ...this.near.filter((hit) => !ids.has(hit.id))], this.density);
  }

  /** The view rests somewhere else: of very many hits those are asked for that are seen there. */
  async look(): Promise<void> {
    const { query, answer } = this;
    this.looking?.abort();
    if (query === null || answer === null || this.known.length >= answer.total) return;
    const controller = new AbortController();
    this.looking = controller;
    const { from, to } = this.tell.view();
    // Events that begin before the view may reach into it.
    const [from_ps, to_ps] = [whole(from - (to - from) / 2), whole(to)];
    const found = await this.server
      .search(query, { from_ps, to_ps, limit: IN_VIEW }, controller.signal)
      .catch(() => null);
    if (found === null || controller.signal.aborted) return;
    this.near = found.hits;
    this.show();
  }

  private say(): void {
    const { answer } = this;
    if (answer === null) return;
    const where = answer.tracks.length === 0 ? '' : ` on ${plural(answer.tracks.length, 'track')}`;
    const unknown =
      (answer.gave_up ?? 0) > 0
        ? `; the expression took too long on ${plural(answer.gave_up ?? 0, 'text')}`
        : '';
    fill(
      this.status,
      `${answer.total === 0 ? 'No event matches in the whole trace' : this.at < 0 ? `${plural(answer.total, 'event')}${where}` : `${count(this.at + 1)} of ${plural(answer.total, 'event')}${where}`}${unknown}`,
    );
  }

  private listTracks(panel: HTMLElement): void {
    const tracks = this.answer?.tracks ?? [];
    if (tracks.length === 0) panel.append(h('p', { class: 'soft' }, 'Nothing was found.'));
    for (const { id, count: found } of [...tracks]
      .sort((a, b) => b.count - a.count)
      .slice(0, 200)) {
      panel.append(
        h(
          'button',
          {
            type: 'button',
            class: 'menu-item',
            on: {
              click: () => {
                this.tracks.close();
                this.tell.goTrack(id);
              },
            },
          },
          this.tell.trackName(id),
          h('small', {}, count(found)),
        ),
      );
    }
  }
}
