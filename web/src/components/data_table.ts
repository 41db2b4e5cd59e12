// SPDX-License-Identifier: Apache-2.0
// The one table of the page. Filter, order and columns live in the address and are applied by
// core/table_view; Tabulator draws the rows that are in sight, lays out columns and lets resize
// them.

import {
  FormatModule,
  ResizeColumnsModule,
  ResizeTableModule,
  Tabulator,
  type CellComponent,
  type ColumnDefinition,
  type RowComponent,
} from 'tabulator-tables';
import { downloadText, toCsv } from '../core/csv';
import { fill, h, icon } from '../core/dom';
import { withUnit } from '../core/filter';
import { count, exact } from '../core/format';
import {
  cellText,
  seen,
  seenTree,
  toggledColumn,
  visibleColumns,
  type Column,
  type Tree,
  type View,
} from '../core/table_view';
import { setTaste, taste } from '../core/taste';
import type { UrlState } from '../core/url_state';
import { Menu } from './menu';
import { button, copyButton, copyText, nothingMatches } from './states';

Tabulator.registerModule([FormatModule, ResizeColumnsModule, ResizeTableModule]);

/** Height of a row in the style sheet; fixed, so that a scroll position is a multiplication. */
const ROW_PX = 31;
const NARROW = '(max-width: 640px)';
const FILTER_KEY = 'f.';

export interface RowTree<R> extends Tree<R> {
  depth: (row: R) => number;
  toggle: (row: R) => void;
}

export interface TableContent<R> {
  rows: readonly R[];
  columns: readonly Column<R>[];
  /** What the rows are, in the plural. */
  noun: string;
  tree?: RowTree<R>;
}

/** Where the state of a table is kept: the address, or a part of it. */
export type TableAddress = Pick<UrlState, 'get' | 'set' | 'place'>;

export interface DataTableOptions<R> {
  title: string;
  /** Names the remembered widths and the CSV file. */
  name: string;
  url: TableAddress;
  key: (row: R) => string;
  defaultSort: string;
  open: (row: R) => void;
  /** Called with what is shown now, in its order. */
  onSeen: (rows: R[]) => void;
  /** Where a script gets the same data. */
  sources?: () => { json: string; csv: string };
  /** Share of the window the rows may take. */
  maxHeight?: number;
  say: (text: string, show?: boolean) => void;
}

interface Line<R> {
  key: string;
  index: number;
  row: R;
}

function placeholder(kind: Column<unknown>['kind']): string {
  return kind === 'number' ? '>100' : kind === 'bool' ? 'yes / no' : 'contains';
}

export class DataTable<R> {
  readonly element: HTMLElement;
  private readonly grid = h('div', { class: 'grid-host' });
  private readonly tally = h('small', { role: 'status' });
  private readonly chips = h('div', { class: 'chips' });
  private readonly none = h('div', { hidden: true });
  private readonly filterButton: HTMLButtonElement;
  private readonly narrow = matchMedia(NARROW);
  private content: TableContent<R> = { rows: [], columns: [], noun: '' };
  private shown: Line<R>[] = [];
  private byKey = new Map<string, Line<R>>();
  private table: Tabulator | null = null;
  private built = false;
  /** Whether the grid still shows other rows than it should. */
  private stale = true;
  private layout = '';
  private filtersOpen = false;
  private inRows = false;
  private cursor: { key: string; column: string } | null = null;
  /** The chosen row that was last brought into sight. */
  private shownSel = '';

