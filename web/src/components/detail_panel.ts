// SPDX-License-Identifier: Apache-2.0
// Everything about one row: its fields, and how its occurrences are spread.

import { getJson, type Instances, type Query, type Slowest } from '../core/api';
import { fill, h, scrolls } from '../core/dom';
import { count, duration, exact, joined } from '../core/format';
import { ChartCard } from './chart_card';
import { histogramConfig, microseconds } from './charts';
import { copyButton, iconButton, Loader, skeleton } from './states';

export interface Detail {
  key: string;
  title: string;
  full: string;
  facts: { label: string; text: string; exact?: string }[];
  /** What to ask the server for; null where a row stands for no one op or kernel. */
  query: Query | null;
  /** Where its events are on the timeline, if there is one. */
  trace?: string | null;
  /** Where one of its slowest events is on the timeline; null where it is not. */
  slowest?: (one: Slowest) => string | null;
  /** Shown below the facts, e.g. the members of a group. */
  extra?: HTMLElement;
  /** What the server is asked for besides; it may know which events to ask for, too. */
  late?: (signal: AbortSignal) => Promise<Late>;
}

export interface Late {
  element: HTMLElement;
  query: Query | null;
}

function time(label: string, us: number): HTMLElement[] {
  return [h('dt', {}, label), h('dd', { title: `${exact(us)} µs` }, joined(duration(us)))];
}

export class DetailPanel {
  readonly element = h('aside', { class: 'detail', hidden: true, 'aria-label': 'Details' });
  private loader = new Loader();
  private late = new Loader();
  private chart: ChartCard | null = null;
  private key = '';

  constructor(private readonly onClose: () => void) {
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      this.onClose();
    });
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  show(detail: Detail | null): void {
    if (detail === null) {
      this.loader.cancel();
      this.late.cancel();
      this.element.hidden = true;
      this.key = '';
      return;
    }
    // The same row is not asked for again only because something else in the address changed.
    if (detail.key === this.key) return;
    this.key = detail.key;
    this.loader.cancel();
    this.late.cancel();
    // New loaders: the numbers of another row must not stay while these are fetched.
    this.loader = new Loader();
    this.late = new Loader();
    const facts = h('dl', { class: 'facts' });
    for (const fact of detail.facts)
      facts.append(h('dt', {}, fact.label), h('dd', { title: fact.exact }, fact.text));
    const head = h(
      'header',
      {},
      h('h2', { title: detail.full }, detail.title),
      iconButton('close', 'Close details', this.onClose),
    );
    fill(
      this.element,
      head,
      h(
        'div',
        { class: 'detail-body' },
        scrolls(h('div', { class: 'full-name' }, h('code', {}, detail.full)), 'Full name'),
        h(
          'p',
          { class: 'acts' },
          copyButton('Copy name', () => detail.full),
          typeof detail.trace === 'string' &&
            h('a', { class: 'button', href: detail.trace }, 'Find in the trace'),
        ),
        facts,
        detail.extra ?? null,
        detail.late !== undefined && this.late.element,
        (detail.query !== null || detail.late !== undefined) && this.loader.element,
      ),
    );
    this.element.hidden = false;
    const { query, late } = detail;
    if (query !== null) this.events(query, detail.slowest);
    if (late !== undefined)
      this.late.load(
        late,
        (more) => {
          if (more.query !== null) this.events(more.query, detail.slowest);
          return more.element;
        },
        () => skeleton(120, 60, 120),
      );
  }

  private events(query: Query, slowest: Detail['slowest']): void {
    this.loader.load(
      (signal) => getJson<Instances>('instances', query, signal),
      (instances) => this.instances(instances, slowest),
      () => skeleton(150, 120, 220),
    );
  }

  destroy(): void {
    this.loader.cancel();
    this.late.cancel();
    this.chart?.destroy();
  }

  private instances(data: Instances, place: Detail['slowest']): HTMLElement {
    if (data.count === 0)
      return h('p', { class: 'soft' }, 'No individual events of this row were recorded.');
    this.chart?.destroy();
    this.chart = new ChartCard({ title: 'Events by duration', name: 'events' });
    const { histogram, slowest } = data;
    this.chart.set({
      config: () => histogramConfig(histogram),
      height: 140,
      summary: `${count(data.count)} events between ${microseconds(data.min_us)} and ${microseconds(data.max_us)}, median ${microseconds(data.median_us)}.`,
      head: ['From (µs)', 'To (µs)', 'Count'],
      rows: histogram.map((bucket) => [bucket.from_us, bucket.to_us, bucket.count]),
      text: (cell, column) =>
        typeof cell !== 'number' ? '' : column < 2 ? microseconds(cell) : count(cell),
    });
    const body = h('tbody');
    for (const one of slowest) {
      const link = place?.(one) ?? null;
      const length = microseconds(one.duration_us);
      body.append(
        h(
          'tr',
          {},
          h(
            'td',
            { class: 'number', title: `${exact(one.duration_us)} µs` },
            link === null
              ? length
              : h('a', { href: link, 'aria-label': `${length}: show in the trace` }, length),
          ),
          h(
            'td',
            { class: 'number', title: `${exact(one.start_us)} µs` },
            microseconds(one.start_us),
          ),
          h('td', { title: `${one.host} ${one.plane} ${one.line}` }, `${one.line} · ${one.host}`),
        ),
      );
    }
    return h(
      'div',
      {},
      this.chart.element,
      h(
        'dl',
        { class: 'facts' },
        // An op's own count is that of its most frequent part; these are all events.
        h('dt', {}, 'Events'),
        h('dd', {}, count(data.count)),
        ...time('Minimum', data.min_us),
        ...time('Mean', data.mean_us),
        ...time('Median', data.median_us),
        ...time('95th percentile', data.p95_us),
        ...time('Maximum', data.max_us),
        ...time('Standard deviation', data.stddev_us),
      ),
      h('h3', {}, slowest.length === 1 ? 'The slowest' : `The ${slowest.length} slowest`),
      h(
        'div',
        { class: 'twin', tabindex: '0', role: 'group', 'aria-label': 'Slowest events' },
        h(
          'table',
          { class: 'slowest' },
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              h('th', { scope: 'col', class: 'number' }, 'Duration'),
              h('th', { scope: 'col', class: 'number' }, 'Start'),
              h('th', { scope: 'col' }, 'Where'),
            ),
          ),
          body,
        ),
      ),
    );
  }
}
