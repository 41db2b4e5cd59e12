// SPDX-License-Identifier: Apache-2.0
// The visible range as a real table: for people who read rather than look.

import { plainTable } from '../components/plain_table';
import { button, Loader, skeleton } from '../components/states';
import { fill, h } from '../core/dom';
import { count, exact } from '../core/format';
import { eventLabel, trimRight } from '../core/names';
import type { Hit, TraceServer } from './answers';
import { timeText } from './overlay';
import type { View } from './viewport';

const PAGE = 200;
/** Letters of a name, and of what the pointer shows of it; all of them are in the details. */
const MOST_NAME = 300;
const MOST_TITLE = 2000;
/** Moving on asks again only once the view rests. */
const DELAY_MS = 250;

export class EventList {
  readonly element = h('section', {
    class: 'trace-list',
    'aria-label': 'Events of the visible range',
    hidden: true,
  });
  private readonly loader = new Loader();
  private offset = 0;
  private key = '';
  private timer: number | undefined;

  constructor(
    private readonly server: TraceServer,
    private readonly trackName: (track: string) => string,
    private readonly pick: (hit: Hit) => void,
  ) {
    this.element.append(this.loader.element);
  }

  destroy(): void {
    this.loader.cancel();
    window.clearTimeout(this.timer);
  }

  /** `all`: these are all tracks there are. */
  update(
    open: boolean,
    view: View,
    tracks: readonly string[],
    all: boolean,
    selected: string,
  ): void {
    this.element.hidden = !open;
    if (!open) return;
    const key = JSON.stringify([Math.round(view.from), Math.round(view.to), tracks]);
    if (key !== this.key) {
      const first = this.key === '';
      this.key = key;
      this.offset = 0;
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(
        () => this.load(view, all ? [] : tracks),
        first ? 0 : DELAY_MS,
      );
    }
    this.mark(selected);
  }

  mark(selected: string): void {
    for (const line of this.element.querySelectorAll<HTMLElement>('[data-event]'))
      line.setAttribute('aria-pressed', String(line.dataset['event'] === selected));
  }

  private load(view: View, tracks: readonly string[]): void {
    const { offset } = this;
    const go = (to: number): void => {
      this.offset = to;
      this.load(view, tracks);
    };
    this.loader.load(
      (signal) => this.server.list(tracks, view.from, view.to, offset, PAGE, signal),
      (answer) => {
        const last = Math.min(answer.total, offset + answer.rows.length);
        const previous = button('Previous page', () => go(Math.max(0, offset - PAGE)), 'previous');
        const next = button('Next page', () => go(offset + PAGE), 'next');
        previous.disabled = offset === 0;
        next.disabled = last >= answer.total;
        if (answer.total === 0)
          return h('p', { class: 'soft' }, 'No event of the shown tracks touches this range.');
        const columns = [
          {
            title: 'Name',
            value: (hit: Hit) => hit.name,
            cell: (hit: Hit) =>
              h(
                'button',
                {
                  type: 'button',
                  class: 'linklike',
                  title: trimRight(hit.name, MOST_TITLE),
                  'data-event': hit.id,
                  'aria-pressed': 'false',
                  on: { click: () => this.pick(hit) },
                },
                trimRight(eventLabel(hit.name), MOST_NAME) || '(no name)',
              ),
          },
          {
            title: 'Start',
            number: true,
            class: 'when',
            value: (hit: Hit) => hit.start_ps / 1e6,
            cell: (hit: Hit) =>
              h('span', { title: `${exact(hit.start_ps / 1000)} ns` }, timeText(hit.start_ps)),
          },
          {
            title: 'Duration',
            number: true,
            class: 'when',
            value: (hit: Hit) => hit.duration_ps / 1e6,
            cell: (hit: Hit) =>
              h(
                'span',
                { title: `${exact(hit.duration_ps / 1000)} ns` },
                timeText(hit.duration_ps),
              ),
          },
          {
            title: 'Track',
            class: 'track',
            value: (hit: Hit) => this.trackName(hit.track),
            cell: (hit: Hit) =>
              h('span', { title: this.trackName(hit.track) }, this.trackName(hit.track)),
          },
          {
            title: 'Depth',
            number: true,
            wide: true,
            class: 'depth',
            value: (hit: Hit) => hit.depth ?? 0,
          },
        ];
        const table = plainTable({
          label: 'Events of the visible range',
          rows: answer.rows,
          columns,
        });
        const box = h('div', {}, table);
        fill(
          box,
          h(
            'p',
            { class: 'acts' },
            h(
              'span',
              { role: 'status' },
              `${count(offset + 1)} to ${count(last)} of ${count(answer.total)} events between ${timeText(Math.max(0, view.from))} and ${timeText(view.to)}`,
            ),
            previous,
            next,
          ),
          table,
        );
        return box;
      },
      () => skeleton(240),
    );
  }
}
