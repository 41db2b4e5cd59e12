// SPDX-License-Identifier: Apache-2.0
// The page of a tool that has none of its own: its parameters as controls, its tables, or a way to
// its document.

import { address, getTables, type Parameter, type Query, type Tool } from '../core/api';
import { DataTable } from '../components/data_table';
import { notRecorded } from '../components/states';
import { ToolView } from '../components/tool_view';
import { fill, h } from '../core/dom';
import { exact } from '../core/format';
import { records, type GvizTable, type Rec } from '../core/gviz';
import type { Page, PageContext, PageType } from '../core/page';
import type { Column } from '../core/table_view';
import { prefixed, type UrlState } from '../core/url_state';

const ALL_HOSTS = 'ALL_HOSTS';

interface Row {
  key: string;
  cells: Rec;
}

/** Where the address keeps a parameter. What is a step is the same on every page. */
function keyOf(parameter: Parameter): string {
  return parameter.name === 'step_source' ? parameter.name : `p.${parameter.name}`;
}

/**
 * Whether a parameter gets a control: the table has all rows anyway, and a single value leaves no
 * choice.
 */
function isAsked({ name, values, default: fallback }: Parameter): boolean {
  return name !== 'limit' && !(values.length === 1 && values[0] === fallback);
}

function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** A control, and what brings it in line with the address. */
function control(parameter: Parameter, url: UrlState): { element: HTMLElement; show: () => void } {
  const key = keyOf(parameter);
  const { kind, values, default: fallback, sentence } = parameter;
  const set = (value: string): void => url.set({ [key]: value === fallback ? null : value });
  const label = (input: HTMLElement): HTMLElement =>
    h(
      'label',
      { class: 'parameter', title: sentence },
      h('span', {}, words(parameter.name)),
      input,
    );
  if (kind === 'choice' || kind === 'boolean') {
    const list = kind === 'boolean' ? ['false', 'true'] : values;
    const select = h(
      'select',
      { on: { change: () => set(select.value) } },
      ...(fallback === null ? [h('option', { value: '' }, '–')] : []),
      ...list.map((value) => h('option', { value }, words(value))),
    );
    return {
      element: label(select),
      show: () => {
        select.value = url.get(key, fallback ?? '');
      },
    };
  }
  const input = h('input', {
    type: 'text',
    inputmode: kind === 'text' ? 'text' : 'decimal',
    placeholder: fallback ?? '',
    autocomplete: 'off',
    spellcheck: 'false',
    on: { change: () => set(input.value.trim()) },
  });
  return {
    element: label(input),
    show: () => {
      input.value = url.get(key);
    },
  };
}

function columnsOf(table: GvizTable): Column<Row>[] {
  const grows = table.cols.findIndex((col) => col.type === 'string');
  return table.cols.map((col, index) => {
    const id = col.id.toLowerCase();
    return {
      id,
      title: col.label === '' ? col.id : col.label,
      kind: col.type === 'number' ? 'number' : col.type === 'boolean' ? 'bool' : 'text',
      width: col.type === 'string' ? 180 : 110,
      grow: index === grows,
      narrow: index === grows || index === 0,
      value: (row) => row.cells[id] ?? null,
      ...(col.type === 'number'
        ? { text: (cell) => (typeof cell === 'number' ? exact(cell) : '–') }
        : {}),
    };
  });
}

function isTable(table: GvizTable | undefined): table is GvizTable {
  return Array.isArray(table?.cols) && Array.isArray(table?.rows);
}

class TablesPage implements Page {
  readonly element: HTMLElement;
  private readonly content = h('div', {});
  private readonly controls: ReturnType<typeof control>[];
  private readonly parameters: Parameter[];
  private readonly view: ToolView<GvizTable[]>;
  private tables: DataTable<Row>[] = [];

  constructor(
    private readonly context: PageContext,
    private readonly tool: Tool,
  ) {
    const { url } = context;
    this.parameters = (tool.parameters ?? []).filter(isAsked);
    this.controls = this.parameters.map((parameter) => control(parameter, url));
    this.view = new ToolView<GvizTable[]>(context, {
      title: tool.title,
      tool: tool.name,
      content: this.content,
      parameters: () => this.asked(),
      controls:
        this.controls.length === 0
          ? null
          : h('div', { class: 'controls' }, ...this.controls.map(({ element }) => element)),
      fetch: (query, signal) => getTables(this.withHost(query), signal),
      ready: (data) => this.build(data),
      changed: () => this.tables.forEach((table) => table.update()),
    });
    this.element = this.view.element;
  }

  update(): void {
    for (const { show } of this.controls) show();
    this.view.update();
  }

  destroy(): void {
    this.view.destroy();
    this.clear();
  }

  private clear(): void {
    for (const table of this.tables) table.destroy();
    this.tables = [];
  }

  private asked(): Query {
    const query: Record<string, string> = {};
    for (const parameter of this.parameters) {
      const value = this.context.url.get(keyOf(parameter));
      if (value !== '') query[parameter.name] = value;
    }
    return query;
  }

  /** A tool that shows one host at a time is asked for the first where none is chosen. */
  private withHost(query: Query): Query {
    const hosts = this.tool.hosts ?? [];
    return typeof query['host'] === 'string' || hosts.includes(ALL_HOSTS)
      ? query
      : { ...query, host: hosts[0] ?? null };
  }

  private build(data: GvizTable[]): void {
    const { url, say } = this.context;
    this.clear();
    const tables = data.filter(isTable).filter((table) => table.cols.length > 0);
    const compares =
      url.get('base') !== '' &&
      h('p', { class: 'soft' }, 'This page does not compare: it shows the run alone.');
    if (tables.length === 0) {
      const query = this.withHost(this.view.query());
      fill(
        this.content,
        notRecorded(
          'No table',
          h(
            'p',
            {},
            'The answer of this tool is a document: ',
            h('a', { href: address('data', query) }, `${this.tool.title} as JSON`),
          ),
        ),
      );
      return;
    }
    this.tables = tables.map(
      (_, index) =>
        new DataTable<Row>({
          title: tables.length === 1 ? this.tool.title : `Table ${index + 1}`,
          name: index === 0 ? this.tool.name : `${this.tool.name}_${index + 1}`,
          url: index === 0 ? url : prefixed(url, `t${index + 1}.`),
          key: (row) => row.key,
          defaultSort: '',
          open: () => undefined,
          onSeen: () => undefined,
          say,
          ...(index === 0
            ? {
                sources: () => ({
                  json: address('data', this.withHost(this.view.query())),
                  csv: address('data_csv', this.withHost(this.view.query())),
                }),
              }
            : {}),
        }),
    );
    fill(this.content, compares, ...this.tables.map((table) => table.element));
    tables.forEach((table, index) => {
      const rows = records(table).map((cells, row) => ({ key: String(row), cells }));
      this.tables[index]?.set({
        rows,
        columns: columnsOf(table),
        noun: rows.length === 1 ? 'row' : 'rows',
      });
    });
  }
}

export const tables: PageType = (context) => {
  if (context.tool === null) throw new Error('tables are of a tool');
  return new TablesPage(context, context.tool);
};