  constructor(private readonly options: DataTableOptions<R>) {
    this.filterButton = button('Column filters', () => this.toggleFilters(), 'filter');
    this.filterButton.setAttribute('aria-pressed', 'false');
    const columnsMenu = new Menu(
      h('span', { class: 'with-glyph' }, icon('columns'), h('span', { class: 'word' }, 'Columns')),
      (panel) => this.buildColumnMenu(panel),
      { name: 'Columns' },
    );
    const dataMenu = new Menu('Data', (panel) => this.buildDataMenu(panel));
    this.element = h(
      'section',
      { class: 'card table-card', 'aria-label': options.title },
      h(
        'header',
        { class: 'card-head' },
        h('h2', {}, options.title),
        this.tally,
        h(
          'div',
          { class: 'acts' },
          this.filterButton,
          columnsMenu.element,
          button('CSV', () => this.saveCsv(), 'download'),
          options.sources !== undefined && dataMenu.element,
        ),
      ),
      this.chips,
      this.grid,
      this.none,
    );
    this.grid.addEventListener('click', (event) => this.click(event));
    this.grid.addEventListener('keydown', (event) => this.key(event));
    this.grid.addEventListener('focusin', (event) => {
      this.inRows =
        event.target instanceof Element && event.target.closest('.tabulator-row') !== null;
    });
    this.grid.addEventListener('focusout', (event) => {
      // Without a new target the focus was lost, not moved.
      if (event.relatedTarget instanceof Node && !this.grid.contains(event.relatedTarget))
        this.inRows = false;
    });
    this.narrow.addEventListener('change', this.onNarrow);
    document.addEventListener('pointerdown', this.leave);
  }

  private readonly leave = (event: Event): void => {
    if (event.target instanceof Node && !this.grid.contains(event.target)) this.inRows = false;
  };

  destroy(): void {
    this.narrow.removeEventListener('change', this.onNarrow);
    document.removeEventListener('pointerdown', this.leave);
    this.table?.destroy();
    this.table = null;
  }

  /** The element must be in the document: the grid measures itself. */
  set(content: TableContent<R>): void {
    this.content = content;
    // Cells may look different though the rows are the same.
    this.stale = true;
    this.update();
  }

  /** Brings the table in line with the address. */
  update(): void {
    const view = this.view();
    const { rows, columns, tree } = this.content;
    const result =
      tree === undefined ? seen(rows, columns, view) : seenTree(rows, columns, view, tree);
    const same =
      result.rows.length === this.shown.length &&
      result.rows.every((row, index) => row === this.shown[index]?.row);
    if (!same) {
      this.shown = result.rows.map((row, index) => ({ key: this.options.key(row), index, row }));
      this.byKey = new Map(this.shown.map((line) => [line.key, line]));
      this.stale = true;
    }
    if (Object.keys(view.where).length > 0) this.filtersOpen = true;
    this.showTally(result.problems);
    this.showChips(view);
    this.draw();
    this.options.onSeen(result.rows);
  }

  private view(): View {
    const { url } = this.options;
    const where: Record<string, string> = {};
    for (const [key, value] of Object.entries(url.place.params)) {
      if (key.startsWith(FILTER_KEY)) where[key.slice(FILTER_KEY.length)] = value;
    }
    return {
      q: url.get('q'),
      regex: url.get('re') === '1',
      sort: url.get('sort', this.options.defaultSort),
      where,
    };
  }

  private columns(): Column<R>[] {
    if (this.narrow.matches) {
      const kept = this.content.columns.filter((column) => column.narrow === true);
      if (kept.length > 0) return kept;
    }
    return visibleColumns(this.content.columns, this.options.url.get('cols'));
  }

  private readonly onNarrow = (): void => this.draw();

  private draw(): void {
    const empty = this.shown.length === 0 && this.content.rows.length > 0;
    this.none.hidden = !empty;
    this.grid.hidden = empty;
    if (empty)
      fill(
        this.none,
        nothingMatches(this.content.noun, () => this.clearFilters()),
      );
    this.element.classList.toggle('filtering', this.filtersOpen);
    this.filterButton.setAttribute('aria-pressed', String(this.filtersOpen));
    const columns = this.columns();
    // Tabulator measures the head once per set of columns, so showing the filter boxes counts as a
    // new set.
    const layout = JSON.stringify([
      columns.map((column) => [column.id, column.title]),
      this.narrow.matches,
      this.filtersOpen,
    ]);
    if (this.table === null) {
      this.layout = layout;
      this.build(columns);
      return;
    }
    if (!this.built) return;
    const table = this.table;
    if (layout !== this.layout) {
      this.layout = layout;
      this.stale = true;
      table.setColumns(columns.map((column) => this.definition(column)));
    }
    if (!this.stale) {
      this.decorate();
      return;
    }
    this.stale = false;
    this.fit();
    void table.replaceData(this.shown).then(() => {
      this.decorate();
      this.fit();
    });
  }

