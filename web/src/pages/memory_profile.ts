// SPDX-License-Identifier: Apache-2.0
// Memory profile: what each allocator had in use over time, and what for.

import { address, getJson, isAbort, type Query } from '../core/api';
import { compareColumns, compareNote } from '../components/compare_columns';
import { DataTable } from '../components/data_table';
import { MemoryTimeline, size, time } from '../components/memory_timeline';
import { Picker } from '../components/picker';
import { Segmented, Toggle } from '../components/segmented';
import { button, errorState, iconButton, notRecorded } from '../components/states';
import { tiles, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { verdictBar } from '../components/verdict';
import type { Diagnostic } from '../core/api';
import { joinBase, opParts, type Difference } from '../core/compare';
import { fill, h } from '../core/dom';
import { asPercent, bytes, count, exact, percent, plural } from '../core/format';
import type { Cell, GvizTable } from '../core/gviz';
import {
  pointAt,
  readBands,
  readBreakdown,
  readSummary,
  readTimeline,
  zoomed,
  type Allocator,
  type Band,
  type Block,
  type Breakdown,
  type MemorySummary,
  type Span,
  type Timeline,
} from '../core/memory';
import type { Page, PageContext, PageType } from '../core/page';
import { tracePlace } from '../core/trace_link';
import type { Column } from '../core/table_view';

type Row = Block & { difference?: Difference };

interface Loaded {
  summary: MemorySummary;
  /** Of the allocator that the address names when the page is asked for, whole. */
  timeline: Timeline;
  memory: string;
}

const POINTS = 4000;
/** Of what is in sight, and at least, what a link to the trace shows around a moment. */
const MOMENT_SHARE = 0.02;
const MOMENT_NS = 20_000;
/** While the wheel turns, nothing is asked for. */
const SETTLE_MS = 160;
/** Where most of the memory is free, its line would press all others flat. */
const FREE_SHARE = 0.25;
const GROUPS = [
  { value: 'allocation', label: 'Allocation', hint: 'One row for equal allocations' },
  { value: 'op', label: 'Op' },
  { value: 'region', label: 'Region' },
  { value: 'shape', label: 'Shape' },
  { value: 'data_type', label: 'Data type' },
];

class MemoryProfilePage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Loaded>;
  private readonly notes = h('div', {});
  private readonly missing = h('div', {});
  private readonly content = h('div', {});
  private readonly tileSlot = h('div', {});
  private readonly picker: Picker;
  private readonly free: Toggle;
  private readonly reset: HTMLButtonElement;
  private readonly timeline: MemoryTimeline;
  private readonly moment: Segmented;
  private readonly momentText = h('p', { class: 'soft moment', role: 'status' });
  private readonly groups: Segmented;
  private readonly scope: Toggle;
  private readonly trouble = h('div', {});
  private readonly table: DataTable<Row>;
  private readonly removeKeys: (() => void)[];
  private data: Loaded | null = null;
  private base: Loaded | null = null;
  private whole: Timeline | null = null;
  private part: { key: string; timeline: Timeline } | null = null;
  private bands: Band[] = [];
  private breakdown: Breakdown | null = null;
  private rows: Row[] = [];
  private version = 0;
  private timer: number | undefined;
  private readonly asked: Record<
    'whole' | 'part' | 'bands' | 'rows',
    { key: string; abort: AbortController | null }
  > = {
    whole: { key: '', abort: null },
    part: { key: '', abort: null },
    bands: { key: '', abort: null },
    rows: { key: '', abort: null },
  };

  constructor(private readonly context: PageContext) {
    const { url, keys } = context;
    this.picker = new Picker({
      label: 'allocator',
      placeholder: 'Find an allocator',
      choices: () =>
        (this.data?.summary.allocators ?? []).map((one) => ({
          label: one.id === '' ? '(no name)' : one.id,
          note: `${plural(one.allocations + one.deallocations, 'event')}, peak ${size(one.peak ?? 0)}`,
          current: one.id === this.memory(),
          pick: () =>
            url.set({
              mem: one.id === this.data?.summary.allocators[0]?.id ? null : one.id,
              at: null,
              alive: null,
              sel: null,
            }),
        })),
    });
    this.free = new Toggle('Free memory', 'Draw free memory as well', (on) =>
      url.set({ free: on === this.freeByDefault() ? null : on ? '1' : '0' }),
    );
    this.reset = button('Reset zoom', () => url.set({ from: null, to: null }));
    this.timeline = new MemoryTimeline(
      [
        iconButton('previous', 'Event before (,)', () => this.step(-1)),
        iconButton('next', 'Event after (.)', () => this.step(1)),
        button('Zoom in', () => this.zoom(0.5)),
        button('Zoom out', () => this.zoom(2)),
        this.reset,
        this.free.element,
      ],
      {
        at: (ns) => url.set({ at: this.asTime(ns), alive: null, sel: null }),
        span: (from, to) => this.look({ from, to }, 'push'),
        wheel: (factor, ns) =>
          this.look(zoomed(this.span(), this.wholeSpan(), factor, ns), 'replace'),
      },
    );
    this.moment = new Segmented(
      'Which moment',
      [
        { value: 'peak', label: 'At the peak' },
        { value: 'at', label: 'At the chosen time' },
        {
          value: 'end',
          label: 'Alive at the end',
          hint: 'What was allocated during the profile and never freed',
        },
      ],
      (value) => {
        if (value === 'at') url.set({ at: this.asTime(this.inspected()), alive: null, sel: null });
        else url.set({ at: null, alive: value === 'end' ? 'end' : null, sel: null });
      },
    );
    this.groups = new Segmented('Rows of the table', GROUPS, (value) =>
      url.set({ group: value === 'allocation' ? null : value, sel: null }),
    );
    this.scope = new Toggle(
      'Earlier steps too',
      'What earlier steps allocated and still hold, by name. Without it, as in XProf, it is part of “unused preallocated device memory”.',
      (on) => url.set({ scope: on ? 'all' : null, sel: null }),
    );
    this.table = new DataTable<Row>({
      title: 'In use',
      name: 'memory_breakdown',
      url,
      key: (row) => row.key,
      defaultSort: '-total',
      open: (row) => url.set({ sel: url.get('sel') === row.key ? null : row.key }),
      onSeen: () => undefined,
      say: context.say,
      sources: () => ({
        json: address('data', this.rowsQuery()),
        csv: address('data_csv', this.rowsQuery()),
      }),
    });
    this.content.append(
      h('div', { class: 'controls' }, this.picker.element),
      this.tileSlot,
      this.timeline.card.element,
      h('div', { class: 'controls' }, this.moment.element, this.groups.element, this.scope.element),
      this.momentText,
      this.trouble,
      this.table.element,
    );
    this.view = new ToolView<Loaded>(context, {
      title: context.tool?.title ?? 'Memory profile',
      tool: 'memory_profile',
      content: h('div', {}, this.notes, this.missing, this.content),
      fetch: (query, signal) => this.load(query, signal),
      ready: (data, base) => this.ready(data, base),
      changed: () => this.refresh(),
    });
    this.element = this.view.element;
    const group = 'Memory';
    const key = (letters: string, what: string, run: () => void): (() => void) =>
      keys.add({
        keys: letters,
        what,
        group,
        run: (event) => {
          event.preventDefault();
          run();
        },
      });
    this.removeKeys = [
      key('.', 'Event after', () => this.step(1)),
      key(',', 'Event before', () => this.step(-1)),
      key('+', 'Zoom in', () => this.zoom(0.5)),
      key('-', 'Zoom out', () => this.zoom(2)),
      key('0', 'Whole profile', () => url.set({ from: null, to: null })),
      keys.add({
        keys: 'Escape',
        what: 'Clear the chosen time, then the zoom',
        group,
        run: (event) => {
          if (document.querySelector('dialog[open]') !== null || url.get('sel') !== '') return;
          if (url.get('at') !== '') url.set({ at: null });
          else if (url.get('from') !== '' || url.get('to') !== '')
            url.set({ from: null, to: null });
          else return;
          event.preventDefault();
        },
      }),
    ];
  }

  update(): void {
    this.view.update();
  }

  destroy(): void {
    window.clearTimeout(this.timer);
    for (const one of Object.values(this.asked)) one.abort?.abort();
    for (const remove of this.removeKeys) remove();
    this.view.destroy();
    this.timeline.destroy();
    this.table.destroy();
  }

  // ---- what the address says

  /** This tool shows one host; without a choice the first. */
  private withHost(query: Query): Query {
    return {
      ...query,
      host: query['host'] ?? this.context.tool?.hosts?.find((host) => host !== 'ALL_HOSTS') ?? null,
    };
  }

  private query(): Query {
    return this.withHost(this.view.query());
  }

  private memory(): string {
    const wanted = this.context.url.get('mem');
    const list = this.data?.summary.allocators ?? [];
    return list.some((one) => one.id === wanted) ? wanted : (list[0]?.id ?? '');
  }

  private allocator(): Allocator | undefined {
    return this.data?.summary.allocators.find((one) => one.id === this.memory());
  }

  private rowsQuery(query: Query = this.query(), memory: string = this.memory()): Query {
    const { url } = this.context;
    const at = this.at();
    return {
      ...query,
      view: 'breakdown',
      memory_id: memory,
      group: url.get('group'),
      ...(url.get('alive') === 'end'
        ? { alive: 'end' }
        : { scope: url.get('scope'), at_ps: at === null ? null : Math.round(at * 1000) }),
    };
  }

  /** The chosen time in nanoseconds; null for the peak's. */
  private at(): number | null {
    const text = this.context.url.get('at');
    const value = Number(text);
    return text === '' || !Number.isFinite(value) ? null : value;
  }

  private asTime(ns: number): string {
    return String(Math.round(ns * 1000) / 1000);
  }

  private inspected(): number {
    const one = this.allocator();
    return this.at() ?? one?.peakNs ?? one?.firstNs ?? 0;
  }

  private wholeSpan(): Span {
    // The same for all allocators, so that one can go from one to the other and stay where one is.
    const list = this.data?.summary.allocators ?? [];
    const from = list.length === 0 ? 0 : Math.min(...list.map(({ firstNs }) => firstNs));
    const to = list.reduce((most, one) => Math.max(most, one.lastNs), from);
    return { from, to: to > from ? to : from + 1 };
  }

  private span(): Span {
    const { url } = this.context;
    const whole = this.wholeSpan();
    const of = (key: string, fallback: number): number => {
      const value = Number(url.get(key));
      return url.get(key) === '' || !Number.isFinite(value)
        ? fallback
        : Math.min(whole.to, Math.max(whole.from, value));
    };
    const [from, to] = [of('from', whole.from), of('to', whole.to)];
    return from < to ? { from, to } : whole;
  }

  private look(span: Span, how: 'push' | 'replace'): void {
    const whole = this.wholeSpan();
    const from = Math.max(whole.from, span.from);
    const to = Math.min(whole.to, Math.max(span.to, span.from + 1));
    this.context.url.set(
      {
        from: from > whole.from ? this.asTime(from) : null,
        to: to < whole.to ? this.asTime(to) : null,
      },
      how,
    );
  }

  private zoom(factor: number): void {
    const span = this.span();
    const at = this.inspected();
    this.look(
      zoomed(
        span,
        this.wholeSpan(),
        factor,
        at >= span.from && at <= span.to ? at : (span.from + span.to) / 2,
      ),
      'push',
    );
  }

  /** From the chosen time to the event before or after it, of those that are drawn. */
  private step(by: number): void {
    const points = this.points().points;
    const now = this.inspected();
    let place = pointAt(points, now);
    if (by > 0) place += 1;
    else if ((points[place]?.ns ?? now) >= now) place = pointAt(points, now - 1e-4);
    const point = points[Math.max(0, place)];
    if (point === undefined || (by > 0 && place >= points.length)) return;
    this.context.url.set({ at: this.asTime(point.ns), alive: null, sel: null }, 'replace');
    this.context.say(
      `${time(point.ns)}: ${point.gives ? 'freed' : 'allocated'} ${size(point.bytes)}, ${size(point.heap + point.stack)} in use`,
    );
  }

  // ---- loading

  private async load(query: Query, signal: AbortSignal): Promise<Loaded> {
    const all = this.withHost(query);
    const memory = this.context.url.get('mem');
    const ask = (memoryId: string | null): Promise<GvizTable> =>
      getJson<GvizTable>(
        'data',
        { ...all, view: 'timeline', points: POINTS, memory_id: memoryId },
        signal,
      );
    const [summary, timeline] = await Promise.all([
      getJson<GvizTable>('data', { ...all, view: 'summary' }, signal).then(readSummary),
      // Another run may not have that allocator.
      ask(memory === '' ? null : memory).catch((error: unknown) => {
        if (memory === '' || isAbort(error)) throw error;
        return ask(null);
      }),
    ]);
    const known = summary.allocators.some((one) => one.id === memory);
    return {
      summary,
      timeline: readTimeline(timeline),
      memory: known ? memory : (summary.allocators[0]?.id ?? ''),
    };
  }

  /** Asks once for each key; the answer to an older question is not wanted any more. */
  private ask<T>(
    slot: keyof MemoryProfilePage['asked'],
    query: Query,
    read: (table: GvizTable) => T,
    done: (value: T) => void,
    failed: (error: unknown) => void = () => undefined,
  ): void {
    const key = JSON.stringify(query);
    const one = this.asked[slot];
    if (one.key === key) return;
    one.abort?.abort();
    const abort = new AbortController();
    this.asked[slot] = { key, abort };
    getJson<GvizTable>('data', query, abort.signal).then(
      (table) => done(read(table)),
      (error: unknown) => {
        if (isAbort(error) || abort.signal.aborted) return;
        this.asked[slot].key = '';
        failed(error);
      },
    );
  }

  private ready(data: Loaded, base: Loaded | null): void {
    this.data = data;
    this.base = base;
    this.whole = data.timeline;
    this.part = null;
    this.bands = [];
    this.breakdown = null;
    for (const one of Object.values(this.asked)) one.key = '';
    this.asked.whole.key = JSON.stringify(this.wholeQuery(data.memory));
    this.version += 1;
    this.refresh();
  }

  private wholeQuery(memory: string): Query {
    return { ...this.query(), view: 'timeline', points: POINTS, memory_id: memory };
  }

  /** The points to draw: of the window where they are here, else of all. */
  private points(): Timeline {
    const span = this.span();
    if (this.part !== null && this.part.key === JSON.stringify([this.memory(), span]))
      return this.part.timeline;
    return this.whole ?? { points: [], total: 0 };
  }

  private loadRest(): void {
    const memory = this.memory();
    this.ask('whole', this.wholeQuery(memory), readTimeline, (timeline) => {
      this.whole = timeline;
      this.version += 1;
      this.refresh();
    });
    this.ask('bands', { ...this.query(), view: 'steps' }, readBands, (bands) => {
      this.bands = bands;
      this.refresh();
    });
    this.askRows();
    this.askPart();
  }

  private askPart(): void {
    const { whole } = this;
    const span = this.span();
    const all = this.wholeSpan();
    window.clearTimeout(this.timer);
    if (
      whole === null ||
      whole.points.length >= whole.total ||
      (span.from <= all.from && span.to >= all.to)
    )
      return;
    const memory = this.memory();
    this.timer = window.setTimeout(() => {
      const query = {
        ...this.wholeQuery(memory),
        from_ps: Math.floor(span.from * 1000),
        to_ps: Math.ceil(span.to * 1000),
      };
      this.ask('part', query, readTimeline, (timeline) => {
        this.part = { key: JSON.stringify([memory, span]), timeline };
        this.version += 1;
        this.refresh();
      });
    }, SETTLE_MS);
  }

  private askRows(): void {
    const { url } = this.context;
    const base = url.get('base');
    // A moment of one run has no twin in another; the peak and the end have.
    const comparable =
      this.base !== null &&
      this.at() === null &&
      this.base.summary.allocators.some((one) => one.id === this.memory());
    this.table.element.setAttribute(
      'aria-busy',
      String(this.asked.rows.key !== JSON.stringify(this.rowsQuery())),
    );
    this.ask(
      'rows',
      this.rowsQuery(),
      readBreakdown,
      (breakdown) => {
        const put = (other: Breakdown | null): void => {
          this.breakdown = breakdown;
          this.rows =
            other === null
              ? breakdown.blocks
              : joinBase<Row>(breakdown.blocks, other.blocks, {
                  place: (row) => ({ parts: opParts(row.op), rest: row.traits }),
                  name: (row) => row.op,
                  measure: (row) => row.total,
                  scale: 1,
                  put: (row, difference) => ({ ...row, difference }),
                  gone: (row) => ({
                    ...row,
                    total: 0,
                    requested: 0,
                    occurrences: 0,
                    firstNs: null,
                    step: null,
                    key: `${row.key} (gone)`,
                  }),
                });
          this.table.element.removeAttribute('aria-busy');
          fill(
            this.trouble,
            other !== null &&
              compareNote(
                this.rows,
                (row) => row.difference,
                (row) => row.op,
                ['row', 'rows'],
                null,
              ),
          );
          this.showRows(other !== null);
          this.refresh();
        };
        if (!comparable) put(null);
        else {
          getJson<GvizTable>(
            'data',
            this.rowsQuery(
              this.withHost({
                run: base,
                tag: 'memory_profile',
                host: url.get('host', '*') === '*' ? null : url.get('host'),
              }),
            ),
            this.asked.rows.abort?.signal,
          ).then(
            (table) => put(readBreakdown(table)),
            (error: unknown) => {
              if (!isAbort(error)) put(null);
            },
          );
        }
      },
      (error) => {
        this.table.element.removeAttribute('aria-busy');
        fill(
          this.trouble,
          errorState(error, () => this.refresh()),
        );
      },
    );
  }

  // ---- showing

  private freeByDefault(): boolean {
    const one = this.allocator();
    return (
      one?.peak !== null &&
      one?.peak !== undefined &&
      one.free > 0 &&
      one.peak >= FREE_SHARE * (one.peak + one.free)
    );
  }

  private refresh(): void {
    const { data } = this;
    if (data === null) return;
    const one = this.allocator();
    fill(this.notes, this.notesBar(data.summary));
    fill(
      this.missing,
      one === undefined &&
        notRecorded(
          'No allocator reported to the profiler',
          h(
            'p',
            {},
            'Allocations are recorded by TensorFlow’s and XLA’s allocators of accelerators (and by MKL’s on CPUs), when the host is traced at level 2 or higher, which is the default.',
          ),
          h(
            'p',
            { class: 'soft' },
            'A program on the CPU alone has none of them. Otherwise check host_tracer_level in the profiler’s options, and that something was allocated during the capture: memory that is kept from step to step is not allocated again.',
          ),
        ),
    );
    this.content.hidden = one === undefined;
    if (one === undefined) return;
    this.picker.show(one.id === '' ? '(no name)' : one.id);
    const list = tiles(this.tiles(one));
    list.classList.add('nine');
    fill(this.tileSlot, list);
    this.showControls(one);
    this.showTimeline(one);
    this.loadRest();
    this.showMoment();
    this.table.update();
  }

  private notesBar(summary: MemorySummary): HTMLElement | null {
    const entries: Diagnostic[] = [];
    if (summary.outOfMemory !== '')
      entries.push({
        severity: 'error',
        message: `The profiler reports that memory ran out: ${summary.outOfMemory}`,
      });
    for (const one of summary.allocators) {
      if (one.note !== '')
        entries.push({
          severity: one.severity === 'error' ? 'error' : 'warning',
          host: one.id,
          message: one.note,
        });
    }
    const one = this.allocator();
    if (one !== undefined && one.lastStep < 1)
      entries.push({
        severity: 'info',
        message:
          'Steps may be incomplete: all events of this allocator belong to the first step, or to none.',
      });
    return entries.length === 0 ? null : verdictBar(entries);
  }

  private tiles(one: Allocator): Tile[] {
    const other = this.base?.summary.allocators.find((candidate) => candidate.id === one.id);
    const whole = (value: number): { value: string; unit: string } => ({
      value: count(value),
      unit: '',
    });
    const of = (
      measure: (from: Allocator) => number | null,
    ): { value: number | null; base?: number | null } => ({
      value: measure(one),
      ...(other === undefined ? {} : { base: measure(other) }),
    });
    const amountOf = (
      measure: (from: Allocator) => number | null,
    ): Pick<Tile, 'value' | 'format' | 'exact'> => ({
      ...of(measure),
      format: bytes,
      exact: `${exact(measure(one) ?? 0)} bytes`,
    });
    return [
      {
        label: 'Allocations',
        hint: 'All recorded events',
        ...of((from) => from.allocations),
        format: whole,
        note: `${count(one.alive)} never freed`,
      },
      {
        label: 'Deallocations',
        hint: 'All recorded events',
        ...of((from) => from.deallocations),
        format: whole,
      },
      {
        label: 'Memory capacity',
        hint: 'Stack, heap and free memory at the peak',
        ...amountOf((from) => from.capacity),
        ...(one.capacity === null || one.free <= 0
          ? {}
          : { note: `${percent((one.peak ?? 0) / one.capacity)} used at the peak` }),
      },
      {
        label: 'Peak heap, lifetime',
        hint: 'Since the allocator was created, including the time before the profile',
        ...amountOf((from) => from.lifetimePeak),
        better: 'lower',
      },
      {
        label: 'Peak in the profile',
        hint: 'Most stack and heap in use while the profile was taken',
        ...amountOf((from) => from.peak),
        better: 'lower',
        note:
          one.peakNs === null
            ? 'never in use'
            : `at ${time(one.peakNs)}, step ${one.peakStep ?? '–'}`,
      },
      {
        label: 'Stack at the peak',
        hint: 'Reserved when the peak was reached',
        ...amountOf((from) => from.stack),
      },
      {
        label: 'Heap at the peak',
        hint: 'Allocated when the peak was reached',
        ...amountOf((from) => from.heap),
      },
      {
        label: 'Free at the peak',
        hint: 'Neither reserved nor allocated',
        ...amountOf((from) => from.free),
      },
      {
        label: 'Fragmentation',
        hint: 'At the peak: share of the free memory that is not in the largest free block',
        ...of((from) => from.fragmentation),
        format: asPercent,
        exact: `${(one.fragmentation * 100).toFixed(2)} %`,
        better: 'lower',
      },
    ];
  }

  private showControls(one: Allocator): void {
    const { url } = this.context;
    const at = this.at();
    const free = url.get('free');
    const whole = this.wholeSpan();
    const span = this.span();
    this.free.show(free === '' ? this.freeByDefault() : free === '1');
    this.free.element.hidden = one.free <= 0;
    this.reset.disabled = span.from <= whole.from && span.to >= whole.to;
    this.moment.show(url.get('alive') === 'end' ? 'end' : at === null ? 'peak' : 'at');
    this.groups.show(
      GROUPS.some(({ value }) => value === url.get('group')) ? url.get('group') : 'allocation',
    );
    this.scope.show(url.get('scope') === 'all');
    this.scope.element.hidden = url.get('alive') === 'end';
  }

  private showTimeline(one: Allocator): void {
    const { points, total } = this.points();
    const chosen = this.rows.find((row) => row.key === this.context.url.get('sel'));
    const free = this.context.url.get('free');
    this.timeline.show({
      points,
      total,
      version: this.version,
      bands: this.bands,
      whole: this.wholeSpan(),
      span: this.span(),
      lastNs: one.lastNs,
      peak: one.peakNs === null || one.peak === null ? null : { ns: one.peakNs, bytes: one.peak },
      at: this.context.url.get('alive') === 'end' ? null : this.at(),
      chosen: chosen?.firstNs ?? null,
      showFree: one.free > 0 && (free === '' ? this.freeByDefault() : free === '1'),
      summary: `Memory of ${one.id || 'the allocator'} over ${time(one.lastNs - one.firstNs)}: ${plural(total, 'event')}, peak ${size(one.peak ?? 0)} at ${time(one.peakNs ?? 0)}${this.bands.length > 0 ? `, ${plural(this.bands.length, 'step')}` : ''}.`,
    });
  }

  private showMoment(): void {
    const { breakdown } = this;
    const end = this.context.url.get('alive') === 'end';
    if (breakdown === null) {
      fill(this.momentText);
      return;
    }
    if (breakdown.ns === null) {
      fill(this.momentText, 'Nothing had been recorded by then.');
      return;
    }
    const cut =
      breakdown.rowsTotal > breakdown.blocks.length
        ? ` The ${count(breakdown.blocks.length)} largest of ${count(breakdown.rowsTotal)} rows are shown; “Data” has the CSV with all of them.`
        : '';
    const one = this.allocator();
    fill(
      this.momentText,
      end
        ? `After the last event, ${plural(one?.alive ?? 0, 'allocation')} of the profile ${one?.alive === 1 ? 'was' : 'were'} not freed: ${size(one?.aliveBytes ?? 0)} of ${size(breakdown.heap)} of heap. Memory of the model is meant to stay; memory that grows with every step is a leak.${cut}`
        : `At ${time(breakdown.ns)}, in step ${breakdown.step ?? '–'}: heap ${size(breakdown.heap)}, stack ${size(breakdown.stack)}, free ${size(breakdown.free)}, fragmentation ${(breakdown.fragmentation * 100).toFixed(2)} %.${cut}`,
      ' ',
      this.traceLink(breakdown.ns),
    );
  }

  /** To the same moment in the trace, which counts from the same zero. */
  private traceLink(ns: number): HTMLElement | null {
    const { context } = this;
    if (!context.has('trace_viewer')) return null;
    // Reports of allocators from before the timeline's first event are not in sight there.
    if (ns < 0) return h('span', {}, 'That is before the first event of the trace.');
    const { from, to } = this.span();
    const room = Math.max(MOMENT_NS, ((to - from) * MOMENT_SHARE) / 2);
    return h(
      'a',
      {
        href: context.link('trace_viewer', {
          ...tracePlace({
            fromNs: Math.max(0, Math.floor(ns - room)),
            toNs: Math.ceil(ns + room),
            markNs: ns,
            label: 'memory',
          }),
          ...((context.tool?.hosts ?? []).length > 1
            ? { host: String(this.query()['host'] ?? '') }
            : {}),
        }),
      },
      'Show this moment in the trace',
    );
  }

  private showRows(compare: boolean): void {
    const group = this.context.url.get('group', 'allocation');
    const one = group === 'allocation' || !GROUPS.some(({ value }) => value === group);
    const amount = (
      id: string,
      title: string,
      value: (row: Row) => number | null,
      extra: Partial<Column<Row>> = {},
    ): Column<Row> => ({
      id,
      title,
      kind: 'number',
      width: 104,
      value,
      text: (cell: Cell) => (typeof cell === 'number' ? size(cell) : '–'),
      ...extra,
    });
    const word = (
      id: string,
      title: string,
      value: (row: Row) => string,
      extra: Partial<Column<Row>> = {},
    ): Column<Row> => ({
      id,
      title,
      kind: 'text',
      width: 120,
      value,
      text: (cell: Cell) => (cell === '' || cell === null ? (one ? '–' : '(none)') : String(cell)),
      ...extra,
    });
    const total = this.rows.reduce((sum, row) => sum + row.total, 0);
    const columns: Column<Row>[] = [];
    // A group's own line has only what it is grouped by; what no allocation stands for keeps its
    // op's name.
    if (one || group === 'op')
      columns.push(
        word('op', 'Op', (row) => row.op, { grow: true, narrow: true, code: true, width: 210 }),
      );
    else
      columns.push(
        word(
          group,
          { region: 'Region', shape: 'Shape', data_type: 'Data type' }[group] ?? '',
          (row) =>
            row.kind === 'allocation'
              ? ({ region: row.region, shape: row.shape, data_type: row.type }[group] ?? '')
              : row.op,
          { grow: true, narrow: true, width: 260 },
        ),
      );
    columns.push(
      amount('total', 'Total', (row) => row.total, {
        narrow: true,
        hint: 'Size of all of them, as rounded by the allocator',
      }),
      {
        id: 'share',
        title: 'Share',
        kind: 'number',
        width: 82,
        scale: 0.01,
        value: (row) => (total === 0 ? 0 : row.total / total),
        text: (cell) => (typeof cell === 'number' ? percent(cell) : '–'),
        hint: 'Share of the memory in use',
      },
      ...(compare
        ? compareColumns<Row>('Total', (row) => row.difference, {
            unit: '',
            time: false,
            show: size,
          })
        : []),
      {
        id: 'occurrences',
        title: 'Count',
        kind: 'number',
        width: 76,
        value: (row) => row.occurrences,
        text: (cell) => (typeof cell === 'number' ? count(cell) : '–'),
        hint: 'Equal allocations',
        narrow: !compare,
      },
      ...(one ? [amount('each', 'Each', (row) => row.each, { hint: 'Size of one' })] : []),
      amount('requested', 'Requested', (row) => row.requested, {
        hint: 'Size that was requested, for all of them',
      }),
    );
    if (one)
      columns.push(
        word('region', 'Region', (row) => row.region),
        word('data_type', 'Data type', (row) => row.type, { width: 92 }),
        word('shape', 'Shape', (row) => row.shape, { width: 128 }),
      );
    columns.push(
      {
        id: 'first',
        title: 'Allocated',
        kind: 'number',
        width: 96,
        value: (row) => row.firstNs,
        text: (cell) => (typeof cell === 'number' ? time(cell) : '–'),
        hint: 'When the earliest of them was allocated; choose the row to see it in the chart',
      },
      {
        id: 'step',
        title: 'Step',
        kind: 'number',
        width: 66,
        value: (row) => row.step,
        text: (cell) => (typeof cell === 'number' ? String(cell) : '–'),
        hint: 'Step of the earliest',
      },
    );
    this.table.set({
      rows: this.rows,
      columns,
      noun: one
        ? this.rows.length === 1
          ? 'row'
          : 'rows'
        : ({ op: 'ops', region: 'regions', shape: 'shapes', data_type: 'data types' }[group] ??
          'rows'),
    });
  }
}

export const page: PageType = (context) => new MemoryProfilePage(context);
