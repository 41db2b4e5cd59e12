// SPDX-License-Identifier: Apache-2.0
// Kernel stats: what ran on the GPUs, launch by launch summed up.

import { getTables } from '../core/api';
import { ChartCard } from '../components/chart_card';
import {
  BAR_PX,
  barsConfig,
  microseconds,
  scatterConfig,
  type Bar,
  type Dot,
} from '../components/charts';
import { timeColumn } from '../components/columns';
import {
  compareColumns,
  compareNote,
  differenceFacts,
  timeMeasure,
} from '../components/compare_columns';
import type { Detail } from '../components/detail_panel';
import { RowDashboard } from '../components/row_dashboard';
import { Segmented, Toggle } from '../components/segmented';
import { notRecorded } from '../components/states';
import { tiles, timeChange, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import {
  exactPlace,
  joinBase,
  kernelPart,
  opParts,
  stepScale,
  type Difference,
  type Place,
  type StepCounts,
} from '../core/compare';
import { fill, h } from '../core/dom';
import { hasTensorCores } from '../core/devices';
import {
  asPercent,
  columnDecimals,
  count,
  duration,
  exact,
  fixed,
  percent,
  plural,
} from '../core/format';
import { amount, flag, number, records, text, type Cell, type GvizTable } from '../core/gviz';
import { properties } from '../core/steps';
import {
  addressKey,
  distinctTails,
  opTypeFromName,
  shortKernel,
  trimLeft,
  trimRight,
} from '../core/names';
import type { Page, PageContext, PageType } from '../core/page';
import type { Column } from '../core/table_view';
import { slowestLink, tracePlace } from '../core/trace_link';

type Group = 'kernel_op' | 'kernel' | 'op' | 'type';

interface Kernel {
  key: string;
  rank: number;
  kernel: string;
  short: string;
  op: string;
  type: string;
  /** Null where the launches of a group differ. */
  registers: number | null;
  shared: number | null;
  block: string | null;
  grid: string | null;
  occupancy: number | null;
  eligible: boolean;
  uses: boolean;
  /** GFLOP/s and GiB/s, each times µs, so that they add up; null where the cost is not known. */
  flops: number | null;
  moved: number | null;
  boundBy: string | null;
  occurrences: number;
  total: number;
  min: number;
  max: number;
  members: Kernel[];
  /** What each host adds to it, where the server says. */
  hosts: { host: string; occurrences: number; total: number }[];
  difference?: Difference;
}

const BARS = 12;
const GROUPS: Record<Group, { noun: string; compared: [string, string] }> = {
  kernel_op: { noun: 'rows', compared: ['row', 'rows'] },
  kernel: { noun: 'kernels', compared: ['kernel', 'kernels'] },
  op: { noun: 'operations', compared: ['operation', 'operations'] },
  type: { noun: 'operation types', compared: ['operation type', 'operation types'] },
};

/** One line per kernel, op and launch configuration; the same of two hosts becomes one. */
function readKernels(table: GvizTable | undefined): Kernel[] {
  if (table === undefined) return [];
  const rows = new Map<string, Kernel>();
  for (const record of records(table)) {
    const [kernel, op] = [text(record, 'kernel_name'), text(record, 'op_name')];
    const short = shortKernel(kernel);
    const row: Kernel = {
      key: '',
      rank: 0,
      kernel,
      short,
      op,
      type: text(record, 'op_type') || opTypeFromName(op),
      registers: number(record, 'registers_per_thread'),
      shared: number(record, 'shmem_bytes'),
      block: text(record, 'block_dim'),
      grid: text(record, 'grid_dim'),
      occupancy: number(record, 'occupancy_pct'),
      eligible: flag(record, 'is_op_tensor_core_eligible'),
      uses: flag(record, 'is_kernel_using_tensor_core'),
      flops: times(number(record, 'flop_rate'), amount(record, 'total_duration_us')),
      moved: times(number(record, 'memory_bw'), amount(record, 'total_duration_us')),
      boundBy: text(record, 'bound_by') || null,
      occurrences: amount(record, 'occurrences'),
      total: amount(record, 'total_duration_us'),
      min: amount(record, 'min_duration_us'),
      max: amount(record, 'max_duration_us'),
      members: [],
      hosts: [],
    };
    const host = { host: text(record, 'host'), occurrences: row.occurrences, total: row.total };
    if (host.host !== '') row.hosts.push(host);
    const parts = [
      kernel,
      op,
      row.block ?? '',
      row.grid ?? '',
      String(row.registers),
      String(row.shared),
      row.eligible ? 'e' : '',
      row.uses ? 'u' : '',
    ];
    const whole = parts.join('|');
    const other = rows.get(whole);
    if (other === undefined) {
      rows.set(whole, { ...row, key: addressKey(parts, short) });
    } else {
      other.occurrences += row.occurrences;
      other.total += row.total;
      other.flops = together([other.flops, row.flops]);
      other.moved = together([other.moved, row.moved]);
      other.min = Math.min(other.min, row.min);
      other.max = Math.max(other.max, row.max);
      other.hosts.push(...row.hosts);
    }
  }
  return ranked([...rows.values()]);
}

function times(rate: number | null, us: number): number | null {
  return rate === null ? null : rate * us;
}

/** The sum, where all are known. */
function together(values: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const value of values) {
    if (value === null) return null;
    sum += value;
  }
  return sum;
}