  private build(columns: readonly Column<R>[]): void {
    const mount = h('div', {});
    fill(this.grid, mount);
    const table = new Tabulator(mount, {
      data: this.shown,
      index: 'key',
      columns: columns.map((column) => this.definition(column)),
      layout: 'fitColumns',
      height: this.height(),
      rowHeight: ROW_PX,
      nestedFieldSeparator: false,
      renderVerticalBuffer: 300,
      debugInvalidOptions: false,
      rowFormatter: (row) => this.formatRow(row),
    });
    this.table = table;
    table.on('tableBuilt', () => {
      this.built = true;
      mount.setAttribute('aria-label', this.options.title);
      mount
        .querySelector('.tabulator-tableholder')
        ?.setAttribute('aria-label', `${this.options.title}: rows; the arrow keys move`);
      mount.querySelector('.tabulator-tableholder')?.setAttribute('role', 'rowgroup');
      mount.querySelector('.tabulator-table')?.setAttribute('role', 'presentation');
      mount.querySelector('.tabulator-header-contents')?.setAttribute('role', 'presentation');
      mount.removeAttribute('aria-owns');
      this.draw();
    });
    // Rows are made anew when they are replaced or the grid changes its width; the focus stays in
    // its row.
    table.on('renderComplete', () => {
      const lost = document.activeElement === null || document.activeElement === document.body;
      if (this.inRows && lost && this.cursor !== null && this.byKey.has(this.cursor.key))
        this.focusCursor();
    });
    table.on('columnResized', (column) => {
      setTaste(
        `width.${this.options.name}.${column.getField()}`,
        String(Math.round(column.getWidth())),
      );
    });
  }

  private definition(column: Column<R>): ColumnDefinition {
    const saved = Number(taste(`width.${this.options.name}.${column.id}`) ?? 0);
    const width = this.narrow.matches
      ? column.grow === true
        ? 0
        : Math.min(92, column.width ?? 92)
      : saved > 0
        ? saved
        : column.grow === true
          ? 0
          : (column.width ?? 96);
    const definition: ColumnDefinition = {
      title: column.title,
      field: column.id,
      resizable: 'header',
      minWidth: column.grow === true ? (this.narrow.matches ? 110 : (column.width ?? 220)) : 40,
      cssClass: `kind-${column.kind}${column.code === true ? ' code' : ''}`,
      formatter: (cell) => this.formatCell(column, cell),
      titleFormatter: () => this.heading(column),
    };
    if (width > 0) definition.width = width;
    return definition;
  }

  private heading(column: Column<R>): HTMLElement {
    const label = h(
      'button',
      {
        type: 'button',
        class: 'sort',
        title: column.hint ?? column.title,
        on: { click: () => this.sortBy(column) },
      },
      h('span', {}, column.title),
      h('i', { 'aria-hidden': 'true' }),
    );
    const input = h('input', {
      class: 'column-filter',
      type: 'text',
      'aria-label': `Filter ${column.title}`,
      placeholder: placeholder(column.kind),
      spellcheck: 'false',
      autocomplete: 'off',
      'data-column': column.id,
      value: this.options.url.get(FILTER_KEY + column.id),
      on: {
        input: () =>
          this.options.url.set(
            { [FILTER_KEY + column.id]: withUnit(input.value, column.unit ?? '') },
            'replace',
          ),
      },
    });
    return h('div', { class: 'heading' }, label, input);
  }

