// SPDX-License-Identifier: Apache-2.0
// Modules: the compiled programs of a run, and what of the devices' time each took.

import { getTables } from '../core/api';
import { microseconds } from '../components/charts';
import { barCell, timeColumn } from '../components/columns';
import {
  compareColumns,
  compareNote,
  differenceFacts,
  timeMeasure,
} from '../components/compare_columns';
import type { Detail } from '../components/detail_panel';
import { linksBlock, sections, unknownTime } from '../components/hlo_detail';
import { RowDashboard } from '../components/row_dashboard';
import { notRecorded } from '../components/states';
import { tiles, timeChange, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { exactPlace, joinBase, stepScale, type Difference, type StepCounts } from '../core/compare';
import { fill, h } from '../core/dom';
import { asPercent, count, duration, exact, percent, plural, share } from '../core/format';
import { programLinks, readPrograms, unknownShares, type Program } from '../core/hlo';
import type { Page, PageContext, PageType } from '../core/page';
import { properties } from '../core/steps';
import type { Column } from '../core/table_view';
import { tracePlace } from '../core/trace_link';

interface Row extends Program {
  difference?: Difference;
}

interface Data {
  programs: Program[];
  /** Shares of the devices' busy time. */
  unknown: { noHlo: number; noCost: number };
}

function time(programs: readonly Program[]): number {
  return programs.reduce((sum, program) => sum + (program.time ?? 0), 0);
}

class ModulesPage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Data>;
  private readonly dashboard: RowDashboard<Row>;
  private data: Data | null = null;
  private base: Data | null = null;
  private steps: StepCounts | null = null;
  private rows: Row[] = [];

  constructor(private readonly context: PageContext) {
    this.dashboard = new RowDashboard<Row>(context, {
      title: 'Programs',
      name: 'modules',
      controls: [],
      query: () => this.view.query(),
      show: () => undefined,
    });
    this.view = new ToolView<Data>(context, {
      title: context.tool?.title ?? 'Modules',
      tool: 'modules',
      content: this.dashboard.element,
      fetch: async (query, signal) => {
        const [table] = await getTables(query, signal);
        return { programs: readPrograms(table), unknown: unknownShares(properties(table)) };
      },
      perStep: true,
      ready: (data, base, steps) => {
        this.data = data;
        this.base = base;
        this.steps = steps;
        this.rows = this.joined();
        this.refresh();
        this.dashboard.table.set({
          rows: this.rows,
          columns: this.columns(),
          noun: this.rows.length === 1 ? 'program' : 'programs',
        });
      },
      changed: () => {
        this.refresh();
        this.dashboard.table.update();
      },
    });
    this.element = this.view.element;
  }

  update(): void {
    this.view.update();
  }

  destroy(): void {
    this.view.destroy();
    this.dashboard.destroy();
  }

  /** Numbers of programs are another run's business: names tell which belong together. */
  private joined(): Row[] {
    const { data, base } = this;
    if (data === null) return [];
    const rows =
      base === null
        ? data.programs
        : joinBase<Row>(data.programs, base.programs, {
            place: (row) => exactPlace(row.module === '' ? row.label : row.module),
            name: (row) => row.module,
            measure: (row) => row.time ?? 0,
            scale: stepScale(this.steps),
            put: (row, difference) => ({ ...row, difference }),
            gone: (row) => ({
              ...row,
              key: `${row.key} (gone)`,
              ran: 0,
              executions: null,
              time: null,
              share: null,
            }),
          });
    fill(
      this.dashboard.compareSlot,
      base !== null &&
        compareNote(
          rows,
          (row) => (row as Row).difference,
          (row) => row.label,
          ['program', 'programs'],
          this.steps,
        ),
    );
    return rows.map((row, index) => ({ ...row, rank: index + 1 }));
  }

  private refresh(): void {
    const { data, context } = this;
    if (data === null) return;
    const nothing = data.programs.length === 0;
    this.dashboard.nothing(nothing);
    fill(this.dashboard.notice, nothing ? nothingRecorded() : unknownTime(data.unknown, false));
    if (nothing) return;
    fill(this.dashboard.tileSlot, tiles(this.tiles(data)));
    const wanted = context.url.get('sel');
    const row = wanted === '' ? undefined : this.rows.find((one) => one.key === wanted);
    this.dashboard.choose(row === undefined ? null : this.describe(row));
  }

  private tiles(data: Data): Tile[] {
    const { base } = this;
    const ran = data.programs.filter((program) => program.time !== null);
    const [all, allBase] = [time(data.programs), base === null ? null : time(base.programs)];
    const largest = ran.reduce((most, program) => Math.max(most, program.share ?? 0), 0);
    return [
      {
        label: 'Programs',
        hint: 'Compiled programs of all hosts; one that several hosts have counts once',
        value: data.programs.length,
        format: (value) => ({ value: count(value), unit: '' }),
        note:
          ran.length === data.programs.length ? '' : `${count(ran.length)} with time on a device`,
        base: base?.programs.length ?? null,
      },
      {
        label: 'Time in programs',
        hint: 'Self time of all their instructions on all devices',
        value: ran.length === 0 ? null : all,
        format: duration,
        exact: `${exact(all)} µs`,
        ...timeChange(all, allBase, this.steps),
      },
      {
        label: 'Largest',
        hint: 'Share that the largest program has of the devices’ busy time',
        value: ran.length === 0 ? null : largest,
        format: asPercent,
        note: ran.length === 0 ? 'no device time' : 'of the busy time',
      },
      {
        label: 'In no program',
        hint: 'Share of the devices’ busy time that belongs to no known HLO instruction',
        value: ran.length === 0 && data.unknown.noHlo === 0 ? null : data.unknown.noHlo,
        format: asPercent,
        note: 'of the busy time',
        base: base?.unknown.noHlo ?? null,
      },
    ];
  }

  private columns(): Column<Row>[] {
    const { rows } = this;
    const number = (value: (row: Row) => number | null): Pick<Column<Row>, 'value' | 'text'> => ({
      value,
      text: (cell) => (typeof cell === 'number' ? count(cell) : '–'),
    });
    const hasLinks = rows.some((row) => this.links(row).length > 0);
    return [
      {
        id: 'rank',
        title: '#',
        kind: 'number',
        width: 48,
        value: (row) => row.rank,
        hint: 'Rank by device time',
      },
      {
        id: 'module',
        title: 'Program',
        kind: 'text',
        grow: true,
        narrow: true,
        width: 190,
        code: true,
        value: (row) => row.module,
        text: (cell) => (cell === '' ? '(not in the file)' : String(cell)),
        hint: 'Name of the HLO module',
      },
      {
        id: 'program_id',
        title: 'Program id',
        kind: 'text',
        width: 150,
        value: (row) => row.programId,
        hint: 'Number that the runtime gave it',
      },
      {
        ...timeColumn(rows, 'time_us', 'Time (µs)', (row) => row.time ?? 0, {
          narrow: true,
          hint: 'Self time of its instructions on all devices',
        }),
        value: (row) => row.time,
      },
      ...(this.base === null
        ? []
        : compareColumns<Row>(
            'Time',
            (row) => row.difference,
            timeMeasure(rows.map((row) => row.time)),
          )),
      {
        id: 'time_share',
        title: 'Share',
        kind: 'number',
        scale: 0.01,
        width: 120,
        narrow: this.base === null,
        value: (row) => row.share,
        node: (row) =>
          row.share === null
            ? h('span', { class: 'soft' }, '–')
            : barCell(row.share, 'device-compute'),
        hint: 'Share of the devices’ busy time, idle time left out',
      },
      {
        id: 'executions',
        title: 'Executions',
        kind: 'number',
        width: 96,
        ...number((row) => row.executions),
        hint: 'On all devices together',
      },
      {
        ...timeColumn(rows, 'avg_time', 'Avg (µs)', (row) => average(row) ?? 0, {
          width: 92,
          hint: 'Device time per execution',
        }),
        value: average,
      },
      {
        id: 'instructions',
        title: 'Instructions',
        kind: 'number',
        width: 104,
        ...number((row) => row.instructions),
        hint: 'In all of its computations',
      },
      {
        id: 'instructions_run',
        title: 'Ran',
        kind: 'number',
        width: 78,
        ...number((row) => row.ran),
        hint: 'Instructions that ran on a device',
      },
      {
        id: 'hosts',
        title: 'Hosts',
        kind: 'number',
        width: 68,
        ...number((row) => row.hosts),
        hint: 'Hosts that have the program',
      },
      ...(hasLinks
        ? [
            {
              id: 'open',
              title: 'Open',
              kind: 'text' as const,
              quiet: true,
              links: true,
              width: 170,
              value: () => '',
              node: (row: Row) => this.linkCell(row),
              hint: 'The program on other pages; its details lead to all of them',
            },
          ]
        : []),
    ];
  }

  private links(row: Row): { label: string; href: string }[] {
    if (row.difference?.state === 'gone') return [];
    return programLinks(this.context, row.programId, row.label).filter(({ label }) =>
      label === 'Costs' || label === 'Graph' ? row.instructions !== null : row.time !== null,
    );
  }

  private linkCell(row: Row): Node {
    const shown = this.links(row).filter(({ label }) => ['Op profile', 'Costs'].includes(label));
    return h(
      'span',
      {},
      ...shown.flatMap(({ label, href }, index) => [
        index === 0 ? null : ' · ',
        h('a', { href, 'aria-label': `${label} of ${row.label}` }, label),
      ]),
    );
  }

  private describe(row: Row): Detail {
    const number = (value: number | null): string => (value === null ? 'unknown' : count(value));
    const perExecution = average(row);
    return {
      key: JSON.stringify([this.view.query(), row.key, this.base === null]),
      title: row.module === '' ? row.programId : row.module,
      full: row.label,
      facts: [
        { label: 'Program id', text: row.programId },
        row.time === null
          ? { label: 'Device time', text: 'none recorded' }
          : {
              label: 'Device time',
              text: microseconds(row.time),
              exact: `${exact(row.time)} µs`,
            },
        ...(row.share === null
          ? []
          : [{ label: 'Share', text: `${percent(row.share)} of the busy time` }]),
        { label: 'Executions', text: number(row.executions) },
        ...(perExecution === null
          ? []
          : [{ label: 'Per execution', text: microseconds(perExecution) }]),
        { label: 'Instructions', text: number(row.instructions) },
        { label: 'Of these ran', text: count(row.ran) },
        ...(row.hosts === null ? [] : [{ label: 'Hosts', text: plural(row.hosts, 'host') }]),
        ...(row.module === ''
          ? [
              {
                label: 'Program',
                text: 'it ran, but no file has it: its text and costs are unknown',
              },
            ]
          : []),
        ...differenceFacts(row.difference),
      ],
      query: null,
      trace:
        row.module !== '' && row.time !== null && this.context.has('trace_viewer')
          ? this.context.link('trace_viewer', tracePlace({ op: row.module }))
          : null,
      extra: sections(linksBlock(this.links(row))),
    };
  }
}

function average(row: Program): number | null {
  return row.time === null || row.executions === null || row.executions === 0
    ? null
    : share(row.time, row.executions);
}

function nothingRecorded(): HTMLElement {
  return notRecorded(
    'No compiled program was recorded',
    h('p', {}, 'The capture neither carries programs nor ran any that it names.'),
    h(
      'p',
      { class: 'soft' },
      'XLA’s programs are in captures of JAX, PyTorch/XLA and jitted TensorFlow.',
    ),
  );
}

export const page: PageType = (context) => new ModulesPage(context);