function rate(part: number | null, us: number): number | null {
  return part === null || us === 0 ? null : part / us;
}

function ranked(rows: Kernel[]): Kernel[] {
  return rows.sort((a, b) => b.total - a.total).map((row, index) => ({ ...row, rank: index + 1 }));
}

function shared<T>(members: readonly Kernel[], of: (row: Kernel) => T): T | null {
  const [first] = members;
  if (first === undefined) return null;
  return members.every((row) => of(row) === of(first)) ? of(first) : null;
}

function hostsOf(members: readonly Kernel[]): Kernel['hosts'] {
  const sums = new Map<string, Kernel['hosts'][number]>();
  for (const { host, occurrences, total } of members.flatMap((member) => member.hosts)) {
    const sum = sums.get(host) ?? { host, occurrences: 0, total: 0 };
    sums.set(host, { host, occurrences: sum.occurrences + occurrences, total: sum.total + total });
  }
  return [...sums.values()];
}

function groupKernels(kernels: readonly Kernel[], group: Group): Kernel[] {
  if (group === 'kernel_op') return [...kernels];
  const name = (row: Kernel): string => ({ kernel: row.kernel, op: row.op, type: row.type })[group];
  const groups = new Map<string, Kernel[]>();
  for (const row of kernels) {
    const members = groups.get(name(row));
    if (members === undefined) groups.set(name(row), [row]);
    else members.push(row);
  }
  return ranked(
    [...groups].map(([key, members]) => ({
      key: addressKey([group, key], key),
      rank: 0,
      kernel: shared(members, (row) => row.kernel) ?? '',
      short: shared(members, (row) => row.short) ?? '',
      op: shared(members, (row) => row.op) ?? '',
      type: shared(members, (row) => row.type) ?? '',
      registers: shared(members, (row) => row.registers),
      shared: shared(members, (row) => row.shared),
      block: shared(members, (row) => row.block),
      grid: shared(members, (row) => row.grid),
      occupancy: shared(members, (row) => row.occupancy),
      eligible: members.some((row) => row.eligible),
      uses: members.some((row) => row.uses),
      flops: together(members.map((row) => row.flops)),
      moved: together(members.map((row) => row.moved)),
      boundBy: shared(members, (row) => row.boundBy),
      occurrences: members.reduce((sum, row) => sum + row.occurrences, 0),
      total: members.reduce((sum, row) => sum + row.total, 0),
      min: Math.min(...members.map((row) => row.min)),
      max: Math.max(...members.map((row) => row.max)),
      members,
      hosts: hostsOf(members),
    })),
  );
}

/** An op's kernels stand in it like in a scope; launches of another shape are another row. */
function placeOf(row: Kernel, group: Group): Place {
  switch (group) {
    case 'kernel':
      return { parts: [kernelPart(row.kernel)], rest: '' };
    case 'op':
      return { parts: opParts(row.op), rest: '' };
    case 'type':
      return exactPlace(row.type);
    default:
      return {
        parts: [...opParts(row.op), kernelPart(row.kernel)],
        rest: JSON.stringify([
          row.block,
          row.grid,
          row.registers,
          row.shared,
          row.eligible,
          row.uses,
        ]),
      };
  }
}