  private formatCell(column: Column<R>, cell: CellComponent): HTMLElement {
    const { row } = cell.getData() as Line<R>;
    const value = column.value(row);
    const element = h('span', { class: 'cell' });
    if (typeof value === 'number') element.title = exact(value);
    else if (typeof value === 'string') element.title = value;
    const content = column.node?.(row, value) ?? null;
    if (content !== null) element.append(content);
    // Cut from the left by right-to-left overflow; bdi keeps the letters themselves in order.
    else if (column.code === true) element.append(h('bdi', { dir: 'ltr' }, cellText(column, row)));
    else element.append(cellText(column, row));
    return element;
  }

  private formatRow(row: RowComponent): void {
    const line = row.getData() as Line<R>;
    const element = row.getElement();
    element.dataset['key'] = line.key;
    element.setAttribute('aria-rowindex', String(line.index + 2));
    const selected = line.key === this.options.url.get('sel');
    element.classList.toggle('selected', selected);
    element.setAttribute('aria-selected', String(selected));
    const { tree } = this.content;
    if (tree !== undefined) {
      element.setAttribute('aria-level', String(tree.depth(line.row) + 1));
      if (tree.children(line.row).length > 0)
        element.setAttribute('aria-expanded', String(tree.isOpen(line.row)));
    }
  }

  /** What Tabulator does not redraw by itself: marks in the head, the selected row. */
  private decorate(): void {
    const sort = this.options.url.get('sort', this.options.defaultSort);
    const id = sort.replace(/^-/, '');
    const mount = this.grid.firstElementChild;
    mount?.setAttribute('role', this.content.tree === undefined ? 'grid' : 'treegrid');
    mount?.setAttribute('aria-rowcount', String(this.shown.length + 1));
    this.grid.querySelectorAll<HTMLElement>('.tabulator-col').forEach((head) => {
      const own = head.getAttribute('tabulator-field') === id;
      head.setAttribute(
        'aria-sort',
        own ? (sort.startsWith('-') ? 'descending' : 'ascending') : 'none',
      );
    });
    this.grid.querySelectorAll<HTMLInputElement>('.column-filter').forEach((input) => {
      const value = this.options.url.get(FILTER_KEY + (input.dataset['column'] ?? ''));
      if (document.activeElement !== input && input.value !== value) input.value = value;
    });
    this.markSelected();
    this.showSelected();
  }

  /** A row that was chosen elsewhere, in a picture or by a link, is scrolled to once. */
  private showSelected(): void {
    const key = this.options.url.get('sel');
    if (key === this.shownSel || (key !== '' && !this.byKey.has(key))) return;
    this.shownSel = key;
    if (key !== '') this.table?.scrollToRow(key, 'center', false).catch(() => undefined);
  }

  markSelected(): void {
    const selectedKey = this.options.url.get('sel');
    this.grid.querySelectorAll<HTMLElement>('.tabulator-row').forEach((element) => {
      const selected = element.dataset['key'] === selectedKey;
      element.classList.toggle('selected', selected);
      element.setAttribute('aria-selected', String(selected));
    });
  }

  private height(): number {
    const head = this.filtersOpen ? 66 : 34;
    const most = Math.max(300, Math.round(window.innerHeight * (this.options.maxHeight ?? 0.7)));
    const holder = this.grid.querySelector('.tabulator-tableholder');
    const scrollBar = holder !== null && holder.scrollWidth > holder.clientWidth + 1 ? 14 : 1;
    return Math.min(most, head + this.shown.length * ROW_PX + scrollBar);
  }

  private fit(): void {
    const height = `${this.height()}px`;
    if (this.table !== null && this.built && this.table.element.style.height !== height)
      this.table.setHeight(height);
  }

  private sortBy(column: Column<R>): void {
    const { url, defaultSort } = this.options;
    const now = url.get('sort', defaultSort);
    // Numbers are asked for their largest first, names for A first.
    const first = column.kind === 'text' || column.id === 'rank' ? column.id : `-${column.id}`;
    const other = first.startsWith('-') ? first.slice(1) : `-${first}`;
    const next = now === first ? other : first;
    url.set({ sort: next === defaultSort ? null : next });
    this.options.say(
      `Sorted by ${column.title}, ${next.startsWith('-') ? 'descending' : 'ascending'}`,
    );
  }

