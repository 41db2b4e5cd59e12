// SPDX-License-Identifier: Apache-2.0
// HLO stats: which instructions of XLA's programs the devices' time goes to, and what they reach of
// the devices' peaks.

import { getTables } from '../core/api';
import { ChartCard } from '../components/chart_card';
import { BAR_PX, barsConfig, microseconds, pieConfig, type Bar } from '../components/charts';
import { barCell, rateColumns, timeColumn } from '../components/columns';
import {
  compareColumns,
  compareNote,
  differenceFacts,
  timeMeasure,
} from '../components/compare_columns';
import type { Detail } from '../components/detail_panel';
import {
  costRules,
  expressionBlock,
  HLO_KINDS,
  linksBlock,
  othersToggle,
  sections,
  sourceBlock,
  unknownTime,
} from '../components/hlo_detail';
import { PeaksForm, type KnownPeaks } from '../components/peaks_form';
import { RowDashboard } from '../components/row_dashboard';
import { Segmented, Toggle } from '../components/segmented';
import { notRecorded } from '../components/states';
import { shareChange, tiles, timeChange, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import {
  exactPlace,
  joinBase,
  opParts,
  stepScale,
  type Difference,
  type Place,
  type StepCounts,
} from '../core/compare';
import { fill, h } from '../core/dom';
import { asPercent, count, duration, exact, fixed, percent, plural, share } from '../core/format';
import type { Cell } from '../core/gviz';
import {
  categoryToken,
  instructionLinks,
  instructionTrace,
  readHloOps,
  shortPlace,
  unknownShares,
  type HloOp,
} from '../core/hlo';
import { addressKey, distinctTails } from '../core/names';
import type { Page, PageContext, PageType } from '../core/page';
import { properties } from '../core/steps';
import type { Column } from '../core/table_view';
import { slowestLink } from '../core/trace_link';

type Group = 'op' | 'category' | 'source' | 'program';
type Chart = 'bar' | 'category' | 'remat' | 'outside';

interface Row extends HloOp {
  members: HloOp[];
  difference?: Difference;
}

interface Data {
  ops: HloOp[];
  /** Shares of the devices' busy time. */
  unknown: { noHlo: number; noCost: number };
  /** What tells which resource binds an instruction, and where that is from. */
  peaks: KnownPeaks;
  peaksSource: string;
}

const BARS = 12;
const SLICES = 8;

function sum(rows: readonly HloOp[], of: (row: HloOp) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}

function labelOf(row: HloOp, group: Group): string {
  switch (group) {
    case 'category':
      return row.category;
    case 'source':
      return row.source?.place ?? '(no source recorded)';
    case 'program':
      return row.program === '' || row.program === '0' ? '(no program)' : row.program;
    default:
      return row.name;
  }
}

function grouped(ops: readonly HloOp[], group: Group): Row[] {
  if (group === 'op') return ops.map((op) => ({ ...op, members: [] }));
  const groups = new Map<string, HloOp[]>();
  for (const op of ops) {
    const label = labelOf(op, group);
    const members = groups.get(label);
    if (members === undefined) groups.set(label, [op]);
    else members.push(op);
  }
  const rows = [...groups].map(([label, members]): Row => {
    const self = sum(members, (op) => op.self);
    // Rates of several are those of all of them together: what each did, over the time of all.
    const together = (rate: (op: HloOp) => number): number =>
      share(
        sum(members, (op) => rate(op) * op.self),
        self,
      );
    const [flopRate, bandwidth] = [together((op) => op.flopRate), together((op) => op.bandwidth)];
    const [first] = members as [HloOp, ...HloOp[]];
    return {
      ...first,
      key: addressKey([group, label], label),
      name: label,
      expression: '',
      framework: '',
      members,
      program: group === 'program' ? label : '',
      category: group === 'category' ? label : '',
      source: group === 'source' ? first.source : null,
      occurrences: sum(members, (op) => op.occurrences),
      total: sum(members, (op) => op.total),
      self,
      share: sum(members, (op) => op.share),
      flopRate,
      bandwidth,
      modelFlopRate: together((op) => op.modelFlopRate),
      hbm: together((op) => op.hbm),
      intensity: share(flopRate, (bandwidth * 2 ** 30) / 1e9),
      boundBy: '',
      remat: members.every((op) => op.remat),
      outside: members.every((op) => op.outside),
      autotuned: false,
    };
  });
  return rows.sort((a, b) => b.self - a.self).map((row, index) => ({ ...row, rank: index + 1 }));
}

function placeOf(row: Row, group: Group): Place {
  if (group !== 'op') return exactPlace(row.name);
  return row.framework === ''
    ? { parts: opParts(row.name), rest: row.category }
    : { parts: opParts(row.framework), rest: `${row.category}|${row.name.replace(/[.\d]+$/, '')}` };
}

function compared(rows: Row[], base: Row[], group: Group, scale: number): Row[] {
  return joinBase(rows, base, {
    place: (row) => placeOf(row, group),
    name: (row) => row.name,
    measure: (row) => row.self,
    scale,
    put: (row, difference) => ({ ...row, difference }),
    gone: (row) => ({
      ...row,
      occurrences: 0,
      total: 0,
      self: 0,
      share: 0,
      key: `${row.key} (gone)`,
    }),
  });
}

class HloStatsPage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Data>;
  private readonly dashboard: RowDashboard<Row>;
  private readonly groups: Segmented;
  private readonly idle: Toggle;
  private readonly others: Toggle;
  private readonly peaks: PeaksForm;
  private readonly kind: Segmented;
  private readonly chart: ChartCard;
  private data: Data | null = null;
  private base: Data | null = null;
  private steps: StepCounts | null = null;
  private memo: { key: string; rows: Row[] } = { key: '', rows: [] };
  private lastShape = '';
  /** The data whose tiles are shown. */
  private tilesOf: Data | null = null;

  constructor(private readonly context: PageContext) {
    const { url } = context;
    this.groups = new Segmented(
      'Rows of the table',
      [
        { value: 'op', label: 'By op' },
        { value: 'category', label: 'By category' },
        {
          value: 'source',
          label: 'By source line',
          hint: 'Where in the program the instructions come from',
        },
        { value: 'program', label: 'By program' },
      ],
      (value) => url.set({ group: value === 'op' ? null : value, sel: null }),
    );
    this.idle = new Toggle(
      'Include idle time',
      'Count the time in which nothing ran as an operation named IDLE',
      (on) => url.set({ idle: on ? 'in' : null }),
    );
    this.others = othersToggle(url);
    this.peaks = new PeaksForm(url);
    this.kind = new Segmented(
      'Kind of chart',
      [
        { value: 'bar', label: 'Top' },
        { value: 'category', label: 'Categories' },
        {
          value: 'remat',
          label: 'Rematerialised',
          hint: 'Time of instructions that compute again what was computed before',
        },
        {
          value: 'outside',
          label: 'Outside compilation',
          hint: 'Time of operations that were moved out of the compiled program',
        },
      ],
      (value) => url.set({ chart: value === 'bar' ? null : value }),
    );
    this.chart = new ChartCard({
      title: 'Top operations',
      name: 'hlo_stats_chart',
      controls: [this.kind.element],
    });
    this.dashboard = new RowDashboard<Row>(context, {
      title: 'Instructions',
      name: 'hlo_stats',
      controls: [this.groups.element, this.idle.element, this.others.element, this.peaks.element],
      chart: this.chart,
      query: () => this.view.query(),
      show: (rows) => this.show(rows),
    });
    this.view = new ToolView<Data>(context, {
      title: context.tool?.title ?? 'HLO stats',
      tool: 'hlo_stats',
      content: this.dashboard.element,
      parameters: () => ({
        ...this.peaks.query(),
        others: this.othersIn() ? 'true' : null,
      }),
      fetch: async (query, signal) => {
        const [table] = await getTables(query, signal);
        const p = properties(table);
        return {
          ops: readHloOps(table),
          unknown: unknownShares(p),
          peaks: {
            peak_tflops: Number(p['peak_tflops'] ?? '') || null,
            peak_hbm_gbs: Number(p['peak_hbm_gbs'] ?? '') || null,
          },
          peaksSource: p['peaks_source'] ?? '',
        };
      },
      perStep: true,
      ready: (data, base, steps) => {
        this.data = data;
        this.base = base;
        this.steps = steps;
        this.memo.key = '';
        this.lastShape = '';
        this.refresh();
      },
      changed: () => this.refresh(),
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

  private group(): Group {
    const wanted = this.context.url.get('group', 'op');
    return wanted === 'category' || wanted === 'source' || wanted === 'program' ? wanted : 'op';
  }

  private othersIn(): boolean {
    return this.context.url.get('others') === 'in';
  }

  private kindOfChart(): Chart {
    const wanted = this.context.url.get('chart', 'bar');
    return wanted === 'category' || wanted === 'remat' || wanted === 'outside' ? wanted : 'bar';
  }

  private ops(data: Data): HloOp[] {
    return this.context.url.get('idle') === 'in'
      ? data.ops
      : data.ops.filter((op) => op.category !== 'IDLE');
  }

  private rows(): Row[] {
    if (this.data === null) return [];
    const group = this.group();
    const key = `${group}|${this.context.url.get('idle')}`;
    if (this.memo.key === key) return this.memo.rows;
    const rows = grouped(this.ops(this.data), group);
    const joined =
      this.base === null
        ? rows
        : compared(rows, grouped(this.ops(this.base), group), group, stepScale(this.steps)).map(
            (row, index) => ({ ...row, rank: index + 1 }),
          );
    const nouns: Record<Group, [string, string]> = {
      op: ['instruction', 'instructions'],
      category: ['category', 'categories'],
      source: ['line', 'lines'],
      program: ['program', 'programs'],
    };
    fill(
      this.dashboard.compareSlot,
      this.base !== null &&
        compareNote(
          joined,
          (row) => row.difference,
          (row) => row.name,
          nouns[group],
          this.steps,
        ),
    );
    this.memo = { key, rows: joined };
    return joined;
  }

  private refresh(): void {
    const { data } = this;
    if (data === null) return;
    const nothing = data.ops.every((op) => op.category === 'IDLE');
    this.groups.show(this.group());
    this.idle.show(this.context.url.get('idle') === 'in');
    this.idle.element.hidden = data.ops.every((op) => op.category !== 'IDLE');
    this.others.show(this.othersIn());
    this.others.element.hidden = data.unknown.noHlo === 0;
    this.peaks.show(data.peaks, data.peaksSource);
    this.kind.show(this.kindOfChart());
    this.dashboard.nothing(nothing);
    fill(
      this.dashboard.notice,
      nothing ? nothingRecorded() : unknownTime(data.unknown, this.othersIn()),
    );
    if (nothing) return;
    // They are of all rows: no filter changes them.
    if (this.tilesOf !== data) fill(this.dashboard.tileSlot, tiles(this.tiles(data)));
    this.tilesOf = data;
    const shape = `${this.group()}|${this.context.url.get('idle')}`;
    if (shape === this.lastShape) {
      this.dashboard.table.update();
    } else {
      this.lastShape = shape;
      this.dashboard.table.set({
        rows: this.rows(),
        columns: this.columns(),
        noun: { op: 'instructions', category: 'categories', source: 'lines', program: 'programs' }[
          this.group()
        ],
      });
    }
    this.showDetail();
  }

  private tiles(data: Data): Tile[] {
    const busy = (one: Data): HloOp[] => one.ops.filter((op) => op.category !== 'IDLE');
    const self = (rows: readonly HloOp[]): number => sum(rows, (op) => op.self);
    const [now, base] = [busy(data), this.base === null ? null : busy(this.base)];
    const [all, allBase] = [self(now), base === null ? null : self(base)];
    const rate = (rows: readonly HloOp[], of: (op: HloOp) => number): number =>
      share(
        sum(rows, (op) => of(op) * op.self),
        self(rows),
      );
    const list: Tile[] = [
      {
        label: 'Time in instructions',
        hint: 'Self time of all instructions on all devices',
        value: all,
        format: duration,
        exact: `${exact(all)} µs`,
        note: plural(now.length, 'instruction'),
        ...timeChange(all, allBase, this.steps),
      },
      {
        label: 'Arithmetic',
        hint: 'Floating-point operations per second while instructions ran',
        value: rate(now, (op) => op.flopRate) / 1000,
        format: (value) => ({ value: fixed(value, value < 10 ? 2 : 0), unit: 'TFLOP/s' }),
        base: base === null ? null : rate(base, (op) => op.flopRate) / 1000,
        better: 'higher',
      },
      {
        label: 'Memory',
        hint: 'Bytes moved per second while instructions ran',
        value: rate(now, (op) => op.bandwidth),
        format: (value) => ({ value: fixed(value, value < 10 ? 2 : 0), unit: 'GiB/s' }),
        base: base === null ? null : rate(base, (op) => op.bandwidth),
      },
    ];
    const part = (label: string, hint: string, of: (op: HloOp) => boolean): void => {
      const [mine, theirs] = [self(now.filter(of)), base === null ? null : self(base.filter(of))];
      if (mine === 0 && (theirs ?? 0) === 0) return;
      list.push({
        label,
        hint,
        value: share(mine, all),
        format: asPercent,
        note: 'of the time',
        base: theirs === null ? null : share(theirs, allBase ?? 0),
        ...shareChange(mine, theirs, this.steps),
      });
    };
    part(
      'Rematerialised',
      'Instructions that compute again what was computed before, to save memory',
      (op) => op.remat,
    );
    part(
      'Collectives',
      'Instructions in which devices exchange data',
      (op) => categoryToken(op.category) === 'collectives',
    );
    part(
      'Outside compilation',
      'Operations that were moved out of the compiled program',
      (op) => op.outside,
    );
    return list;
  }

  private columns(): Column<Row>[] {
    const rows = this.rows();
    const group = this.group();
    const one = group === 'op';
    const rateColumn = rateColumns(rows);
    const has = (of: (row: Row) => boolean): boolean => rows.some(of);
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
        id: 'program',
        title: 'Program',
        kind: 'text',
        width: 150,
        quiet: true,
        hidden: !one || new Set(rows.map((row) => row.program)).size < 2,
        value: (row) => row.program,
        hint: 'Module and id of the compiled program',
      },
      ...(one
        ? [
            {
              id: 'category',
              title: 'Category',
              kind: 'text' as const,
              width: 150,
              narrow: false,
              value: (row: Row) => row.category,
              hint: 'XLA’s category of the instruction',
            },
          ]
        : []),
      {
        id: 'hlo_op_name',
        title: {
          op: 'Instruction',
          category: 'Category',
          source: 'Source line',
          program: 'Program',
        }[group],
        kind: 'text',
        grow: true,
        narrow: true,
        width: 190,
        code: true,
        value: (row) => row.name,
        text: (cell) => (group === 'source' ? shortPlace(String(cell)) : String(cell)),
        hint: 'Name in the compiled program',
      },
      ...(one
        ? [
            {
              id: 'tf_op_name',
              title: 'Framework op',
              kind: 'text' as const,
              grow: true,
              width: 200,
              code: true,
              value: (row: Row) => row.framework,
              hint: 'The operation of the framework that it comes from',
            },
          ]
        : []),
      {
        id: 'hlo_op_expression',
        title: 'HLO',
        kind: 'text',
        width: 260,
        code: false,
        hidden: true,
        value: (row) => row.expression,
        hint: 'Text of the instruction',
      },
      {
        id: 'occurrences',
        title: 'Count',
        kind: 'number',
        width: 74,
        value: (row) => row.occurrences,
        text: (cell) => count(Number(cell)),
        hint: 'How often it ran; on GPUs, how many kernels',
      },
      {
        ...timeColumn(rows, 'total_time', 'Total (µs)', (row) => row.total, {
          hint: 'Time including what it called',
        }),
        hidden: true,
      },
      timeColumn(rows, 'avg_time', 'Avg (µs)', (row) => share(row.total, row.occurrences), {
        width: 86,
        hint: 'Total time per occurrence',
      }),
      timeColumn(rows, 'total_self_time', 'Self (µs)', (row) => row.self, {
        narrow: true,
        hint: 'Time without what it called',
      }),
      ...(this.base === null
        ? []
        : compareColumns<Row>(
            'Self time',
            (row) => row.difference,
            timeMeasure(rows.map((row) => row.self)),
          )),
      {
        id: 'total_self_time_percent',
        title: 'Share',
        kind: 'number',
        scale: 0.01,
        width: 116,
        narrow: this.base === null,
        value: (row) => row.share,
        node: (row) => barCell(row.share, categoryToken(row.category)),
        hint: 'Share of the time that was captured on devices, idle time included',
      },
      rateColumn(
        'normalized_flop_rate',
        'GFLOP/s',
        'Billions of floating-point operations per second, as the device counts them',
        (row) => row.flopRate,
      ),
      rateColumn(
        'model_flop_rate',
        'Model GFLOP/s',
        'Billions of floating-point operations per second that the model requires',
        (row) => row.modelFlopRate,
        true,
      ),
      rateColumn('measured_memory_bw', 'GiB/s', 'Memory bandwidth', (row) => row.bandwidth),
      rateColumn(
        'hbm_bw',
        'HBM GiB/s',
        'Bandwidth of the device’s main memory',
        (row) => row.hbm,
        true,
      ),
      rateColumn(
        'operational_intensity',
        'FLOP/byte',
        'Operational intensity: arithmetic per byte moved',
        (row) => row.intensity,
      ),
      ...(one && has((row) => row.boundBy !== '' && row.boundBy !== 'Unknown')
        ? [
            {
              id: 'bound_by',
              title: 'Bound by',
              kind: 'text' as const,
              quiet: true,
              width: 92,
              value: (row: Row) => row.boundBy,
              text: (cell: Cell) => (cell === 'Unknown' || cell === '' ? '–' : String(cell)),
              hint: 'The resource that comes closest to its peak',
            },
          ]
        : []),
      ...(one && has((row) => row.remat)
        ? [
            {
              id: 'hlo_rematerialization',
              title: 'Remat',
              kind: 'bool' as const,
              width: 74,
              value: (row: Row) => row.remat,
              hint: 'Computes again what was computed before',
            },
          ]
        : []),
      ...(one && has((row) => row.outside)
        ? [
            {
              id: 'outside_compilation',
              title: 'Outside',
              kind: 'bool' as const,
              width: 80,
              value: (row: Row) => row.outside,
              hint: 'Outside of the compiled program',
            },
          ]
        : []),
      ...(one && has((row) => row.autotuned)
        ? [
            {
              id: 'autotuned',
              title: 'Autotuned',
              kind: 'bool' as const,
              width: 88,
              hidden: true,
              value: (row: Row) => row.autotuned,
              hint: 'Its algorithm was chosen by measuring',
            },
          ]
        : []),
      ...(one && has((row) => row.source !== null)
        ? [
            {
              id: 'source_info',
              title: 'Source',
              kind: 'text' as const,
              width: 150,
              code: true,
              hidden: true,
              value: (row: Row) => row.source?.place ?? '',
              text: (cell: Cell) => shortPlace(String(cell)),
              hint: 'Line of source',
            },
          ]
        : []),
    ];
  }

  private show(rows: Row[]): void {
    const group = this.group();
    const kind = this.kindOfChart();
    const sorted = [...rows].sort((a, b) => b.self - a.self);
    const all = sum(sorted, (row) => row.self);
    if (kind !== 'bar') {
      this.pie(sorted, all, kind);
      return;
    }
    const top = sorted
      .filter((row) => row.self > 0 || (row.difference?.base ?? 0) > 0)
      .slice(0, BARS);
    const names = distinctTails(
      top.map((row) => row.name),
      matchMedia('(max-width: 640px)').matches ? 22 : 44,
    );
    let running = 0;
    const bars: Bar[] = top.map((row, index) => {
      running += row.self;
      return {
        label: names[index] ?? row.name,
        full: row.framework === '' ? row.name : `${row.name} (${row.framework})`,
        value: row.self,
        cumulative: share(running, all),
        token: categoryToken(row.category),
        base: row.difference?.base ?? null,
      };
    });
    const what = {
      op: 'instructions',
      category: 'categories',
      source: 'lines',
      program: 'programs',
    }[group];
    const compare = this.base !== null;
    const [first] = bars;
    this.chart.title(
      `Top ${what} by self time`,
      group === 'op' ? 'choose a bar to see more of it' : 'choose a bar to see what is in it',
    );
    this.chart.set({
      signature: JSON.stringify([bars, compare, sorted.length]),
      height: 52 + Math.max(3, bars.length) * BAR_PX,
      summary:
        first === undefined
          ? `No ${what} to show.`
          : `The ${bars.length} largest of ${count(sorted.length)} ${what} take ${percent(share(running, all))} of the self time; the largest is ${first.full} with ${microseconds(first.value)}.`,
      config: () => barsConfig(bars, 'Self time', compare),
      head: ['Name', 'Self (µs)', 'Cumulative', ...(compare ? ['Base (µs)'] : [])],
      rows: bars.map((bar) => [
        bar.full,
        bar.value,
        bar.cumulative,
        ...(compare ? [bar.base ?? null] : []),
      ]),
      text: (cell, column) =>
        cell === null
          ? '–'
          : typeof cell !== 'number'
            ? String(cell)
            : column === 2
              ? percent(cell)
              : microseconds(cell),
      legend: [
        ...HLO_KINDS.filter(({ token }) => bars.some((bar) => bar.token === token)),
        { label: 'Cumulative share', token: 'ink', line: true },
        ...(compare ? [{ label: 'Base run', token: 'ink', outline: true }] : []),
      ],
      pick: (index) => this.pick(top[index]),
    });
  }

  private pie(rows: readonly Row[], all: number, kind: Exclude<Chart, 'bar'>): void {
    const leaves = rows.flatMap((row): readonly HloOp[] =>
      row.members.length > 0 ? row.members : [row],
    );
    const parts = new Map<string, number>();
    const label = (op: HloOp): string =>
      kind === 'category'
        ? op.category
        : kind === 'remat'
          ? op.remat
            ? 'Rematerialised'
            : 'Computed once'
          : op.outside
            ? 'Outside compilation'
            : 'Compiled';
    for (const op of leaves) parts.set(label(op), (parts.get(label(op)) ?? 0) + op.self);
    const sorted = [...parts].sort((a, b) => b[1] - a[1]);
    const rest = sorted.slice(SLICES);
    const tokens = [
      'device-compute',
      'kernel-launch',
      'collectives',
      'host-compute',
      'device-to-device',
      'input',
      'output',
      'compilation',
    ];
    const slices = [
      ...sorted.slice(0, SLICES).map(([name, value], index) => ({
        label: name,
        full: name,
        value,
        token: tokens[index] ?? 'all-others',
      })),
      ...(rest.length > 0
        ? [
            {
              label: 'All others',
              full: plural(rest.length, 'other category', 'other categories'),
              value: rest.reduce((total, [, value]) => total + value, 0),
              token: 'all-others',
            },
          ]
        : []),
    ];
    this.chart.title(
      {
        category: 'Self time by category',
        remat: 'Self time of what is computed again',
        outside: 'Self time outside of the compiled program',
      }[kind],
      '',
    );
    this.chart.set({
      signature: JSON.stringify([slices, kind]),
      height: 300,
      config: () => pieConfig(slices, 'Self time'),
      legend: slices,
      summary: slices
        .map((slice) => `${slice.label} ${percent(share(slice.value, all))}`)
        .join(', '),
      head: ['Category', 'Self (µs)', 'Share'],
      rows: sorted.map(([name, value]) => [name, value, share(value, all)]),
      text: (cell, column) =>
        typeof cell !== 'number' ? String(cell) : column === 2 ? percent(cell) : microseconds(cell),
      pick: (index) => {
        const name = slices[index]?.label;
        if (kind === 'category' && name !== undefined && name !== 'All others')
          this.context.url.set({ group: null, 'f.category': `=${name}`, chart: null, sel: null });
      },
    });
  }

  private pick(row: Row | undefined): void {
    if (row === undefined) return;
    const { url } = this.context;
    const group = this.group();
    if (group === 'op') url.set({ sel: row.key });
    else if (group === 'category')
      url.set({ group: null, 'f.category': `=${row.name}`, sel: null });
    else if (group === 'program') url.set({ group: null, 'f.program': `=${row.name}`, sel: null });
    else url.set({ sel: row.key });
  }

  private showDetail(): void {
    const wanted = this.context.url.get('sel');
    const row = wanted === '' ? undefined : this.rows().find((one) => one.key === wanted);
    this.dashboard.choose(row === undefined ? null : this.describe(row));
  }

  private describe(row: Row): Detail {
    const single = row.members.length === 0;
    const gone = row.difference?.state === 'gone';
    const rate = (value: number, unit: string): string =>
      value === 0 ? 'unknown' : `${fixed(value, value < 10 ? 2 : 0)} ${unit}`;
    const facts = [
      ...(row.category === '' ? [] : [{ label: 'Category', text: row.category }]),
      ...(single && row.framework !== '' ? [{ label: 'Framework op', text: row.framework }] : []),
      ...(row.program === '' ? [] : [{ label: 'Program', text: row.program }]),
      { label: 'Count', text: count(row.occurrences) },
      { label: 'Self', text: microseconds(row.self), exact: `${exact(row.self)} µs` },
      { label: 'Average', text: microseconds(share(row.total, row.occurrences)) },
      { label: 'Share', text: percent(row.share) },
      ...(row.category === 'IDLE'
        ? []
        : [
            { label: 'Arithmetic', text: rate(row.flopRate, 'GFLOP/s') },
            { label: 'Memory', text: rate(row.bandwidth, 'GiB/s') },
            ...(row.intensity === 0
              ? []
              : [{ label: 'Intensity', text: `${fixed(row.intensity, 2)} FLOP/byte` }]),
            ...(row.boundBy === '' || row.boundBy === 'Unknown'
              ? []
              : [{ label: 'Bound by', text: row.boundBy }]),
            ...(row.costSource === ''
              ? []
              : [{ label: 'Cost by', text: costRules(row.costSource) }]),
          ]),
      ...(row.remat
        ? [{ label: 'Rematerialised', text: 'computes again what was computed before' }]
        : []),
      ...differenceFacts(row.difference),
    ];
    const known = single && !gone && row.category !== 'IDLE';
    return {
      key: JSON.stringify([this.view.query(), row.key]),
      title: row.name,
      full: row.framework === '' ? row.name : row.framework,
      facts,
      query: null,
      slowest: slowestLink(this.context),
      trace: known ? instructionTrace(this.context, row.name) : null,
      extra: sections(
        known ? linksBlock(instructionLinks(this.context, row.programId, row.name)) : null,
        expressionBlock(row.expression),
        sourceBlock(row.source),
        single ? null : this.members(row),
      ),
    };
  }

  private members(row: Row): HTMLElement {
    const largest = [...row.members].sort((a, b) => b.self - a.self).slice(0, 10);
    const body = h(
      'tbody',
      {},
      ...largest.map((op) =>
        h(
          'tr',
          {},
          h(
            'th',
            { scope: 'row', class: 'code', title: op.expression.slice(0, 400) },
            h(
              'button',
              {
                type: 'button',
                class: 'linklike',
                on: { click: () => this.context.url.set({ group: null, sel: op.key }) },
              },
              h('bdi', { dir: 'ltr' }, op.name),
            ),
          ),
          h('td', { class: 'number', title: `${exact(op.self)} µs` }, microseconds(op.self)),
        ),
      ),
    );
    return h(
      'div',
      {},
      h('h3', {}, `Largest of ${plural(row.members.length, 'instruction')}`),
      h('div', { class: 'twin' }, h('table', { class: 'members' }, body)),
    );
  }
}

function nothingRecorded(): HTMLElement {
  return notRecorded(
    'No instructions of compiled programs were recorded',
    h('p', {}, 'The capture holds no device events of programs that XLA compiled.'),
    h(
      'p',
      { class: 'soft' },
      'They are there when a JAX, PyTorch/XLA or jitted TensorFlow program runs on a GPU or TPU while capturing, with device_tracer_level at 1 (the default).',
    ),
  );
}

export const page: PageType = (context) => new HloStatsPage(context);
