// SPDX-License-Identifier: Apache-2.0
// What ran in a stretch of time on some tracks: a table by name.

import { DataTable, type TableAddress } from '../components/data_table';
import { timeColumn } from '../components/columns';
import { button, iconButton, Loader, skeleton } from '../components/states';
import { isAbort } from '../core/api';
import { fill, h } from '../core/dom';
import { count, percent, plural } from '../core/format';
import { CATEGORIES } from '../core/steps';
import type { Column } from '../core/table_view';
import type { AreaAnswer, AreaRow, TraceServer } from './answers';
import type { Area } from './marks';
import { timeText } from './overlay';

export interface AreaTell {
  close(): void;
  zoom(): void;
  /** All events of that name. */
  find(name: string): void;
  say: (text: string, show?: boolean) => void;
}

const us = (ps: number): number => ps / 1e6;

export class AreaPanel {
  readonly element = h('section', {
    class: 'trace-drawer',
    'aria-label': 'Selected area',
    hidden: true,
  });
  private readonly title = h('h2', {});
  private readonly facts = h('span', { class: 'soft' });
  private readonly table: DataTable<AreaRow>;
  private readonly loader = new Loader();
  private key = '';

  private readonly layers = h('select', {
    'aria-label': 'What is summed up',
    on: { change: () => this.address.set({ layer: this.layers.value }) },
  });
  private readonly layerField = h(
    'label',
    {
      class: 'trace-field',
      hidden: true,
      title:
        'Derived lines show the same time as the events they were made from, so their times are not added to it.',
    },
    'of ',
    this.layers,
  );

  constructor(
    private readonly server: TraceServer,
    private readonly address: TableAddress,
    tell: AreaTell,
  ) {
    this.table = new DataTable<AreaRow>({
      title: 'Events of the area by name',
      name: 'trace_area',
      url: address,
      key: (row) => `${row.category} ${row.name}`,
      defaultSort: '-total',
      open: (row) => tell.find(row.name),
      onSeen: () => undefined,
      maxHeight: 0.34,
      say: tell.say,
    });
    fill(
      this.element,
      h(
        'header',
        {},
        this.title,
        this.facts,
        this.layerField,
        h(
          'span',
          { class: 'acts' },
          button('Zoom to it', () => tell.zoom()),
          iconButton('close', 'Clear the area', () => tell.close()),
        ),
      ),
      this.loader.element,
    );
  }

  destroy(): void {
    this.loader.cancel();
    this.table.destroy();
  }

  /**
   * `tracks` are those the area means: its own, or those that are shown; `all` where these are all
   * there are.
   */
  show(area: Area | null, tracks: readonly string[], all: boolean): void {
    this.element.hidden = area === null;
    if (area === null) {
      this.loader.cancel();
      this.key = '';
      return;
    }
    const layer = this.address.get('layer');
    const key = JSON.stringify([area.from, area.to, tracks, layer]);
    if (key === this.key) {
      this.table.update();
      return;
    }
    this.key = key;
    this.title.textContent = timeText(area.to - area.from);
    this.facts.textContent = `on ${plural(tracks.length, 'track')}`;
    // All tracks need no list; there may be thousands.
    const wanted = all && area.tracks.length === 0 ? [] : tracks;
    this.loader.load(
      async (signal) => {
        try {
          return await this.server.area(wanted, area.from, area.to, layer, signal);
        } catch (error) {
          // Another area may have no line of that kind.
          if (layer === '' || isAbort(error)) throw error;
          return this.server.area(wanted, area.from, area.to, '', signal);
        }
      },
      (answer) => {
        this.showFacts(answer, area, tracks.length);
        queueMicrotask(() =>
          this.table.set({ rows: answer.rows, columns: columns(answer, area), noun: 'names' }),
        );
        return this.table.element;
      },
      () => skeleton(120),
    );
  }

  private showFacts(answer: AreaAnswer, area: Area, tracks: number): void {
    const span = Math.max(1, area.to - area.from);
    const busy = (
      [
        ['devices', answer.device_busy_ps],
        ['host threads', answer.host_busy_ps],
      ] as const
    ).flatMap(([who, ps]) => (ps === null ? [] : [`${who} busy ${percent(ps / span)}`]));
    const cut =
      (answer.rows_total ?? 0) > answer.rows.length
        ? `; the ${count(answer.rows.length)} names with the most time of ${count(answer.rows_total ?? 0)}`
        : '';
    const of = answer.layers.find(({ layer }) => layer === answer.layer)?.tracks ?? 0;
    fill(
      this.facts,
      `on ${of === tracks ? plural(tracks, 'track') : `${count(of)} of ${plural(tracks, 'track')}`}, ${plural(answer.events, 'event')}${cut}`,
      busy.length > 0 &&
        h(
          'b',
          {
            class: 'trace-busy',
            title:
              'Time in which at least one of these tracks ran, divided by the length of the area; nested and overlapping events count once',
          },
          busy.join(', '),
        ),
    );
    fill(
      this.layers,
      ...answer.layers.map(({ layer }) =>
        h(
          'option',
          { value: layer, selected: layer === answer.layer },
          layer === '' ? 'what was recorded' : `lines “${layer}”`,
        ),
      ),
    );
    this.layerField.hidden = answer.layers.length < 2;
  }
}

function columns(answer: AreaAnswer, area: Area): Column<AreaRow>[] {
  const { rows } = answer;
  const span = Math.max(1, area.to - area.from);
  const time = (
    id: string,
    title: string,
    value: (row: AreaRow) => number,
    extra: Partial<Column<AreaRow>> = {},
  ): Column<AreaRow> => timeColumn(rows, id, title, (row) => us(value(row)), extra);
  return [
    {
      id: 'name',
      title: 'Name',
      kind: 'text',
      grow: true,
      narrow: true,
      width: 260,
      value: (row) => row.name,
      hint: 'Choose a row to find all events of that name',
    },
    {
      id: 'category',
      title: 'Category',
      kind: 'text',
      width: 156,
      value: (row) => CATEGORIES[row.category]?.label ?? '',
    },
    {
      id: 'count',
      title: 'Count',
      kind: 'number',
      width: 84,
      value: (row) => row.count,
      text: (cell) => (typeof cell === 'number' ? count(cell) : '–'),
      hint: 'Events that touch the area',
    },
    time('total', 'Total (µs)', (row) => row.total_ps, {
      narrow: true,
      hint: 'Time inside the area; events within others of the same name count once',
    }),
    time('self', 'Self (µs)', (row) => row.self_ps, {
      hint: 'Time without the events nested in it on the same track',
    }),
    time('avg', 'Avg (µs)', (row) => row.avg_ps),
    time('min', 'Min (µs)', (row) => row.min_ps),
    time('max', 'Max (µs)', (row) => row.max_ps),
    {
      id: 'share',
      title: 'Of area',
      kind: 'number',
      width: 84,
      scale: 0.01,
      value: (row) => row.total_ps / span,
      text: (cell) => (typeof cell === 'number' ? percent(cell) : '–'),
      hint: 'Total divided by the length of the area; several tracks can add up to more than 100 %',
    },
  ];
}