  private toggleFilters(): void {
    this.filtersOpen = !this.filtersOpen;
    this.draw();
    // The boxes are made anew with the head.
    if (this.filtersOpen)
      setTimeout(() => this.grid.querySelector<HTMLInputElement>('.column-filter')?.focus());
  }

  clearFilters(): void {
    const patch: Record<string, null> = { q: null, re: null };
    for (const key of Object.keys(this.options.url.place.params)) {
      if (key.startsWith(FILTER_KEY)) patch[key] = null;
    }
    this.options.url.set(patch);
  }

  private showTally(problems: readonly string[]): void {
    const total = this.content.tree === undefined ? this.content.rows.length : null;
    const shown = count(this.shown.length);
    const text =
      total === null || total === this.shown.length
        ? `${shown} ${this.content.noun}`
        : `${shown} of ${count(total)} ${this.content.noun}`;
    fill(
      this.tally,
      text,
      problems.length > 0 && h('span', { class: 'problem' }, ` · ${problems.join('; ')}`),
    );
  }

  private showChips(view: View): void {
    const chip = (text: string, keys: Record<string, null>): HTMLElement =>
      h(
        'button',
        {
          type: 'button',
          class: 'chip',
          title: 'Remove this filter',
          on: { click: () => this.options.url.set(keys) },
        },
        text,
        icon('close'),
      );
    const list = Object.entries(view.where).map(([id, query]) => {
      const title = this.content.columns.find((column) => column.id === id)?.title ?? id;
      return chip(`${title} ${/^[=<>!]/.test(query) ? query : `contains ${query}`}`.slice(0, 120), {
        [FILTER_KEY + id]: null,
      });
    });
    if (view.q !== '')
      list.unshift(chip(`${view.regex ? 'Expression' : 'Text'} ${view.q}`, { q: null, re: null }));
    fill(this.chips, ...list);
    this.chips.hidden = list.length === 0;
  }

  private buildColumnMenu(panel: HTMLElement): void {
    const { url } = this.options;
    panel.append(h('p', { class: 'soft' }, 'Shown columns'));
    const shown = new Set(
      visibleColumns(this.content.columns, url.get('cols')).map((column) => column.id),
    );
    for (const column of this.content.columns) {
      const input = h('input', {
        type: 'checkbox',
        on: {
          change: () =>
            url.set({ cols: toggledColumn(this.content.columns, url.get('cols'), column.id) }),
        },
      });
      input.checked = shown.has(column.id);
      panel.append(h('label', { class: 'check' }, input, h('span', {}, column.title)));
    }
    panel.append(
      h(
        'p',
        { class: 'acts' },
        button('Default columns', () => {
          for (const column of this.content.columns)
            setTaste(`width.${this.options.name}.${column.id}`, null);
          this.layout = '';
          url.set({ cols: null });
          this.draw();
        }),
      ),
    );
  }

  private buildDataMenu(panel: HTMLElement): void {
    const sources = this.options.sources?.();
    if (sources === undefined) return;
    const absolute = new URL(sources.json, document.baseURI).href;
    panel.append(
      h('a', { href: sources.json, target: '_blank', rel: 'noopener' }, 'JSON from the server'),
      h('a', { href: sources.csv }, 'CSV from the server, unfiltered'),
      h('p', { class: 'soft' }, 'For a script:'),
      h('code', { class: 'curl' }, `curl '${absolute.replace(/'/g, '%27')}'`),
      copyButton('Copy this command', () => `curl '${absolute.replace(/'/g, '%27')}'`),
    );
  }

  /** The table as it is seen: these columns, these rows, this order, with exact values. */
  csv(): string {
    const columns = this.columns().filter((column) => column.links !== true);
    return toCsv(
      columns.map((column) => column.csvTitle ?? column.title),
      this.shown.map(({ row }) => columns.map((column) => column.value(row))),
    );
  }

