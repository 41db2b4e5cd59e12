// SPDX-License-Identifier: Apache-2.0
// tf.data bottleneck: which input pipelines are slow, and what a call of one waits for.

import { address, getJson, type Query } from '../core/api';
import { ChartCard } from '../components/chart_card';
import { axisTime, microseconds } from '../components/charts';
import { latencyConfig } from '../components/latency_chart';
import { timeColumn } from '../components/columns';
import { compareColumns, timeMeasure } from '../components/compare_columns';
import { DataTable } from '../components/data_table';
import { finding } from '../components/finding';
import { IteratorGraph, ROLE_WORDS } from '../components/iterator_graph';
import { snippet } from '../components/no_steps';
import { csvButton, plainTable, section, type PlainTableOptions } from '../components/plain_table';
import { copyButton, errorState, iconButton, notRecorded } from '../components/states';
import { tiles, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { exactPlace, joinBase } from '../core/compare';
import { fill, h, type Child } from '../core/dom';
import { count, duration, plural } from '../core/format';
import type { GvizTable } from '../core/gviz';
import type { Page, PageContext, PageType } from '../core/page';
import type { Column } from '../core/table_view';
import {
  baseKey,
  branches,
  criticalPath,
  nameParts,
  pathText,
  points,
  rankOf,
  readTfData,
  readUses,
  SLOW_US,
  worstPipeline,
  type Branch,
  type Bucket,
  type Pipeline,
  type TfData,
  type Use,
  type Verdict,
} from '../core/tf_data';

const TOOL = 'tf_data_bottleneck_analysis';
/** Bottlenecks that are spelled out; the table of pipelines has them all. */
const MOST_ADVICE = 12;

/** Rows below this level are indented no further; they say their level instead. */
const DEEPEST = 16;

const HEADS: Readonly<
  Record<Exclude<Verdict, 'none'>, { severity: 'warning' | 'info'; head: string; text: string }>
> = {
  slow: {
    severity: 'warning',
    head: 'Slow input pipeline.',
    text: 'The program may be waiting for its input; the table below shows what each slow pipeline waits for, and what to do about it.',
  },
  fast: {
    severity: 'info',
    head: 'Not input-bound by tf.data.',
    text: 'No call of an input pipeline was slow. Hosts that were not captured may still wait for their input.',
  },
  device_only: {
    severity: 'info',
    head: 'Only copies to devices were captured.',
    text: 'No pipeline that produces data was called during the capture. If the program has one on its hosts, capture for longer.',
  },
};

const RECORD = `options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2)
tf.profiler.experimental.start(logdir, options)
for batch in dataset.take(100):
    train_step(batch)
tf.profiler.experimental.stop()`;

/** A long name that breaks between its parts and nowhere else, if it can. */
function splitName(longName: string): HTMLElement {
  const code = h('code', { class: 'long-name' });
  for (const part of nameParts(longName)) code.append(part, h('wbr'));
  return code;
}

function advice(suggestion: string, guide: string): HTMLElement {
  const { lead, items } = points(suggestion);
  return h(
    'div',
    { class: 'tf-advice' },
    lead !== '' && h('p', {}, lead),
    items.length > 0 && h('ol', {}, ...items.map((item) => h('li', {}, item))),
    guide.startsWith('https://www.tensorflow.org/') &&
      h(
        'p',
        {},
        h('a', { href: guide, target: '_blank', rel: 'noopener noreferrer' }, 'The guide on this'),
      ),
  );
}

interface Call {
  key: string;
  uses: Use[] | null;
  list: Branch[];
  error: unknown;
}

class TfDataPage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<TfData>;
  private readonly top = h('div', {});
  private readonly missing = h('div', {});
  private readonly content = h('div', {});
  private readonly tileSlot = h('div', {});
  private readonly adviceSlot = h('div', {});
  private readonly table: DataTable<Pipeline>;
  private readonly chart: ChartCard;
  private readonly graph: IteratorGraph;
  private readonly graphNote = h('small', {});
  private readonly callSlot = h('div', { class: 'call-body' });
  private readonly pipelinePick = h('select', { 'aria-label': 'Input pipeline' });
  private readonly callNumber = h('input', {
    type: 'number',
    class: 'steps-box',
    min: '1',
    'aria-label': 'Call, counted from the slowest',
  });
  private readonly callOf = h('span', { class: 'soft' });
  private readonly slowest = h(
    'button',
    { type: 'button', class: 'button', on: { click: () => this.choose({ call: null }) } },
    'Slowest',
  );
  private readonly whole = h(
    'button',
    {
      type: 'button',
      class: 'button',
      on: { click: () => this.choose({ fit: this.context.url.get('fit') === '1' ? null : '1' }) },
    },
    'Whole graph',
  );
  private readonly median = h(
    'button',
    { type: 'button', class: 'button', on: { click: () => this.choose({ call: 'median' }) } },
    'Median',
  );
  private readonly callPick: HTMLElement;
  private readonly card = h('aside', { class: 'core-card', 'aria-label': 'One iterator' });
  private readonly summary = h('p', { class: 'call-summary', role: 'status' });
  private readonly twinSlot = h('div', {});
  private readonly removeKeys: (() => void)[];
  private data: TfData | null = null;
  private base: TfData | null = null;
  private rowsOf: [TfData | null, TfData | null] = [null, null];
  private call: Call = { key: '', uses: null, list: [], error: null };
  private request: AbortController | null = null;

  constructor(private readonly context: PageContext) {
    const { url, keys } = context;
    this.table = new DataTable<Pipeline>({
      title: 'All input pipelines',
      name: 'tf_data_pipelines',
      url,
      key: (row) => row.key,
      defaultSort: '-max',
      onSeen: () => undefined,
      say: context.say,
      maxHeight: 0.4,
      open: (row) =>
        this.choose({
          sel: row.difference?.state === 'gone' ? null : row.key,
          call: null,
          it: null,
        }),
      sources: () => ({
        json: address('data', this.view.query()),
        csv: address('data_csv', this.view.query()),
      }),
    });
    this.chart = new ChartCard({ title: 'Calls by duration', name: 'tf_data_calls' });
    this.graph = new IteratorGraph((id) => this.choose({ it: url.get('it') === id ? null : id }));
    this.pipelinePick.addEventListener('change', () =>
      this.choose({ sel: this.pipelinePick.value, call: null, it: null }),
    );
    this.callNumber.addEventListener('change', () =>
      this.choose({
        call: this.callNumber.value.trim() === '1' ? null : this.callNumber.value.trim(),
      }),
    );
    this.callPick = h(
      'span',
      { class: 'controls' },
      this.slowest,
      this.median,
      h(
        'span',
        { class: 'call-number' },
        iconButton('previous', 'Slower call (p)', () => this.move(-1)),
        h('label', { class: 'select' }, h('span', {}, 'Call'), this.callNumber),
        this.callOf,
        iconButton('next', 'Faster call (n)', () => this.move(1)),
      ),
    );
    const pick = h('label', { class: 'select' }, h('span', {}, 'Pipeline'), this.pipelinePick);
    const legend = h(
      'div',
      { class: 'legend it-legend' },
      ...(['bottleneck', 'waited', 'ahead'] as const).map((role) =>
        h(
          'span',
          {},
          h('i', { class: `it-key ${role}`, 'aria-hidden': 'true' }),
          {
            bottleneck: 'bottleneck: most self time',
            waited: 'waited for, on the critical path',
            ahead: 'not waited for: done ahead',
          }[role],
        ),
      ),
      h('span', {}, 'Arrows follow the data.'),
    );
    fill(
      this.callSlot,
      this.summary,
      h(
        'div',
        { class: 'it-grid' },
        h('div', { class: 'it-main' }, this.graph.element, legend),
        this.card,
      ),
      this.twinSlot,
    );
    const callSection = h(
      'section',
      { class: 'card', 'aria-label': 'What a call waits for' },
      h(
        'header',
        { class: 'card-head' },
        h('h2', {}, 'What a call waits for'),
        this.graphNote,
        h('div', { class: 'acts' }, this.whole),
      ),
      h(
        'div',
        { class: 'controls call-controls', role: 'group', 'aria-label': 'Call' },
        pick,
        this.callPick,
      ),
      this.callSlot,
    );
    this.content.append(
      this.tileSlot,
      this.adviceSlot,
      this.table.element,
      callSection,
      this.chart.element,
    );
    this.view = new ToolView<TfData>(context, {
      title: context.tool?.title ?? 'tf.data bottleneck',
      tool: TOOL,
      content: h('div', {}, this.top, this.missing, this.content),
      fetch: async (query, signal) =>
        readTfData(await getJson<GvizTable[]>('data', { ...query, rank: 0 }, signal)),
      ready: (data, base) => {
        this.data = data;
        this.base = base;
        this.call = { key: '', uses: null, list: [], error: null };
        this.refresh();
      },
      changed: () => this.refresh(),
    });
    this.element = this.view.element;
    const group = 'Calls of a pipeline';
    this.removeKeys = [
      keys.add({
        keys: 'n',
        what: 'Next call, a faster one',
        group,
        run: (event) => {
          event.preventDefault();
          this.move(1);
        },
      }),
      keys.add({
        keys: 'p',
        what: 'Previous call, a slower one',
        group,
        run: (event) => {
          event.preventDefault();
          this.move(-1);
        },
      }),
      keys.add({
        keys: 'Escape',
        what: 'Clear the chosen iterator',
        group,
        run: (event) => {
          if (url.get('it') === '' || document.querySelector('dialog[open]') !== null) return;
          url.set({ it: null });
          event.preventDefault();
        },
      }),
    ];
  }

  update(): void {
    this.view.update();
  }

  destroy(): void {
    this.request?.abort();
    for (const remove of this.removeKeys) remove();
    this.view.destroy();
    this.chart.destroy();
    this.table.destroy();
  }

  private choose(patch: Record<string, string | null>): void {
    this.context.url.set(patch);
  }

  private pipeline(): Pipeline | null {
    const { data } = this;
    if (data === null) return null;
    return (
      data.pipelines.find((one) => one.key === this.context.url.get('sel')) ??
      worstPipeline(data.pipelines)
    );
  }

  private move(by: number): void {
    const pipeline = this.pipeline();
    if (pipeline === null) return;
    const next = Math.min(
      pipeline.calls,
      Math.max(1, rankOf(this.context.url.get('call'), pipeline.calls) + 1 + by),
    );
    this.context.url.set({ call: next === 1 ? null : String(next) }, 'replace');
    this.context.say(`Call ${next} of ${pipeline.calls}`);
  }

  private manyHosts(): boolean {
    return new Set(this.data?.pipelines.map((one) => one.host)).size > 1;
  }

  private nameOf(pipeline: Pipeline): string {
    return this.manyHosts() ? `${pipeline.host} · ${pipeline.name}` : pipeline.name;
  }

  private refresh(): void {
    const { data } = this;
    if (data === null) return;
    const none = data.pipelines.length === 0;
    const verdict = data.verdict === 'none' ? null : HEADS[data.verdict];
    const calls = data.pipelines.reduce((sum, one) => sum + (one.isDevice ? 0 : one.calls), 0);
    const slow = data.pipelines.reduce((sum, one) => sum + (one.isDevice ? 0 : one.slow), 0);
    fill(
      this.top,
      !none &&
        verdict !== null &&
        finding({
          ...verdict,
          text:
            data.verdict === 'slow'
              ? `${calls === 1 ? 'The only call was slow.' : `${count(slow)} of ${count(calls)} calls ${slow === 1 ? 'was' : 'were'} slow.`} ${data.hostsStatement === '' ? '' : `${data.hostsStatement} `}${verdict.text}`
              : verdict.text,
          limits: `Slow is more than ${SLOW_US}\u00a0µs.`,
        }),
      data.withoutId > 0 &&
        h(
          'div',
          { class: 'verdict info' },
          h('b', {}, 'Note'),
          h(
            'span',
            {},
            `${plural(data.withoutId, 'event')} of iterators have no id in this file, so they belong to no iterator here.`,
          ),
        ),
    );
    fill(this.missing, none && this.nothing());
    this.content.hidden = none;
    if (none) return;
    this.showTiles(data);
    this.showAdvice(data);
    this.showTable(data);
    const pipeline = this.pipeline();
    if (pipeline === null) return;
    this.showControls(data, pipeline);
    this.showLatencies(data, pipeline);
    this.loadCall(data, pipeline);
  }

  private nothing(): HTMLElement {
    return notRecorded(
      'No tf.data activity was recorded',
      h(
        'p',
        {},
        'No input pipeline was called during the capture, or its calls were not recorded. A program that reads its data in another way has nothing to show here.',
      ),
      h('p', {}, 'If it uses tf.data:'),
      h(
        'ul',
        {},
        h(
          'li',
          {},
          'Capture for longer: if a prefetch holds data for many steps, a short capture may contain no call.',
        ),
        h('li', {}, 'Set the host tracer to level 2 or more; level 1 leaves out tf.data.'),
        h(
          'li',
          {},
          'Capture the hosts that run the pipelines. With tf.data service these are its workers.',
        ),
      ),
      snippet('Record tf.data', RECORD),
    );
  }

  private showTiles(data: TfData): void {
    const { base } = this;
    const slowest = (one: TfData): number => worstPipeline(one.pipelines)?.max ?? 0;
    const calls = (one: TfData): number =>
      one.pipelines.reduce((sum, pipeline) => sum + pipeline.calls, 0);
    const slow = (one: TfData): number =>
      one.pipelines.reduce((sum, pipeline) => sum + pipeline.slow, 0);
    const mean = (one: TfData): number =>
      calls(one) === 0
        ? 0
        : one.pipelines.reduce((sum, pipeline) => sum + pipeline.mean * pipeline.calls, 0) /
          calls(one);
    const whole = (value: number): { value: string; unit: string } => ({
      value: count(value),
      unit: '',
    });
    const worst = worstPipeline(data.pipelines);
    const old = base === null || base.pipelines.length === 0 ? null : base;
    const hosts = new Set(data.pipelines.map((one) => one.host)).size;
    const list: Tile[] = [
      {
        label: 'Slowest call',
        hint: 'The longest time the program waited for one element',
        value: slowest(data),
        format: duration,
        better: 'lower',
        note: worst === null ? '' : this.nameOf(worst),
        base: old === null ? null : slowest(old),
      },
      {
        label: 'Mean call',
        hint: 'Mean time of a call, over all pipelines',
        value: mean(data),
        format: duration,
        better: 'lower',
        base: old === null ? null : mean(old),
      },
      {
        label: 'Slow calls',
        hint: `Calls of more than ${SLOW_US} µs`,
        value: slow(data),
        format: whole,
        note: `of ${count(calls(data))}`,
        base: old === null ? null : slow(old),
      },
      {
        label: 'Pipelines',
        hint: 'Different input pipelines',
        value: data.pipelines.length,
        format: whole,
        ...(hosts > 1 ? { note: `on ${plural(hosts, 'host')}` } : {}),
      },
    ];
    const bottleneck = worst?.bottleneck ?? null;
    if (bottleneck !== null)
      list.push({
        label: 'Bottleneck',
        hint: bottleneck.longName,
        value: bottleneck.self,
        format: () => ({ value: bottleneck.iterator, unit: '' }),
        note: `${microseconds(bottleneck.self)} self time`,
      });
    fill(this.tileSlot, tiles(list));
  }

  private showAdvice(data: TfData): void {
    const slow = data.pipelines
      .filter((one) => !one.isDevice && one.max > SLOW_US)
      .sort((a, b) => b.max - a.max);
    const shown = slow.slice(0, MOST_ADVICE);
    const options = (rows: readonly Pipeline[]): PlainTableOptions<Pipeline> => ({
      label: 'Bottlenecks',
      rows,
      columns: [
        {
          title: 'Pipeline',
          value: (row) => this.nameOf(row),
          cell: (row) =>
            h(
              'button',
              {
                type: 'button',
                class: 'linklike',
                on: { click: () => this.choose({ sel: row.key, call: null, it: null }) },
              },
              this.nameOf(row),
            ),
        },
        {
          title: 'Slowest call',
          number: true,
          value: (row) => row.max,
          cell: (row) => microseconds(row.max),
        },
        {
          title: 'Bottleneck',
          class: 'it-cell',
          value: (row) => row.bottleneck?.longName ?? null,
          cell: (row) =>
            row.bottleneck === null
              ? 'No iterator has self time.'
              : h(
                  'span',
                  {},
                  h('b', {}, row.bottleneck.iterator),
                  ` ${microseconds(row.bottleneck.self)} self time`,
                  splitName(row.bottleneck.longName),
                ),
        },
        {
          title: 'What to do',
          wide: true,
          class: 'advice-cell',
          value: (row) => row.bottleneck?.suggestion ?? null,
          cell: (row) =>
            row.bottleneck === null ? '' : advice(row.bottleneck.suggestion, row.bottleneck.guide),
        },
      ],
    });
    fill(
      this.adviceSlot,
      shown.length > 0 &&
        section(
          'Bottlenecks',
          slow.length > shown.length
            ? `the ${shown.length} slowest of ${count(slow.length)} slow pipelines`
            : 'of the slowest call of each slow pipeline',
          [csvButton('tf_data_bottlenecks', () => options(slow))],
          plainTable(options(shown)),
        ),
    );
  }

  private showTable(data: TfData): void {
    const { base } = this;
    if (this.rowsOf[0] === data && this.rowsOf[1] === base) {
      this.table.update();
      return;
    }
    this.rowsOf = [data, base];
    const found = baseKey(data.pipelines, base?.pipelines ?? []);
    const rows =
      base === null
        ? data.pipelines
        : joinBase(data.pipelines, base.pipelines, {
            place: (row) => exactPlace(found(row)),
            name: found,
            measure: (row) => row.mean,
            scale: 1,
            put: (row, difference) => ({ ...row, difference }),
            gone: (row) => ({
              ...row,
              key: `${row.key} (gone)`,
              min: 0,
              mean: 0,
              max: 0,
              calls: 0,
              slow: 0,
              bottleneck: null,
            }),
          });
    const columns: Column<Pipeline>[] = [
      ...(this.manyHosts()
        ? [
            {
              id: 'host',
              title: 'Host',
              kind: 'text' as const,
              width: 140,
              narrow: true,
              value: (row: Pipeline) => row.host,
              hint: 'Host that ran the pipeline',
            },
          ]
        : []),
      {
        id: 'pipeline',
        title: 'Pipeline',
        kind: 'text',
        width: 92,
        narrow: true,
        grow: base !== null,
        value: (row) => row.name,
        hint: 'Host: produces data for the program. Device: copies what another pipeline produced',
      },
      {
        id: 'root',
        title: 'Root',
        kind: 'text',
        grow: true,
        width: 150,
        code: true,
        hidden: base !== null,
        value: (row) => row.root,
        hint: 'The iterator that the program calls',
      },
      timeColumn(rows, 'mean', 'Mean (µs)', (row) => row.mean, {
        narrow: base === null,
        hint: 'Mean time of a call',
      }),
      timeColumn(rows, 'min', 'Min (µs)', (row) => row.min, {
        hidden: base !== null,
        hint: 'The fastest call',
      }),
      timeColumn(rows, 'max', 'Max (µs)', (row) => row.max, {
        narrow: true,
        hint: 'The slowest call',
      }),
      {
        id: 'calls',
        title: 'Calls',
        kind: 'number',
        width: 84,
        value: (row) => row.calls,
        text: (cell) => count(Number(cell)),
        hint: 'How often it was called',
      },
      {
        id: 'slow',
        title: 'Slow calls',
        kind: 'number',
        width: 96,
        value: (row) => row.slow,
        text: (cell) => count(Number(cell)),
        hint: `Calls of more than ${SLOW_US} µs`,
      },
      {
        id: 'bottleneck',
        title: 'Bottleneck',
        kind: 'text',
        width: 150,
        value: (row) => row.bottleneck?.iterator ?? '',
        text: (cell) => (cell === '' ? '–' : String(cell)),
        hint: 'Of its slowest call',
      },
      ...(base === null
        ? []
        : compareColumns<Pipeline>(
            'Mean time',
            (row) => row.difference,
            timeMeasure(rows.flatMap((row) => [row.mean, row.difference?.base ?? null])),
          )),
    ];
    this.table.set({ rows, columns, noun: rows.length === 1 ? 'pipeline' : 'pipelines' });
  }

  private showControls(data: TfData, pipeline: Pipeline): void {
    const rank = rankOf(this.context.url.get('call'), pipeline.calls);
    fill(
      this.pipelinePick,
      ...data.pipelines.map((one) =>
        h('option', { value: one.key, selected: one === pipeline }, this.nameOf(one)),
      ),
    );
    this.pipelinePick.value = pipeline.key;
    this.callNumber.max = String(pipeline.calls);
    this.callNumber.value = String(rank + 1);
    this.callOf.textContent = `of ${count(pipeline.calls)}, slowest first`;
    this.slowest.setAttribute('aria-pressed', String(rank === 0));
    this.median.setAttribute('aria-pressed', String(rank === rankOf('median', pipeline.calls)));
    this.callPick.hidden = pipeline.calls < 2;
    this.graphNote.textContent = this.nameOf(pipeline);
  }

  private showLatencies(data: TfData, pipeline: Pipeline): void {
    const buckets = [...(data.buckets.get(pipeline.key) ?? [])].sort((a, b) => a.above - b.above);
    const rank = rankOf(this.context.url.get('call'), pipeline.calls);
    this.chart.element.hidden = buckets.length < 2;
    this.chart.title(
      'Calls by duration',
      `${this.nameOf(pipeline)}; choose a bar for its slowest call`,
    );
    const range = (bucket: Bucket): string =>
      bucket.upTo === null
        ? `more than ${axisTime(bucket.above)}`
        : bucket.above === 0
          ? `up to ${axisTime(bucket.upTo)}`
          : `${axisTime(bucket.above)} – ${axisTime(bucket.upTo)}`;
    const holds = (bucket: Bucket): boolean =>
      rank >= bucket.firstRank && rank < bucket.firstRank + bucket.calls;
    this.chart.set({
      signature: JSON.stringify([pipeline.key, buckets, rank, this.context.url.get('run')]),
      height: 180,
      config: () =>
        latencyConfig(
          buckets.map((bucket) => ({
            label: range(bucket),
            calls: bucket.calls,
            slow: bucket.above >= SLOW_US,
            chosen: holds(bucket),
          })),
        ),
      summary: `${plural(pipeline.calls, 'call')} between ${microseconds(pipeline.min)} and ${microseconds(pipeline.max)}; ${pipeline.slow === 0 ? 'none is slow' : `${count(pipeline.slow)} slow`}.`,
      head: ['Duration', 'Calls', 'Slow'],
      rows: buckets.map((bucket) => [
        range(bucket),
        bucket.calls,
        bucket.above >= SLOW_US ? 'slow' : '',
      ]),
      legend: [
        { label: `slow: more than ${SLOW_US} µs`, token: 'input' },
        { label: 'not slow', token: 'device-compute' },
      ],
      pick: (index) => {
        const first = buckets[index]?.firstRank ?? 0;
        this.choose({ call: first === 0 ? null : String(first + 1) });
      },
    });
  }

  /** The slowest call came with the tables; others are asked for when they are looked at. */
  private loadCall(data: TfData, pipeline: Pipeline): void {
    const rank = rankOf(this.context.url.get('call'), pipeline.calls);
    const key = JSON.stringify([pipeline.key, rank]);
    if (key === this.call.key) {
      this.showCall(data, pipeline, rank);
      return;
    }
    this.request?.abort();
    this.request = null;
    const settle = (uses: Use[] | null, error: unknown): void => {
      this.callSlot.removeAttribute('aria-busy');
      this.call = { key, uses, list: branches(uses ?? []), error };
      this.showCall(data, pipeline, rank);
    };
    if (rank === 0) {
      settle(data.slowest.get(pipeline.key) ?? [], null);
      return;
    }
    const request = new AbortController();
    this.request = request;
    this.call = { ...this.call, key };
    this.callSlot.setAttribute('aria-busy', 'true');
    const query: Query = {
      ...this.view.query(),
      graph_host: pipeline.host,
      pipeline: pipeline.name,
      rank,
    };
    getJson<GvizTable[]>('data', query, request.signal).then(
      (tables) => {
        if (!request.signal.aborted) settle(readUses(tables[0]), null);
      },
      (error: unknown) => {
        if (!request.signal.aborted) settle(null, error);
      },
    );
  }

  private showCall(data: TfData, pipeline: Pipeline, rank: number): void {
    const { uses, list, error } = this.call;
    if (this.callSlot.getAttribute('aria-busy') === 'true') return;
    const main = this.graph.element.parentElement?.parentElement;
    if (uses === null || list.length === 0) {
      main?.setAttribute('hidden', '');
      this.summary.textContent =
        uses === null
          ? ''
          : 'What this call waited for is not known: this file links too many events to each other.';
      fill(
        this.twinSlot,
        uses === null &&
          errorState(error, () => {
            this.call = { ...this.call, key: '' };
            this.loadCall(data, pipeline);
          }),
      );
      return;
    }
    main?.removeAttribute('hidden');
    const path = criticalPath(list);
    const root = list.find(({ use }) => use.longName === pipeline.root)?.use ?? list[0]?.use;
    const bottleneck = list.find(({ use }) => use.role === 'bottleneck')?.use;
    const summary = [
      `${pipeline.calls === 1 ? 'The only call' : `Call ${count(rank + 1)} of ${count(pipeline.calls)}`} took ${microseconds(root?.total ?? 0)}.`,
      bottleneck === undefined
        ? 'No iterator has self time.'
        : `The bottleneck is ${bottleneck.name}, with ${microseconds(bottleneck.self)} of self time${root !== undefined && bottleneck.self > root.total ? ', part of it before the call began or on several threads at once' : ''}.`,
      path.length > 1 ? `Critical path: ${pathText(path)}.` : '',
    ]
      .filter((part) => part !== '')
      .join(' ');
    this.summary.textContent = summary;
    const wanted = this.context.url.get('it');
    const chosen = list.find(({ use }) => use.id === wanted)?.use;
    const fit = this.context.url.get('fit') === '1';
    this.whole.setAttribute('aria-pressed', String(fit));
    this.graph.showWhole(fit);
    this.graph.set(list, chosen?.id ?? '', summary);
    this.showCard(data, list, chosen ?? bottleneck ?? root);
    this.showTwin(list, chosen);
  }

  private showCard(data: TfData, list: readonly Branch[], use: Use | undefined): void {
    if (use === undefined) {
      fill(this.card);
      return;
    }
    const parent = list.find((branch) => branch.use === use)?.parent ?? null;
    const words = data.advice.get(use.kind);
    const fact = (label: string, value: Child, title?: string): HTMLElement[] => [
      h('dt', {}, label),
      h('dd', { title }, value),
    ];
    fill(
      this.card,
      h(
        'header',
        {},
        h('h2', { title: use.longName }, use.name || use.longName),
        h('small', { class: 'soft' }, ROLE_WORDS[use.role].toLowerCase()),
      ),
      splitName(use.longName),
      h(
        'dl',
        { class: 'facts' },
        ...fact('Self', microseconds(use.self)),
        ...fact('Total', microseconds(use.total)),
        ...fact('Calls', count(use.calls)),
        ...fact('Start', microseconds(use.start)),
        ...fact(
          'Called by',
          parent === null
            ? use.parent === ''
              ? 'the program'
              : 'an iterator that is not in this call'
            : h(
                'button',
                {
                  type: 'button',
                  class: 'linklike',
                  on: { click: () => this.choose({ it: parent.id }) },
                },
                parent.name,
              ),
        ),
        ...fact('Id', h('code', {}, use.id)),
      ),
      h(
        'p',
        { class: 'acts' },
        copyButton('Copy name', () => use.longName),
      ),
      use.role === 'ahead'
        ? h(
            'p',
            { class: 'soft' },
            'It ran on another thread before this call needed its result, so it did not make the call longer.',
          )
        : words !== undefined &&
            h(
              'div',
              {},
              h('h3', {}, use.role === 'bottleneck' ? 'What to do' : 'If it were the bottleneck'),
              advice(words.suggestion, words.guide),
            ),
    );
  }

  private showTwin(list: readonly Branch[], chosen: Use | undefined): void {
    const options = (): PlainTableOptions<Branch> => ({
      label: 'Iterators of this call, as an indented table',
      rows: list,
      rowClass: ({ use }) =>
        use === chosen ? 'chosen' : use.role === 'bottleneck' ? 'largest' : '',
      columns: [
        {
          title: 'Iterator',
          value: ({ use }) => use.longName,
          cell: ({ use, depth, input }) => {
            const box = h(
              'span',
              { class: 'it-indent' },
              h(
                'button',
                {
                  type: 'button',
                  class: 'linklike',
                  title: use.longName,
                  'aria-pressed': String(use === chosen),
                  on: { click: () => this.choose({ it: use.id }) },
                },
                use.name || use.longName,
              ),
              input !== null && h('small', { class: 'soft' }, ` input ${input}`),
              h('span', { class: depth > DEEPEST ? 'badge' : 'offscreen' }, `level ${depth + 1}`),
            );
            box.style.setProperty('--depth', String(Math.min(depth, DEEPEST)));
            return box;
          },
        },
        {
          title: 'Part',
          value: ({ use }) => ROLE_WORDS[use.role],
          cell: ({ use }) =>
            h(
              'span',
              { class: 'nowrap' },
              h('i', { class: `it-key ${use.role}`, 'aria-hidden': 'true' }),
              ROLE_WORDS[use.role],
            ),
        },
        {
          title: 'Self',
          number: true,
          value: ({ use }) => use.self,
          cell: ({ use }) => microseconds(use.self),
          hint: 'Time during which no iterator that it called ran',
        },
        {
          title: 'Total',
          number: true,
          value: ({ use }) => use.total,
          cell: ({ use }) => microseconds(use.total),
          hint: 'Time of all its calls',
        },
        {
          title: 'Calls',
          number: true,
          wide: true,
          value: ({ use }) => use.calls,
          cell: ({ use }) => count(use.calls),
        },
        {
          title: 'Start',
          number: true,
          wide: true,
          value: ({ use }) => use.start,
          cell: ({ use }) => microseconds(use.start),
          hint: 'When its first call began',
        },
      ],
    });
    const scrolled = this.twinSlot.querySelector('.twin')?.scrollTop ?? 0;
    const focused = this.twinSlot.contains(document.activeElement);
    fill(
      this.twinSlot,
      section(
        'Iterators of this call',
        'each below the one that calls it',
        [csvButton('tf_data_call', options)],
        plainTable(options()),
      ),
    );
    const twin = this.twinSlot.querySelector('.twin');
    if (twin !== null) twin.scrollTop = scrolled;
    // The button that was pressed is a new one now.
    if (focused) this.twinSlot.querySelector<HTMLElement>('tr.chosen button')?.focus();
  }
}

export const page: PageType = (context) => new TfDataPage(context);
