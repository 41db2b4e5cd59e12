// SPDX-License-Identifier: Apache-2.0
// The dashboard of one table: notice and tiles above it, controls, a chart of what it shows, and
// beside it what is known of the chosen row.

import { address, type Query } from '../core/api';
import { h } from '../core/dom';
import type { PageContext } from '../core/page';
import { DataTable } from './data_table';
import { DetailPanel, type Detail } from './detail_panel';

export interface RowDashboardOptions<Row> {
  title: string;
  /** Of the tool: also that of the table's file and columns. */
  name: string;
  controls: readonly HTMLElement[];
  /** The picture above the table, where there is one. */
  chart?: { element: HTMLElement; destroy: () => void };
  query: () => Query;
  /** The rows that the table shows, whenever they change. */
  show: (rows: Row[]) => void;
}

export class RowDashboard<Row extends { key: string }> {
  readonly notice = h('div', {});
  readonly tileSlot = h('div', {});
  /** What is to be said about a comparison, above the table. */
  readonly compareSlot = h('div', {});
  readonly element: HTMLElement;
  readonly table: DataTable<Row>;
  private readonly detail: DetailPanel;
  private readonly chart: RowDashboardOptions<Row>['chart'];

  constructor(
    { url, say }: PageContext,
    { title, name, controls, chart, query, show }: RowDashboardOptions<Row>,
  ) {
    this.chart = chart;
    this.detail = new DetailPanel(() => {
      const key = url.get('sel');
      url.set({ sel: null });
      this.table.focusRow(key);
    });
    this.table = new DataTable<Row>({
      title,
      name,
      url,
      key: (row) => row.key,
      defaultSort: 'rank',
      open: (row) => url.set({ sel: row.key }),
      onSeen: show,
      say,
      sources: () => ({ json: address('data', query()), csv: address('data_csv', query()) }),
    });
    this.element = h(
      'div',
      { class: 'dashboard' },
      h(
        'div',
        { class: 'dashboard-main' },
        this.notice,
        this.tileSlot,
        controls.length > 0 && h('div', { class: 'controls' }, ...controls),
        chart?.element,
        this.compareSlot,
        this.table.element,
      ),
      this.detail.element,
    );
  }

  /** Without anything to show there is only the notice. */
  nothing(is: boolean): void {
    this.element.classList.toggle('nothing', is);
  }

  /** The chosen row; null for none. */
  choose(detail: Detail | null): void {
    this.detail.show(detail);
    this.element.classList.toggle('with-detail', detail !== null);
    this.table.markSelected();
  }

  destroy(): void {
    this.chart?.destroy();
    this.table.destroy();
    this.detail.destroy();
  }
}