  private saveCsv(): void {
    downloadText(`${this.options.name}.csv`, this.csv(), 'text/csv');
    this.options.say(`Saved ${count(this.shown.length)} ${this.content.noun} as CSV`, true);
  }

  private lineOf(target: EventTarget | null): Line<R> | undefined {
    if (!(target instanceof Element)) return undefined;
    const element = target.closest<HTMLElement>('.tabulator-row');
    return element === null ? undefined : this.byKey.get(element.dataset['key'] ?? '');
  }

  private click(event: MouseEvent): void {
    const line = this.lineOf(event.target);
    if (line === undefined || !(event.target instanceof Element)) return;
    // Links and buttons in a cell act for themselves; selecting text is not a click on the row.
    if (event.target.closest('a, button, input') !== null) return;
    if ((getSelection()?.toString() ?? '') !== '') return;
    const column = event.target.closest('.tabulator-cell')?.getAttribute('tabulator-field') ?? '';
    this.cursor = { key: line.key, column };
    this.focusCursor();
    this.options.open(line.row);
  }

  private key(event: KeyboardEvent): void {
    if (
      !(event.target instanceof HTMLElement) ||
      event.target.closest('.tabulator-header, button, a, input') !== null
    )
      return;
    const columns = this.columns();
    const at = this.cursor === null ? -1 : (this.byKey.get(this.cursor.key)?.index ?? -1);
    const current = this.shown[at];
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c') {
      const column = columns.find((candidate) => candidate.id === this.cursor?.column);
      if (
        current === undefined ||
        column === undefined ||
        (getSelection()?.toString() ?? '') !== ''
      )
        return;
      event.preventDefault();
      const value = String(column.value(current.row) ?? '');
      void copyText(value).then(() => this.options.say(`Copied ${value.slice(0, 80)}`, true));
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { tree } = this.content;
    if (current !== undefined && event.key === 'Enter') {
      event.preventDefault();
      this.options.open(current.row);
      return;
    }
    if (
      current !== undefined &&
      tree !== undefined &&
      (event.key === 'ArrowRight' || event.key === 'ArrowLeft') &&
      tree.children(current.row).length > 0 &&
      tree.isOpen(current.row) === (event.key === 'ArrowLeft')
    ) {
      event.preventDefault();
      tree.toggle(current.row);
      return;
    }
    const page = Math.max(1, Math.floor(this.height() / ROW_PX) - 2);
    const step = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    }[event.key];
    const sideways = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if ((step === undefined && sideways === undefined) || this.shown.length === 0) return;
    event.preventDefault();
    const columnAt = Math.max(
      0,
      columns.findIndex((column) => column.id === this.cursor?.column),
    );
    const nextColumn =
      columns[Math.min(columns.length - 1, Math.max(0, columnAt + (sideways ?? 0)))];
    const nextAt = Math.min(this.shown.length - 1, Math.max(0, at + (step ?? 0)));
    this.cursor = { key: this.shown[nextAt]?.key ?? '', column: nextColumn?.id ?? '' };
    this.focusCursor();
  }

  /** Scrolls the row the cursor is on into sight and puts the focus on its cell. */
  private focusCursor(): void {
    const { cursor } = this;
    if (cursor === null || this.table === null) return;
    const focus = (): void => {
      const row = this.grid.querySelector(`.tabulator-row[data-key="${CSS.escape(cursor.key)}"]`);
      const cell = row?.querySelector<HTMLElement>(
        `.tabulator-cell[tabulator-field="${CSS.escape(cursor.column)}"]`,
      );
      if (cell === null || cell === undefined) return;
      cell.tabIndex = -1;
      cell.focus({ preventScroll: true });
      cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    };
    this.table.scrollToRow(cursor.key, 'nearest', false).then(focus, focus);
  }

  /** Focuses the row with this key, e.g. after its details were closed. */
  focusRow(key: string): void {
    if (!this.byKey.has(key)) return;
    this.cursor = { key, column: this.cursor?.column ?? this.columns()[0]?.id ?? '' };
    this.focusCursor();
  }
}