function nameIn(row: Kernel, group: Group): string {
  return {
    kernel_op: row.op === '' ? row.kernel : `${row.op} · ${row.kernel}`,
    kernel: row.kernel,
    op: row.op,
    type: row.type,
  }[group];
}

function compared(
  rows: readonly Kernel[],
  base: readonly Kernel[],
  group: Group,
  scale: number,
): Kernel[] {
  return joinBase(rows, base, {
    place: (row) => placeOf(row, group),
    name: (row) => nameIn(row, group),
    measure: (row) => row.total,
    scale,
    put: (row, difference) => ({ ...row, difference }),
    gone: (row) => ({
      ...row,
      occurrences: 0,
      total: 0,
      min: 0,
      max: 0,
      hosts: [],
      key: `${row.key} (gone)`,
    }),
  }).map((row, index) => (row.difference?.state === 'gone' ? { ...row, rank: index + 1 } : row));
}

function average(row: Kernel): number {
  return row.occurrences === 0 ? 0 : row.total / row.occurrences;
}

function tensorColour(row: Kernel): string {
  return row.uses ? 'device-compute' : row.eligible ? 'host-compute' : 'all-others';
}

class KernelStatsPage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Kernel[]>;
  private readonly dashboard: RowDashboard<Kernel>;
  private readonly groups: Segmented;
  private readonly unused: Toggle;
  private readonly kind: Segmented;
  private readonly chart: ChartCard;
  private data: Kernel[] | null = null;
  private base: Kernel[] | null = null;
  private steps: StepCounts | null = null;
  private memo: { key: string; rows: Kernel[] } = { key: '', rows: [] };
  private lastShape = '';
  /** The data whose tiles are shown. */
  private tilesOf: Kernel[] | null = null;
  /** Of the run's devices; columns and colours about them say nothing of others. */
  private tensorCores = true;

  constructor(private readonly context: PageContext) {
    this.url = context.url;
    const { url } = context;
    this.groups = new Segmented(
      'Rows of the table',
      [
        {
          value: 'kernel_op',
          label: 'Kernel and op',
          hint: 'One row for each kernel, operation and launch configuration',
        },
        { value: 'kernel', label: 'Kernel' },
        { value: 'op', label: 'Op' },
        { value: 'type', label: 'Op type' },
      ],
      (value) => url.set({ group: value === 'kernel_op' ? null : value, sel: null }),
    );
    this.unused = new Toggle(
      'TensorCore eligible but unused',
      'Only kernels of operations that could use TensorCores, but that do not',
      (on) => url.set({ 'f.eligible': on ? 'yes' : null, 'f.uses': on ? 'no' : null }),
    );
    this.kind = new Segmented(
      'Kind of chart',
      [
        { value: 'bar', label: 'Bars' },
        { value: 'scatter', label: 'Average × count' },
      ],
      (value) => url.set({ chart: value === 'bar' ? null : value }),
    );
    this.chart = new ChartCard({
      title: 'Top kernels',
      name: 'top_kernels',
      controls: [this.kind.element],
    });
    this.dashboard = new RowDashboard<Kernel>(context, {
      title: 'Kernels',
      name: 'kernel_stats',
      controls: [this.groups.element, this.unused.element],
      chart: this.chart,
      query: () => this.view.query(),
      show: (rows) => this.show(rows),
    });
    this.view = new ToolView<Kernel[]>(context, {
      title: context.tool?.title ?? 'Kernel stats',
      tool: 'kernel_stats',
      content: this.dashboard.element,
      fetch: async (query, signal) => {
        const [table] = await getTables(query, signal);
        if (query['run'] === this.url.get('run'))
          this.tensorCores = hasTensorCores(properties(table)['device_type'] ?? '');
        return readKernels(table);
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

  private readonly url: PageContext['url'];

  update(): void {
    this.view.update();
  }

  destroy(): void {
    this.view.destroy();
    this.dashboard.destroy();
  }

  private group(): Group {
    const wanted = this.url.get('group');
    return wanted === 'kernel' || wanted === 'op' || wanted === 'type' ? wanted : 'kernel_op';
  }

  private rows(): Kernel[] {
    if (this.data === null) return [];
    const group = this.group();
    if (this.memo.key === group) return this.memo.rows;
    const rows = groupKernels(this.data, group);
    this.memo = {
      key: group,
      rows:
        this.base === null
          ? rows
          : compared(rows, groupKernels(this.base, group), group, stepScale(this.steps)),
    };
    fill(
      this.dashboard.compareSlot,
      this.base !== null &&
        compareNote(
          this.memo.rows,
          (row) => row.difference,
          (row) => nameIn(row, group),
          GROUPS[group].compared,
          this.steps,
        ),
    );
    return this.memo.rows;
  }

  private refresh(): void {
    if (this.data === null) return;
    const nothing = this.data.length === 0;
    this.groups.show(this.group());
    this.unused.element.hidden = !this.tensorCores;
    this.unused.show(this.url.get('f.eligible') === 'yes' && this.url.get('f.uses') === 'no');
    this.kind.show(this.url.get('chart') === 'scatter' ? 'scatter' : 'bar');
    this.dashboard.nothing(nothing);
    fill(
      this.dashboard.notice,
      nothing &&
        notRecorded(
          'No GPU kernels were recorded',
          h(
            'p',
            {},
            'Kernels are recorded when the program runs on a GPU and the profiler is allowed to trace it.',
          ),
          h(
            'p',
            { class: 'soft' },
            'Check that device_tracer_level is 1 (the default), that some steps ran during the capture, and that the driver lets this user profile (for NVIDIA: NVreg_RestrictProfilingToAdminUsers=0, or run with the needed rights).',
          ),
        ),
    );
    if (nothing) return;
    // They are of all rows: no filter changes them.
    if (this.tilesOf !== this.data) fill(this.dashboard.tileSlot, tiles(this.tiles()));
    this.tilesOf = this.data;
    if (this.lastShape === this.group()) {
      this.dashboard.table.update();
    } else {
      this.lastShape = this.group();
      this.dashboard.table.set({
        rows: this.rows(),
        columns: this.columns(),
        noun: GROUPS[this.group()].noun,
      });
    }
    this.showDetail();
  }

  private tiles(): Tile[] {
    const { data, base } = this;
    if (data === null) return [];
    const total = (rows: readonly Kernel[]): number =>
      rows.reduce((sum, row) => sum + row.total, 0);
    const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
    const tensor = (rows: readonly Kernel[]): number => {
      const eligible = rows.filter((row) => row.eligible);
      return ratio(total(eligible.filter((row) => row.uses)), total(eligible));
    };
    const launches = (rows: readonly Kernel[]): number =>
      rows.reduce((sum, row) => sum + row.occurrences, 0);
    const five = (rows: readonly Kernel[]): number =>
      ratio(total(groupKernels(rows, 'kernel').slice(0, 5)), total(rows));
    const of = (
      measure: (rows: readonly Kernel[]) => number,
    ): { value: number; base: number | null } => ({
      value: measure(data),
      base: base === null ? null : measure(base),
    });
    const eligible = total(data.filter((row) => row.eligible));
    return [
      {
        label: 'Kernel time',
        hint: 'Time of all kernels, summed over all devices',
        value: total(data),
        ...timeChange(total(data), base === null ? null : total(base), this.steps),
        format: duration,
        exact: `${exact(total(data))} µs`,
        better: 'lower',
        note: `${microseconds(ratio(total(data), launches(data)))} per launch`,
      },
      ...(!this.tensorCores
        ? []
        : [
            {
              label: 'On TensorCores',
              hint: 'Share of the kernel time of TensorCore-eligible operations that ran on TensorCores',
              ...of(tensor),
              value: eligible === 0 ? null : tensor(data),
              format: asPercent,
              note:
                eligible === 0
                  ? 'no eligible operation ran'
                  : `of ${microseconds(eligible)} eligible`,
            },
          ]),
      {
        label: 'Launches',
        hint: 'How many kernels ran',
        ...of(launches),
        format: (value) => ({ value: count(value), unit: '' }),
        note: `of ${plural(groupKernels(data, 'kernel').length, 'kernel')}`,
      },
      {
        label: 'Five largest kernels',
        hint: 'Share of kernel time in the five largest kernels',
        ...of(five),
        format: asPercent,
        note: 'of kernel time',
      },
    ];
  }

  private columns(): Column<Kernel>[] {
    const rows = this.rows();
    const group = this.group();
    const hasKernel = group === 'kernel_op' || group === 'kernel';
    const time = (
      id: string,
      title: string,
      value: (row: Kernel) => number,
      extra: Partial<Column<Kernel>> = {},
    ): Column<Kernel> => timeColumn(rows, id, title, value, extra);
    const whole = (cell: Cell): string => (typeof cell === 'number' ? count(cell) : '–');
    const mixed = (cell: Cell): string =>
      cell === null || cell === '' ? (group === 'kernel_op' ? '–' : 'varies') : String(cell);
    const list: Column<Kernel>[] = [
      {
        id: 'rank',
        title: '#',
        kind: 'number',
        width: 52,
        value: (row) => row.rank,
        hint: 'Rank by total time',
      },
    ];
    if (hasKernel) {
      list.push({
        id: 'kernel',
        title: 'Kernel',
        kind: 'text',
        grow: true,
        narrow: true,
        width: 270,
        value: (row) => row.kernel,
        hint: 'Kernel; the whole name shows on hover and in the details',
        node: (row) => h('span', { class: 'kernel-name' }, row.short),
      });
    }
    if (group === 'type')
      list.push({
        id: 'type',
        title: 'Op type',
        kind: 'text',
        grow: true,
        narrow: true,
        width: 200,
        value: (row) => row.type,
        text: (cell) => (cell === '' ? '(no op)' : String(cell)),
      });
    if (group === 'kernel_op' || group === 'op')
      list.push({
        id: 'op',
        title: 'Op',
        kind: 'text',
        width: 180,
        grow: group === 'op',
        narrow: group === 'op',
        code: true,
        value: (row) => row.op,
        text: (cell) => (cell === '' ? '(no op)' : String(cell)),
        hint: 'The operation that launched it',
      });
    if (group === 'kernel_op' || group === 'op')
      list.push({
        id: 'type',
        title: 'Op type',
        kind: 'text',
        width: 150,
        hidden: group === 'kernel_op',
        value: (row) => row.type,
        hint: 'Type of the operation',
      });
    if (group !== 'kernel_op')
      list.push({
        id: 'lines',
        title: 'Variants',
        kind: 'number',
        width: 84,
        value: (row) => Math.max(1, row.members.length),
        text: whole,
        hint: 'Kernels and launch configurations in this row',
      });
    list.push(
      {
        id: 'occurrences',
        title: 'Count',
        kind: 'number',
        width: 78,
        value: (row) => row.occurrences,
        text: whole,
        hint: 'Launches',
      },
      time('total', 'Total (µs)', (row) => row.total, {
        narrow: true,
        hint: 'Time of all launches',
      }),
      ...(this.base === null
        ? []
        : compareColumns<Kernel>(
            'Total time',
            (row) => row.difference,
            timeMeasure(rows.map((row) => row.total)),
          )),
      time('avg', 'Avg (µs)', average, { narrow: this.base === null, width: 88 }),
      time('min', 'Min (µs)', (row) => row.min, { width: 86 }),
      time('max', 'Max (µs)', (row) => row.max, { width: 86 }),
    );
    if (this.tensorCores)
      list.push(
        {
          id: 'uses',
          title: 'TC used',
          kind: 'bool',
          width: 80,
          value: (row) => row.uses,
          hint:
            group === 'kernel_op'
              ? 'The kernel uses TensorCores'
              : 'At least one of its kernels uses TensorCores',
          node: (row) => yesNo(row.uses),
        },
        {
          id: 'eligible',
          title: 'Eligible',
          kind: 'bool',
          width: 78,
          value: (row) => row.eligible,
          hint: 'The operation could use TensorCores',
          node: (row) => yesNo(row.eligible),
        },
      );
    if (rows.some((row) => row.flops !== null)) list.push(...this.costColumns(rows));
    list.push(
      {
        id: 'registers',
        title: 'Regs',
        kind: 'number',
        width: 66,
        value: (row) => row.registers,
        text: mixed,
        hint: 'Registers per thread',
        hidden: !hasKernel,
      },
      {
        id: 'shared',
        title: 'Shared B',
        kind: 'number',
        width: 86,
        value: (row) => row.shared,
        text: (cell) => (cell === null ? mixed(cell) : whole(cell)),
        hint: 'Static and dynamic shared memory in bytes',
        hidden: !hasKernel,
      },
      {
        id: 'block',
        title: 'Block',
        kind: 'text',
        quiet: true,
        width: 92,
        value: (row) => row.block,
        text: mixed,
        hint: 'Threads per block, x,y,z',
        hidden: !hasKernel,
      },
      {
        id: 'grid',
        title: 'Grid',
        kind: 'text',
        quiet: true,
        width: 96,
        value: (row) => row.grid,
        text: mixed,
        hint: 'Blocks, x,y,z',
        hidden: !hasKernel,
      },
      {
        id: 'occupancy',
        title: 'Occ. %',
        kind: 'number',
        width: 74,
        value: (row) => row.occupancy,
        text: (cell) => (typeof cell === 'number' ? cell.toFixed(1) : mixed(cell)),
        hint: 'Theoretical occupancy',
        hidden: !hasKernel,
      },
    );
    return list;
  }

  /** Of captures whose programs tell what their instructions cost. */
  private costColumns(rows: readonly Kernel[]): Column<Kernel>[] {
    const column = (
      id: string,
      title: string,
      hint: string,
      value: (row: Kernel) => number | null,
    ): Column<Kernel> => {
      const decimals = columnDecimals(rows.map(value));
      return {
        id,
        title,
        hint,
        kind: 'number',
        width: 96,
        value,
        text: (cell) => (typeof cell === 'number' ? fixed(cell, decimals) : '–'),
      };
    };
    return [
      column('flop_rate', 'GFLOP/s', 'Billions of floating-point operations per second', (row) =>
        rate(row.flops, row.total),
      ),
      column('memory_bw', 'GiB/s', 'Memory bandwidth', (row) => rate(row.moved, row.total)),
      {
        id: 'bound_by',
        title: 'Bound by',
        kind: 'text',
        quiet: true,
        width: 92,
        value: (row) => row.boundBy,
        text: (cell) => (cell === null || cell === 'Unknown' ? '–' : String(cell)),
        hint: 'The resource that comes closest to its peak',
      },
    ];
  }

  private nameOf(row: Kernel): { name: string; full: string } {
    switch (this.group()) {
      case 'op':
        return { name: row.op || '(no op)', full: row.op || 'Kernels without an operation' };
      case 'type':
        return { name: row.type || '(no op)', full: row.type || 'Kernels without an operation' };
      default:
        return { name: row.short, full: row.kernel };
    }
  }

  private show(rows: Kernel[]): void {
    const group = this.group();
    const scatter = this.url.get('chart') === 'scatter';
    const compare = this.base !== null;
    const what = {
      kernel_op: 'kernels',
      kernel: 'kernels',
      op: 'operations',
      type: 'operation types',
    }[group];
    const all = this.rows().reduce((sum, row) => sum + row.total, 0);
    const sorted = [...rows].sort((a, b) => b.total - a.total);
    const colour = (row: Kernel): string =>
      this.tensorCores ? tensorColour(row) : 'device-compute';
    const tokens = new Set(this.tensorCores ? rows.map(colour) : []);
    const legend = [
      { label: 'Uses TensorCores', token: 'device-compute' },
      { label: 'Eligible, but does not', token: 'host-compute' },
      { label: 'Not eligible', token: 'all-others' },
    ].filter((entry) => tokens.has(entry.token));
    if (scatter) {
      const dots: (Dot & { row: Kernel })[] = sorted
        .filter((row) => row.occurrences > 0 && average(row) > 0)
        .slice(0, 2000)
        .map((row) => ({
          x: row.occurrences,
          y: average(row),
          full: this.nameOf(row).full,
          token: colour(row),
          row,
        }));
      this.chart.title(
        'Average time by launches',
        'dots further up and to the right take more time; choose one for its details',
      );
      this.chart.set({
        signature: JSON.stringify(['scatter', dots.map(({ x, y, token }) => [x, y, token])]),
        height: 340,
        summary: `${count(dots.length)} ${what} by number of launches and average time${dots[0] === undefined ? '' : `; the largest in total is ${this.nameOf(dots[0].row).name}`}.`,
        config: () => scatterConfig(dots),
        head: ['Name', 'Launches', 'Average (µs)', 'Total (µs)'],
        rows: dots.map(({ row }) => [
          this.nameOf(row).full,
          row.occurrences,
          average(row),
          row.total,
        ]),
        text: (cell, column) =>
          typeof cell !== 'number'
            ? String(cell ?? '–')
            : column === 1
              ? count(cell)
              : microseconds(cell),
        legend,
        pick: (index) => this.choose(dots[index]?.row),
      });
      return;
    }
    const top = sorted
      .filter((row) => row.total > 0 || (row.difference?.base ?? 0) > 0)
      .slice(0, BARS);
    const narrow = matchMedia('(max-width: 640px)').matches;
    // Both halves matter: the start of a kernel's name, and the end of its op's.
    const both = (row: Kernel): string =>
      `${trimRight(row.short, narrow ? 12 : 27)} · ${trimLeft(row.op, narrow ? 10 : 22)}`;
    const labels =
      group === 'kernel_op'
        ? top.map((row) => (row.op === '' ? trimRight(row.short, narrow ? 22 : 48) : both(row)))
        : distinctTails(
            top.map((row) => this.nameOf(row).name),
            narrow ? 22 : 48,
          );
    let running = 0;
    const bars: Bar[] = top.map((row, index) => {
      running += row.total;
      return {
        label: labels[index] ?? '',
        full:
          group === 'kernel_op' && row.op !== ''
            ? `${row.kernel} · ${row.op}`
            : this.nameOf(row).full,
        value: row.total,
        cumulative: all === 0 ? 0 : running / all,
        token: colour(row),
        base: row.difference?.base ?? null,
      };
    });
    this.chart.title(
      `Top ${what} by total time`,
      group === 'kernel_op' || group === 'kernel'
        ? 'choose a bar to show only that kernel'
        : 'choose a bar to see the kernels in it',
    );
    const [first] = top;
    this.chart.set({
      signature: JSON.stringify(['bars', bars, compare]),
      height: 52 + Math.max(3, bars.length) * BAR_PX,
      summary:
        first === undefined
          ? `No ${what} to show.`
          : `The ${bars.length} largest of ${count(rows.length)} ${what} take ${percent(all === 0 ? 0 : running / all)} of the kernel time; the largest is ${this.nameOf(first).name} with ${microseconds(first.total)}.`,
      config: () => barsConfig(bars, 'Total time', compare),
      head: ['Name', 'Total (µs)', 'Cumulative', ...(compare ? ['Base (µs)'] : [])],
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
        ...legend,
        { label: 'Cumulative share', token: 'ink', line: true },
        ...(compare ? [{ label: 'Base run', token: 'ink', outline: true }] : []),
      ],
      pick: (index) => this.choose(top[index]),
    });
  }

  /** A bar or dot was chosen: chart and table show what is in it. */
  private choose(row: Kernel | undefined): void {
    if (row === undefined) return;
    const { url } = this;
    const group = this.group();
    if (url.get('chart') === 'scatter') url.set({ sel: row.key });
    else if (group === 'type') url.set({ group: null, 'f.type': `=${row.type}`, sel: null });
    else if (group === 'op') url.set({ group: null, 'f.op': `=${row.op}`, sel: null });
    else if (url.get('f.kernel') === `=${row.kernel}`) url.set({ 'f.kernel': null, sel: null });
    else url.set({ 'f.kernel': `=${row.kernel}`, sel: row.key });
  }

  private showDetail(): void {
    const wanted = this.url.get('sel');
    const row =
      wanted === '' ? undefined : this.rows().find((candidate) => candidate.key === wanted);
    this.dashboard.choose(row === undefined ? null : this.describe(row));
  }

  private describe(row: Kernel): Detail {
    const group = this.group();
    const varies = (value: Cell): string =>
      value === null || value === ''
        ? 'varies'
        : typeof value === 'number'
          ? count(value)
          : String(value);
    const { name, full } = this.nameOf(row);
    const facts = [
      ...(group === 'kernel_op'
        ? [
            { label: 'Op', text: row.op || '–' },
            { label: 'Op type', text: row.type || '–' },
          ]
        : []),
      ...(group === 'kernel_op' || group === 'kernel'
        ? [
            { label: 'Registers per thread', text: varies(row.registers) },
            {
              label: 'Shared memory',
              text: row.shared === null ? 'varies' : `${count(row.shared)} B`,
            },
            { label: 'Block', text: varies(row.block) },
            { label: 'Grid', text: varies(row.grid) },
            {
              label: 'Theoretical occupancy',
              text: row.occupancy === null ? 'varies' : `${row.occupancy.toFixed(1)} %`,
            },
          ]
        : [{ label: 'Kernels and launch configurations', text: count(row.members.length) }]),
      ...(this.tensorCores
        ? [
            { label: 'Uses TensorCores', text: row.uses ? 'yes' : 'no' },
            { label: 'Op is eligible', text: row.eligible ? 'yes' : 'no' },
          ]
        : []),
      { label: 'Launches', text: count(row.occurrences) },
      { label: 'Total', text: microseconds(row.total), exact: `${exact(row.total)} µs` },
      { label: 'Average', text: microseconds(average(row)), exact: `${exact(average(row))} µs` },
      ...(row.flops === null
        ? []
        : [{ label: 'Arithmetic', text: `${fixed(rate(row.flops, row.total) ?? 0, 1)} GFLOP/s` }]),
      ...(row.moved === null
        ? []
        : [{ label: 'Memory', text: `${fixed(rate(row.moved, row.total) ?? 0, 1)} GiB/s` }]),
      { label: 'Minimum, maximum', text: `${microseconds(row.min)}, ${microseconds(row.max)}` },
      ...differenceFacts(row.difference),
    ];
    const query = this.view.query();
    const instances = {
      kernel_op: { ...query, kernel: row.kernel, name: row.op },
      kernel: { ...query, kernel: row.kernel },
      op: { ...query, name: row.op },
      type: null,
    }[group];
    const unknown = group === 'op' && row.op === '';
    const detail: Detail = {
      key: JSON.stringify([query, row.key]),
      title: name,
      full,
      facts,
      query: row.difference?.state === 'gone' || unknown ? null : instances,
      slowest: slowestLink(this.context),
      trace:
        row.difference?.state === 'gone' ||
        unknown ||
        group === 'type' ||
        !this.context.has('trace_viewer')
          ? null
          : this.context.link(
              'trace_viewer',
              tracePlace(group === 'op' ? { op: row.op } : { name: row.kernel }),
            ),
    };
    if (row.members.length > 1 || row.hosts.length > 1) {
      detail.extra = h(
        'div',
        {},
        row.members.length > 1 && this.members(row),
        row.hosts.length > 1 && byHost(row),
      );
    }
    return detail;
  }

  private members(row: Kernel): HTMLElement {
    const body = h('tbody');
    for (const member of row.members.slice(0, 10)) {
      body.append(
        h(
          'tr',
          {},
          h(
            'th',
            { scope: 'row', title: `${member.kernel} · ${member.op}` },
            h(
              'button',
              {
                type: 'button',
                class: 'linklike',
                on: {
                  click: () =>
                    this.url.set({ group: null, 'f.kernel': `=${member.kernel}`, sel: member.key }),
                },
              },
              member.short,
            ),
          ),
          h(
            'td',
            { class: 'number', title: `${exact(member.total)} µs` },
            microseconds(member.total),
          ),
        ),
      );
    }
    return h(
      'div',
      {},
      h('h3', {}, `Largest of ${count(row.members.length)}`),
      h('div', { class: 'twin' }, h('table', { class: 'members' }, body)),
    );
  }
}

/** Hosts that do the same work should take the same time; the slowest comes first. */
function byHost(row: Kernel): HTMLElement {
  const body = h('tbody');
  const perLaunch = (one: Kernel['hosts'][number]): number =>
    one.occurrences === 0 ? 0 : one.total / one.occurrences;
  for (const one of [...row.hosts].sort((a, b) => perLaunch(b) - perLaunch(a))) {
    body.append(
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, one.host),
        h('td', { class: 'number' }, count(one.occurrences)),
        h('td', { class: 'number', title: `${exact(one.total)} µs` }, microseconds(one.total)),
        h(
          'td',
          { class: 'number', title: `${exact(perLaunch(one))} µs` },
          microseconds(perLaunch(one)),
        ),
      ),
    );
  }
  const head = ['Host', 'Launches', 'Total', 'Average'].map((title, index) =>
    h('th', { scope: 'col', class: index > 0 ? 'number' : undefined }, title),
  );
  return h(
    'div',
    {},
    h('h3', {}, 'By host'),
    h(
      'div',
      { class: 'twin', tabindex: '0', role: 'group', 'aria-label': 'By host' },
      h('table', {}, h('thead', {}, h('tr', {}, ...head)), body),
    ),
  );
}

function yesNo(value: boolean): HTMLElement {
  return h('span', { class: value ? 'yes' : 'no' }, value ? 'yes' : 'no');
}

export const page: PageType = (context) => new KernelStatsPage(context);
