// SPDX-License-Identifier: Apache-2.0
// Input pipeline: whether steps wait for input, on the device's side and on the host's.

import { address } from '../core/api';
import { microseconds } from '../components/charts';
import { timeColumn } from '../components/columns';
import { compareColumns, compareNote, timeMeasure } from '../components/compare_columns';
import { DataTable } from '../components/data_table';
import { finding } from '../components/finding';
import { noSteps } from '../components/no_steps';
import { csvButton, plainTable, section, type PlainTableOptions } from '../components/plain_table';
import { stackedBars } from '../components/stacked_bars';
import {
  analysisMessages,
  averageTile,
  getLoose,
  hostsShown,
  sourceNote,
  stepKeys,
  stepSection,
} from '../components/step_page';
import { choiceOf, StepChart } from '../components/step_chart';
import { InfeedChart } from '../components/infeed_chart';
import { keyed } from '../components/step_table';
import { tiles, timeChange, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { inputVerdict, pieces, plain } from '../core/advice';
import { joinBase, opParts, stepScale, type Difference, type StepCounts } from '../core/compare';
import { fill, h } from '../core/dom';
import { asPercent, count, duration, percent } from '../core/format';
import { amount, records, text, type GvizTable } from '../core/gviz';
import { addressKey } from '../core/names';
import type { Page, PageContext, PageType } from '../core/page';
import { meanOf, properties, readSteps, shareOf, stepsOf, within, type Steps } from '../core/steps';
import type { Column } from '../core/table_view';

interface InputOp {
  key: string;
  rank: number;
  name: string;
  count: number;
  total: number;
  totalShare: number;
  self: number;
  selfShare: number;
  category: string;
  difference?: Difference;
}

interface HostPart {
  key: string;
  label: string;
  token: string;
  us: number;
}

interface InfeedCore {
  step: string;
  core: string;
}

interface Input {
  cores: InfeedCore[];
  steps: Steps;
  ops: InputOp[];
  parts: HostPart[];
  tips: string[];
  diagnostics: GvizTable | undefined;
}

/** The order is that of the way of the data: from the file to the device. */
const PARTS: readonly {
  key: string;
  label: string;
  token: string;
  about: string;
  advice: string;
}[] = [
  {
    key: 'demanded_file_read_us',
    label: 'Reading on demand',
    token: 'input',
    about: 'files read at the moment their data is needed',
    advice:
      'Read in advance: with prefetch, interleave and a reader buffer the next data is ready when it is needed.',
  },
  {
    key: 'advanced_file_read_us',
    label: 'Reading in advance',
    token: 'collectives',
    about: 'files read ahead: caching, prefetching, interleaving',
    advice:
      'Tune the prefetch size, the cycle_length of interleave, and the buffer_size of the reader.',
  },
  {
    key: 'preprocessing_us',
    label: 'Preprocessing',
    token: 'host-compute',
    about: 'decompressing, decoding, map functions',
    advice:
      'Give Dataset.map num_parallel_calls=tf.data.AUTOTUNE, or preprocess the data once, offline.',
  },
  {
    key: 'enqueue_us',
    label: 'Enqueuing to the device',
    token: 'kernel-launch',
    about: 'handing data to the device',
    advice: 'Combine small chunks of input into fewer but larger ones.',
  },
  {
    key: 'unclassified_nonequeue_us',
    label: 'Other reading or processing',
    token: 'all-others',
    about: 'input work of no other category',
    advice: 'Use the tf.data API where it is not used yet: it overlaps reading with the steps.',
  },
];

function readOps(table: GvizTable | undefined): InputOp[] {
  return (table === undefined ? [] : records(table)).map((record, index) => {
    const [name, category] = [text(record, 'opname'), text(record, 'category')];
    return {
      key: addressKey([name, category], name),
      rank: index + 1,
      name,
      count: amount(record, 'count'),
      total: amount(record, 'timeinms') * 1000,
      totalShare: amount(record, 'timeinpercent'),
      self: amount(record, 'selftimeinms') * 1000,
      selfShare: amount(record, 'selftimeinpercent'),
      category,
    };
  });
}

/** Two lines, one cell a step: turned, so that a step is a line. */
function readCores(table: GvizTable | undefined): InfeedCore[] {
  const [steps, cores] = table === undefined ? [] : table.rows;
  const ids = table?.cols.slice(1) ?? [];
  return ids.map((_id, index) => ({
    step: String(steps?.c[index + 1]?.v ?? ''),
    core: String(cores?.c[index + 1]?.v ?? ''),
  }));
}

function read(tables: readonly (GvizTable | undefined)[]): Input {
  const [cores, steps, ops, recommendation, diagnostics] = tables;
  const found = properties(ops);
  return {
    cores: readCores(cores),
    steps: readSteps(steps),
    ops: readOps(ops),
    diagnostics,
    parts: PARTS.map(({ key, label, token }) => ({
      key,
      label,
      token,
      us: Math.max(0, Number(found[key] ?? 0) || 0),
    })),
    tips: (recommendation === undefined ? [] : records(recommendation)).map((record) =>
      text(record, 'link'),
    ),
  };
}

const sum = (parts: readonly HostPart[]): number =>
  parts.reduce((total, part) => total + part.us, 0);

class InputPipelinePage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Input>;
  private readonly top = h('div', {});
  private readonly tileSlot = h('div', {});
  private readonly missing = h('div', {});
  private readonly statsSlot = h('div', {});
  private readonly infeedSlot = h('div', {});
  private readonly hostSlot = h('div', {});
  private readonly compareSlot = h('div', {});
  private readonly chart: StepChart;
  private readonly infeed: InfeedChart;
  private readonly table: DataTable<InputOp>;
  private readonly stopKeys: () => void;
  private data: Input | null = null;
  private base: Input | null = null;
  private rows: InputOp[] = [];
  private rowsOf: [Input | null, Input | null] = [null, null];

  constructor(private readonly context: PageContext) {
    const { url } = context;
    this.chart = new StepChart(url);
    this.infeed = new InfeedChart(url);
    this.table = new DataTable<InputOp>({
      title: 'Input operations',
      name: 'input_pipeline',
      url,
      key: (row) => row.key,
      defaultSort: 'rank',
      open: (row) => url.set({ sel: url.get('sel') === row.key ? null : row.key }),
      onSeen: () => undefined,
      say: context.say,
      sources: () => ({
        json: address('data', this.view.query()),
        csv: address('data_csv', this.view.query()),
      }),
    });
    const content = h(
      'div',
      {},
      this.top,
      this.tileSlot,
      this.missing,
      this.chart.element,
      this.statsSlot,
      this.infeed.element,
      this.infeedSlot,
      this.hostSlot,
      this.compareSlot,
      this.table.element,
    );
    this.view = new ToolView<Input>(context, {
      title: context.tool?.title ?? 'Input pipeline',
      tool: 'input_pipeline_analyzer',
      content,
      fetch: async (query, signal) => read(await getLoose(query, signal)),
      ready: (data, base) => {
        this.data = data;
        this.base = base;
        this.refresh();
      },
      changed: () => this.refresh(),
    });
    this.element = this.view.element;
    this.stopKeys = stepKeys(context, () => this.data?.steps ?? null);
  }

  update(): void {
    this.view.update();
  }

  destroy(): void {
    this.stopKeys();
    this.view.destroy();
    this.chart.destroy();
    this.infeed.destroy();
    this.table.destroy();
  }

  private refresh(): void {
    const { data, base, context } = this;
    if (data === null) return;
    const none = data.steps.steps.length === 0;
    const found = data.steps.properties;
    const verdict = none
      ? null
      : inputVerdict(found['input_conclusion'] ?? '', found['hosts_statement']);
    const output = plain(found['output_conclusion'] ?? '');
    const next = none ? '' : plain(found['summary_nextstep'] ?? '');
    fill(
      this.top,
      sourceNote(context, found),
      analysisMessages(data.diagnostics, none),
      verdict !== null &&
        finding({
          ...verdict,
          text: [verdict.text, output].filter((part) => part !== '').join(' '),
        }),
      // The sentence speaks of numbered sections, which are headings here.
      next !== '' &&
        h(
          'p',
          { class: 'soft next-step' },
          next.replace(/Section 3/gi, '“Host: where the input time goes”'),
        ),
    );
    fill(
      this.missing,
      none &&
        noSteps('What the host did to prepare input is below.', found['module_steps'] ?? null, () =>
          context.url.set({ step_source: 'module' }),
        ),
    );
    const choice = choiceOf(context.url, data.steps);
    this.chart.element.hidden = none;
    if (!none) this.chart.set(data.steps, base?.steps ?? null);
    this.infeed.set(data.steps, base?.steps ?? null);
    fill(
      this.statsSlot,
      !none &&
        stepSection(context, data.steps, base?.steps ?? null, choice, {
          title: 'Device: how a step is spent',
          note: stepsOf(found) === '' ? '' : `of ${stepsOf(found)}`,
          compare: { metric: 'input' },
          extremes: true,
        }),
    );
    this.showTiles();
    this.showInfeed();
    this.showHost();
    this.showTable();
  }

  private showTiles(): void {
    const { data, base } = this;
    if (data === null) return;
    const { range } = choiceOf(this.context.url, data.steps);
    const shown = within(data.steps.steps, range);
    const baseSteps = base !== null && base.steps.steps.length > 0 ? base.steps : null;
    const list: Tile[] = [];
    if (shown.length > 0) {
      list.push(averageTile(data.steps, range, baseSteps));
      const stems = ['infeed', 'tc_infeed', 'scv0_infeed'];
      list.push({
        label: 'Waiting for input',
        hint: 'Share of step time spent waiting for input data',
        value: shareOf(data.steps, range, ...stems),
        format: asPercent,
        base: baseSteps === null ? null : shareOf(baseSteps, null, ...stems),
        perStep: {
          now: meanOf(data.steps, range, ...stems),
          base: baseSteps === null ? null : meanOf(baseSteps, null, ...stems),
        },
      });
      const infeed = shown.flatMap((step) => (step.infeed === null ? [] : [step.infeed]));
      if (infeed.length > 0) {
        const worst = Math.max(...infeed.map((one) => one.max));
        list.push({
          label: 'Waiting, worst core',
          hint: 'Largest share of a step that a core spent waiting for input',
          value: worst,
          format: asPercent,
          better: 'lower',
        });
      }
    }
    const host = sum(data.parts);
    const summed = this.summed();
    if (host > 0 || data.ops.length > 0) {
      const [largest] = [...data.parts].sort((a, b) => b.us - a.us);
      list.push({
        label: 'Host input time',
        hint: 'Host time in operations that prepare input',
        value: host,
        format: duration,
        better: 'lower',
        note:
          [
            summed,
            largest === undefined || largest.us === 0
              ? ''
              : `mostly ${largest.label.toLowerCase()}`,
          ]
            .filter((part) => part !== '')
            .join('; ') || undefined,
        ...timeChange(host, base === null ? null : sum(base.parts), this.stepCounts()),
      });
      list.push({
        label: 'Input operations',
        hint: 'Different operations that prepare input',
        value: data.ops.length,
        format: (value) => ({ value: count(value), unit: '' }),
        base: base === null ? null : base.ops.length,
      });
    }
    fill(this.tileSlot, list.length > 0 && tiles(list));
  }

  private stepCounts(): StepCounts | null {
    const [now, base] = [this.data?.steps.steps.length ?? 0, this.base?.steps.steps.length ?? 0];
    return now > 0 && base > 0 ? { now, base } : null;
  }

  private showInfeed(): void {
    const { data } = this;
    const options = (): PlainTableOptions<InfeedCore> => ({
      label: 'Core that waited longest for input',
      rows: data?.cores ?? [],
      columns: [
        { title: 'Step', value: (row) => row.step },
        { title: 'Core', value: (row) => row.core },
      ],
    });
    fill(
      this.infeedSlot,
      (data?.cores.length ?? 0) > 0 &&
        section(
          'Core that waited longest',
          'in each step',
          [csvButton('max_infeed_core', options)],
          plainTable(options()),
        ),
    );
  }

  /** Input operations on the host is added up over all hosts; steps are those of one. */
  private summed(): string {
    const hosts = hostsShown(this.context);
    return hosts > 1 ? `sum of ${hosts} hosts` : '';
  }

  private showHost(): void {
    const { data, base } = this;
    if (data === null) return;
    const whole = sum(data.parts);
    if (whole === 0) {
      fill(
        this.hostSlot,
        section(
          'Host: where the input time goes',
          '',
          [],
          h(
            'p',
            { class: 'soft' },
            data.ops.length === 0
              ? 'No input operation was recorded on the host: the program feeds its data without tf.data, or host_tracer_level was below 2.'
              : 'Input operations were recorded, but none of them belongs to one of the five categories.',
          ),
        ),
      );
      return;
    }
    const [largest] = [...data.parts].sort((a, b) => b.us - a.us);
    const baseWhole = base === null ? 0 : sum(base.parts);
    const bars = [
      {
        label: 'This run',
        parts: data.parts.map((part) => ({ label: part.label, token: part.token, value: part.us })),
      },
    ];
    const all =
      baseWhole === 0 || base === null
        ? bars
        : [
            ...bars,
            {
              label: 'Base run',
              thin: true,
              parts: base.parts.map((part) => ({
                label: part.label,
                token: part.token,
                value: part.us,
              })),
            },
          ];
    const options = (): PlainTableOptions<HostPart> => ({
      label: 'Categories of input time on the host',
      rows: data.parts,
      rowClass: (row) => (row === largest ? 'largest' : ''),
      columns: [
        {
          title: 'Category',
          value: (row) => row.label,
          cell: (row) =>
            h(
              'span',
              {},
              keyed(row.label, row.token),
              h(
                'small',
                { class: 'soft wide' },
                ` ${PARTS.find((part) => part.key === row.key)?.about ?? ''}`,
              ),
            ),
        },
        {
          title: 'Time',
          number: true,
          value: (row) => row.us,
          cell: (row) => (row.us === 0 ? h('span', { class: 'soft' }, '0') : microseconds(row.us)),
        },
        {
          title: 'Share',
          number: true,
          value: (row) => row.us / whole,
          cell: (row) =>
            row.us === 0 ? h('span', { class: 'soft' }, '–') : percent(row.us / whole),
        },
        ...(base === null
          ? []
          : [
              {
                title: 'Base',
                number: true,
                value: (row: HostPart) =>
                  base.parts.find((part) => part.key === row.key)?.us ?? null,
                cell: (row: HostPart) =>
                  microseconds(base.parts.find((part) => part.key === row.key)?.us ?? 0),
              },
            ]),
      ],
    });
    const rest =
      data.tips.length > 0 &&
      h(
        'details',
        { class: 'tips' },
        h('summary', {}, 'Advice for all categories'),
        h(
          'ul',
          {},
          ...data.tips.map((tip) =>
            h(
              'li',
              {},
              ...pieces(tip, this.context.named).map((piece) =>
                piece.href === undefined
                  ? piece.text
                  : h(
                      'a',
                      { href: piece.href, target: '_blank', rel: 'noopener noreferrer' },
                      piece.text,
                    ),
              ),
            ),
          ),
        ),
      );
    fill(
      this.hostSlot,
      section(
        'Host: where the input time goes',
        this.summed(),
        [csvButton('host_input_time', options)],
        h(
          'div',
          { class: 'host-split' },
          h('div', {}, stackedBars(all), plainTable(options())),
          largest !== undefined &&
            h(
              'aside',
              { class: 'advice-card', 'aria-label': 'Advice for the largest category' },
              h('h3', {}, keyed(largest.label, largest.token)),
              h(
                'p',
                {},
                `${percent(largest.us / whole)} of the host’s input time is ${largest.label.toLowerCase()}.`,
              ),
              h('p', {}, PARTS.find((part) => part.key === largest.key)?.advice ?? ''),
              rest,
            ),
        ),
      ),
    );
  }

  private showTable(): void {
    const { data, base } = this;
    if (data === null) return;
    this.table.element.hidden = data.ops.length === 0 && (base?.ops.length ?? 0) === 0;
    if (this.rowsOf[0] === data && this.rowsOf[1] === base) {
      this.table.update();
      return;
    }
    this.rowsOf = [data, base];
    const steps = this.stepCounts();
    this.rows =
      base === null
        ? data.ops
        : joinBase(data.ops, base.ops, {
            place: (row) => ({ parts: opParts(row.name), rest: row.category }),
            name: (row) => row.name,
            measure: (row) => row.self,
            scale: stepScale(steps),
            put: (row, difference) => ({ ...row, difference }),
            gone: (row) => ({
              ...row,
              count: 0,
              total: 0,
              self: 0,
              totalShare: 0,
              selfShare: 0,
              key: `${row.key} (gone)`,
            }),
          }).map((row, index) =>
            row.difference?.state === 'gone' ? { ...row, rank: index + 1 } : row,
          );
    fill(
      this.compareSlot,
      base !== null &&
        compareNote(
          this.rows,
          (row) => row.difference,
          (row) => row.name,
          ['input operation', 'input operations'],
          steps,
        ),
    );
    this.table.set({ rows: this.rows, columns: this.columns(), noun: 'input operations' });
  }

  private columns(): Column<InputOp>[] {
    const share = (
      id: string,
      title: string,
      value: (row: InputOp) => number,
      hint: string,
    ): Column<InputOp> => ({
      id,
      title,
      kind: 'number',
      scale: 0.01,
      width: 84,
      value,
      hint,
      text: (cell) => (typeof cell === 'number' && cell > 0 ? percent(cell) : '–'),
    });
    return [
      {
        id: 'rank',
        title: '#',
        kind: 'number',
        width: 52,
        value: (row) => row.rank,
        hint: 'Rank by self time',
      },
      {
        id: 'name',
        title: 'Input operation',
        kind: 'text',
        grow: true,
        narrow: true,
        width: 230,
        code: true,
        value: (row) => row.name,
        hint: 'Name of the operation',
      },
      {
        id: 'category',
        title: 'Category',
        kind: 'text',
        width: 150,
        value: (row) => row.category,
        hint: 'What it does for the input',
      },
      {
        id: 'count',
        title: 'Count',
        kind: 'number',
        width: 76,
        value: (row) => row.count,
        text: (cell) => count(Number(cell)),
        hint: 'How often it ran',
      },
      timeColumn(this.rows, 'total', 'Total (µs)', (row) => row.total, {
        hint: 'Time including what it called',
      }),
      share(
        'total_percent',
        'Total %',
        (row) => row.totalShare,
        'Total time as a share of all input time; nested operations count more than once',
      ),
      timeColumn(this.rows, 'self', 'Self (µs)', (row) => row.self, {
        narrow: true,
        hint: 'Time without what it called',
      }),
      {
        ...share(
          'self_percent',
          'Self %',
          (row) => row.selfShare,
          'Self time as a share of all input time',
        ),
        narrow: this.base === null,
      },
      ...(this.base === null
        ? []
        : compareColumns<InputOp>(
            'Self time',
            (row) => row.difference,
            timeMeasure(this.rows.map((row) => row.self)),
          )),
    ];
  }
}

export const page: PageType = (context) => new InputPipelinePage(context);
