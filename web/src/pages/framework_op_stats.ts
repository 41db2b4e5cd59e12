// SPDX-License-Identifier: Apache-2.0
// TF stats: which operations the time goes to, on the device and on the host.

import { getTables } from '../core/api';
import { Segmented, Toggle } from '../components/segmented';
import { ChartCard } from '../components/chart_card';
import { BAR_PX, barsConfig, microseconds, pieConfig, type Bar } from '../components/charts';
import { barCell, timeColumn } from '../components/columns';
import {
  compareColumns,
  compareNote,
  differenceFacts,
  timeMeasure,
} from '../components/compare_columns';
import type { RowTree } from '../components/data_table';
import type { Detail } from '../components/detail_panel';
import { RowDashboard } from '../components/row_dashboard';
import { notRecorded } from '../components/states';
import { shareChange, tiles, timeChange, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { treeCell } from '../components/tree_cell';
import {
  difference,
  joinBase,
  opParts,
  stepScale,
  type Difference,
  type StepCounts,
} from '../core/compare';
import { fill, h } from '../core/dom';
import {
  asPercent,
  columnDecimals,
  count,
  duration,
  exact,
  fixed,
  percent,
  plural,
  share,
} from '../core/format';
import { amount, number, records, text, type Cell, type GvizTable, type Rec } from '../core/gviz';
import { addressKey, distinctTails } from '../core/names';
import { openRows, toggleRow } from '../core/open_rows';
import type { Page, PageContext, PageType } from '../core/page';
import type { Column } from '../core/table_view';
import { slowestLink, tracePlace } from '../core/trace_link';

type Side = 'Device' | 'Host';
type Dev = 'device' | 'host' | 'all';
type Group = 'op' | 'type' | 'tree';

interface Op {
  key: string;
  rank: number;
  side: Side;
  type: string;
  name: string;
  /**
   * Its place in the tree of scopes: the name, unless its scope has another one in the base run.
   */
  path: string;
  /** What the line shows as its name: one part of the path in a tree. */
  label: string;
  depth: number;
  members: Op[];
  /** Distinct operations in it; 1 for an operation itself. */
  ops: number;
  occurrences: number;
  total: number;
  self: number;
  deviceShare: number;
  deviceCumulative: number;
  hostShare: number;
  hostCumulative: number;
  source: Rec | null;
  difference?: Difference;
}

interface Tables {
  withIdle: Op[];
  withoutIdle: Op[];
}

const BARS = 12;
const SLICES = 8;
const SLICE_TOKENS = [
  'device-compute',
  'device-to-device',
  'collectives',
  'host-compute',
  'kernel-launch',
  'input',
  'output',
  'compilation',
];

function readOps(table: GvizTable | undefined): Op[] {
  if (table === undefined) return [];
  const used = new Set<string>();
  return records(table).map((record, index) => {
    const side: Side = text(record, 'host_or_device') === 'Device' ? 'Device' : 'Host';
    const [type, name] = [text(record, 'type'), text(record, 'operation')];
    let key = addressKey([side, type, name], name);
    while (used.has(key)) key += '+';
    used.add(key);
    return {
      key,
      side,
      type,
      name,
      path: name,
      label: name,
      depth: 0,
      members: [],
      ops: 1,
      rank: number(record, 'rank') ?? index + 1,
      occurrences: amount(record, 'occurrences'),
      total: amount(record, 'total_time'),
      self: amount(record, 'total_self_time'),
      deviceShare: amount(record, 'device_total_self_time_percent'),
      deviceCumulative: amount(record, 'device_cumulative_total_self_time_percent'),
      hostShare: amount(record, 'host_total_self_time_percent'),
      hostCumulative: amount(record, 'host_cumulative_total_self_time_percent'),
      source: record,
    };
  });
}

function combined(
  members: readonly Op[],
  key: string,
  label: string,
  name: string,
  depth: number,
): Op {
  const sum = (of: (op: Op) => number): number => members.reduce((total, op) => total + of(op), 0);
  const [first] = members;
  const found = members.flatMap((op) => (op.difference === undefined ? [] : [op.difference]));
  const base = found.reduce((total, one) => total + (one.base ?? 0), 0);
  const [isNew, isGone] = [
    found.every((one) => one.state === 'new'),
    found.every((one) => one.state === 'gone'),
  ];
  return {
    ...(found.length === 0
      ? {}
      : { difference: difference(isGone ? null : sum((op) => op.self), isNew ? null : base) }),
    key,
    rank: 0,
    side: first?.side ?? 'Host',
    type: first?.type ?? '',
    name,
    path: name,
    label,
    depth,
    members: [...members],
    ops: sum((op) => op.ops),
    occurrences: sum((op) => op.occurrences),
    total: sum((op) => op.total),
    self: sum((op) => op.self),
    deviceShare: sum((op) => op.deviceShare),
    deviceCumulative: 0,
    hostShare: sum((op) => op.hostShare),
    hostCumulative: 0,
    source: null,
  };
}

/** Ranks by self time, and lets each side's running share follow that order. */
function ranked(rows: Op[]): Op[] {
  let [device, host] = [0, 0];
  return rows
    .sort((a, b) => (a.side === b.side ? b.self - a.self : a.side === 'Device' ? -1 : 1))
    .map((row, index) => {
      device += row.deviceShare;
      host += row.hostShare;
      return {
        ...row,
        rank: index + 1,
        deviceCumulative: row.side === 'Device' ? device : 0,
        hostCumulative: row.side === 'Host' ? host : 0,
      };
    });
}

function byType(ops: readonly Op[]): Op[] {
  const groups = new Map<string, Op[]>();
  for (const op of ops) {
    const key = `${op.side}|${op.type}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [op]);
    else group.push(op);
  }
  return ranked(
    [...groups].map(([key, members]) =>
      combined(members, key, members[0]?.type ?? '', members[0]?.type ?? '', 0),
    ),
  );
}

/**
 * Operations by the parts of their names. A scope with nothing but one scope in it is one line with
 * it.
 */
function scopeTree(ops: readonly Op[], side: Side, prefix: string, depth: number): Op[] {
  const groups = new Map<string, Op[]>();
  const rows: Op[] = [];
  for (const op of ops) {
    const rest = op.path.slice(prefix.length);
    const slash = rest.indexOf('/');
    if (slash < 0 || slash === rest.length - 1) {
      rows.push({ ...op, label: rest === '' ? op.name : rest, depth });
      continue;
    }
    const part = rest.slice(0, slash + 1);
    const group = groups.get(part);
    if (group === undefined) groups.set(part, [op]);
    else group.push(op);
  }
  for (const [part, members] of groups) {
    let path = prefix + part;
    let children = scopeTree(members, side, path, depth + 1);
    const [only] = children;
    if (children.length === 1 && only !== undefined && only.members.length > 0) {
      path = only.name;
      children = only.members;
    }
    const row = combined(children, `${side}|${path}`, path.slice(prefix.length), path, depth);
    rows.push({
      ...row,
      side,
      type: plural(row.ops, 'op'),
      members: children.map((child) => ({ ...child, depth: depth + 1 })),
    });
  }
  return ranked(rows);
}

function withDepth(rows: readonly Op[], depth: number): Op[] {
  return rows.map((row) => ({ ...row, depth, members: withDepth(row.members, depth + 1) }));
}

function compared(rows: Op[], base: readonly Op[], scale: number): Op[] {
  const joined = joinBase(rows, base, {
    place: (row) => ({ parts: opParts(row.name), rest: `${row.side}|${row.type}` }),
    name: (row) => row.name,
    measure: (row) => row.self,
    scale,
    put: (row, difference) => ({ ...row, difference }),
    gone: (row) => ({
      ...row,
      ops: 0,
      occurrences: 0,
      total: 0,
      self: 0,
      deviceShare: 0,
      hostShare: 0,
      deviceCumulative: 0,
      hostCumulative: 0,
      key: `${row.key} (gone)`,
    }),
  });
  return joined.map((row, index) =>
    row.difference?.state === 'gone' ? { ...row, rank: index + 1 } : row,
  );
}

/** Rows that only the base has stand in the scope that their own was found to be. */
function inScopes(joined: readonly Op[]): Op[] {
  const scopes = new Map<string, string>();
  for (const { name, difference: found } of joined) {
    if (found?.baseName === undefined) continue;
    const [now, then] = [name.split('/'), found.baseName.split('/')];
    for (let depth = 1; depth < now.length; depth += 1)
      scopes.set(then.slice(0, depth).join('/'), now.slice(0, depth).join('/'));
  }
  return joined.map((row) => {
    if (row.difference?.state !== 'gone') return row;
    for (
      let slash = row.name.lastIndexOf('/');
      slash > 0;
      slash = row.name.lastIndexOf('/', slash - 1)
    ) {
      const scope = scopes.get(row.name.slice(0, slash));
      if (scope !== undefined) return { ...row, path: scope + row.name.slice(slash) };
    }
    return row;
  });
}

class OpStatsPage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Tables>;
  private readonly dashboard: RowDashboard<Op>;
  private readonly devices: Segmented;
  private readonly groups: Segmented;
  private readonly idle: Toggle;
  private readonly kind: Segmented;
  private readonly chart: ChartCard;
  private data: Tables | null = null;
  private base: Tables | null = null;
  private steps: StepCounts | null = null;
  private memo: { key: string; rows: Op[] } = { key: '', rows: [] };
  private lastShape = '';

  constructor(private readonly context: PageContext) {
    const { url } = context;
    this.devices = new Segmented(
      'Where the operations ran',
      [
        { value: 'device', label: 'Device' },
        { value: 'host', label: 'Host' },
        { value: 'all', label: 'Both' },
      ],
      (value) =>
        url.set({ dev: value === this.defaultDev() ? null : value, sel: null, sort: null }),
    );
    this.groups = new Segmented(
      'Rows of the table',
      [
        { value: 'type', label: 'By type' },
        { value: 'op', label: 'By op' },
        { value: 'tree', label: 'Scope tree' },
      ],
      (value) => url.set({ group: value === 'op' ? null : value, sel: null }),
    );
    this.idle = new Toggle(
      'Include idle time',
      'Count the time in which nothing ran as an operation named IDLE',
      (on) => url.set({ idle: on ? 'in' : null }),
    );
    this.kind = new Segmented(
      'Kind of chart',
      [
        { value: 'bar', label: 'Bars' },
        { value: 'pie', label: 'Pie' },
      ],
      (value) => url.set({ chart: value === 'bar' ? null : value }),
    );
    this.chart = new ChartCard({
      title: 'Top operations',
      name: 'top_operations',
      controls: [this.kind.element],
    });
    this.dashboard = new RowDashboard<Op>(context, {
      title: 'Operations',
      name: 'framework_op_stats',
      controls: [this.devices.element, this.groups.element, this.idle.element],
      chart: this.chart,
      query: () => this.view.query(),
      show: (rows) => this.show(rows),
    });
    this.view = new ToolView<Tables>(context, {
      title: context.tool?.title ?? 'TF stats',
      tool: 'framework_op_stats',
      content: this.dashboard.element,
      fetch: async (query, signal) => {
        const [withIdle, withoutIdle] = await getTables(query, signal);
        return { withIdle: readOps(withIdle), withoutIdle: readOps(withoutIdle ?? withIdle) };
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

  private hasDevice(): boolean {
    return this.data?.withIdle.some((op) => op.side === 'Device') ?? true;
  }

  private defaultDev(): Dev {
    return this.hasDevice() ? 'device' : 'host';
  }

  private dev(): Dev {
    const wanted = this.context.url.get('dev', this.defaultDev());
    if (!this.hasDevice()) return 'host';
    return wanted === 'host' || wanted === 'all' ? wanted : 'device';
  }

  private group(): Group {
    const wanted = this.context.url.get('group', 'op');
    return wanted === 'type' || wanted === 'tree' ? wanted : 'op';
  }

  private idleIn(): boolean {
    return this.context.url.get('idle') === 'in';
  }

  private ops(tables: Tables): Op[] {
    const dev = this.dev();
    const list = this.idleIn() ? tables.withIdle : tables.withoutIdle;
    return list.filter((op) => dev === 'all' || op.side === (dev === 'device' ? 'Device' : 'Host'));
  }

  private grouped(ops: Op[]): Op[] {
    switch (this.group()) {
      case 'type':
        return byType(ops);
      case 'tree':
        return withDepth(
          ranked(
            (['Device', 'Host'] as const).flatMap((side) =>
              scopeTree(
                ops.filter((op) => op.side === side),
                side,
                '',
                0,
              ),
            ),
          ),
          0,
        );
      default:
        return ops;
    }
  }

  private joined(data: Tables): Op[] {
    return this.base === null
      ? this.ops(data)
      : compared(this.ops(data), this.ops(this.base), stepScale(this.steps));
  }

  private rows(): Op[] {
    if (this.data === null) return [];
    const key = [this.dev(), this.group(), this.idleIn()].join();
    if (this.memo.key === key) return this.memo.rows;
    const joined = this.joined(this.data);
    fill(
      this.dashboard.compareSlot,
      this.base !== null &&
        compareNote(
          joined,
          (op) => op.difference,
          (op) => op.name,
          ['operation', 'operations'],
          this.steps,
        ),
    );
    this.memo = { key, rows: this.grouped(this.group() === 'tree' ? inScopes(joined) : joined) };
    return this.memo.rows;
  }

  private refresh(): void {
    if (this.data === null) return;
    const nothing = this.data.withIdle.length === 0;
    this.devices.show(this.dev());
    this.devices.disable('device', this.hasDevice() ? null : 'No device operations were recorded');
    this.devices.disable('all', this.hasDevice() ? null : 'No device operations were recorded');
    this.groups.show(this.group());
    this.idle.show(this.idleIn());
    this.kind.show(this.context.url.get('chart', 'bar') === 'pie' ? 'pie' : 'bar');
    this.dashboard.nothing(nothing);
    fill(
      this.dashboard.notice,
      nothing ? this.nothingRecorded() : !this.hasDevice() && this.noDevice(),
    );
    if (nothing) return;
    fill(this.dashboard.tileSlot, tiles(this.tiles()));
    const shape = [this.dev(), this.group(), this.idleIn(), this.context.url.get('open')].join();
    if (shape === this.lastShape) {
      this.dashboard.table.update();
    } else {
      this.lastShape = shape;
      const tree = this.group() === 'tree' ? this.tree() : undefined;
      this.dashboard.table.set({
        rows: this.rows(),
        columns: this.columns(),
        noun: { op: 'operations', type: 'types', tree: 'rows' }[this.group()],
        ...(tree === undefined ? {} : { tree }),
      });
    }
    this.showDetail();
  }

  private noDevice(): HTMLElement {
    return h(
      'div',
      { class: 'verdict info' },
      h('b', {}, 'Host only'),
      h(
        'span',
        {},
        'This capture holds no device operations, so the operations of the host are shown. ',
        h(
          'span',
          { class: 'soft' },
          'Device operations are recorded when the program runs on a GPU or TPU and the profiler’s device_tracer_level is 1, which is its default.',
        ),
      ),
    );
  }

  private nothingRecorded(): HTMLElement {
    return notRecorded(
      'No operations were recorded',
      h('p', {}, 'The capture holds no TensorFlow or XLA operations on the host or on a device.'),
      h(
        'p',
        { class: 'soft' },
        'Capture while training steps run, with host_tracer_level at 2 (the default) or above.',
      ),
    );
  }

  private tree(): RowTree<Op> {
    const { url } = this.context;
    const open = openRows(url);
    const roots = this.rows();
    // With one scope at the top there is nothing to see until it is open.
    const single = roots.filter((row) => row.members.length > 0).length === 1 && roots.length === 1;
    const isOpen = (row: Op): boolean =>
      row.members.length > 0 && open.has(row.key) !== (single && row.depth === 0);
    return {
      children: (row) => row.members,
      depth: (row) => row.depth,
      isOpen,
      toggle: (row) => toggleRow(url, row.key),
    };
  }

  private tiles(): Tile[] {
    if (this.data === null) return [];
    const side = (tables: Tables, wanted: Side): Op[] =>
      tables.withoutIdle.filter((op) => op.side === wanted);
    const sum = (ops: readonly Op[]): number => ops.reduce((total, op) => total + op.self, 0);
    const { data, base } = this;
    const idleShare = (tables: Tables, wanted: Side): number =>
      tables.withIdle
        .filter((op) => op.side === wanted && op.type === 'IDLE')
        .reduce((total, op) => total + (wanted === 'Device' ? op.deviceShare : op.hostShare), 0);
    const list: Tile[] = [];
    for (const wanted of ['Device', 'Host'] as const) {
      if (side(data, wanted).length === 0) continue;
      const self = sum(side(data, wanted));
      const idle = idleShare(data, wanted);
      list.push({
        label: `${wanted} self time`,
        hint: `Time in ${wanted.toLowerCase()} operations without idle time, summed over all ${wanted === 'Device' ? 'devices' : 'threads'}`,
        value: self,
        format: duration,
        exact: `${exact(self)} µs`,
        better: 'lower',
        ...(idle > 0 ? { note: `idle ${percent(idle)} from first to last event` } : {}),
        ...timeChange(self, base === null ? null : sum(side(base, wanted)), this.steps),
      });
    }
    const current = (tables: Tables): Op[] =>
      tables.withoutIdle.filter(
        (op) => this.dev() === 'all' || op.side === (this.dev() === 'device' ? 'Device' : 'Host'),
      );
    const top = (tables: Tables): number => {
      const sorted = current(tables)
        .map((op) => op.self)
        .sort((a, b) => b - a);
      return share(
        sorted.slice(0, 5).reduce((a, b) => a + b, 0),
        sorted.reduce((a, b) => a + b, 0),
      );
    };
    const types = new Set(current(data).map((op) => op.type)).size;
    list.push(
      {
        label: 'Operations',
        hint: 'Different operations in this list',
        value: current(data).length,
        format: (value) => ({ value: count(value), unit: '' }),
        note: `of ${plural(types, 'type')}`,
        base: base === null ? null : current(base).length,
      },
      {
        label: 'Five largest operations',
        hint: 'Share of self time in the five largest operations',
        value: top(data),
        format: asPercent,
        base: base === null ? null : top(base),
        note: 'of self time',
      },
    );
    const eager = (tables: Tables): Op[] =>
      side(tables, 'Host').filter(
        (op) => op.source !== null && text(op.source, 'eager') === 'Eager',
      );
    if (eager(data).length > 0) {
      const of = (tables: Tables): number => share(sum(eager(tables)), sum(side(tables, 'Host')));
      list.push({
        label: 'Eager on the host',
        hint: 'Share of host self time in operations that ran outside a tf.function',
        value: of(data),
        format: asPercent,
        note: 'of host self time',
        base: base === null ? null : of(base),
        ...shareChange(sum(eager(data)), base === null ? null : sum(eager(base)), this.steps),
      });
    }
    return list;
  }

  private columns(): Column<Op>[] {
    const rows = this.rows();
    const flat =
      this.group() === 'tree' && this.data !== null ? [...rows, ...this.ops(this.data)] : rows;
    const dev = this.dev();
    const group = this.group();
    const time = (
      id: string,
      title: string,
      value: (row: Op) => number,
      extra: Partial<Column<Op>> = {},
    ): Column<Op> => timeColumn(flat, id, title, value, extra);
    const fraction = (
      id: string,
      title: string,
      value: (row: Op) => number,
      hidden: boolean,
      bar: boolean,
      hint: string,
    ): Column<Op> => ({
      id,
      title,
      kind: 'number',
      scale: 0.01,
      width: bar ? 116 : 98,
      value,
      hidden,
      hint,
      ...(bar
        ? {
            node: (row: Op) =>
              barCell(value(row), row.side === 'Device' ? 'device-compute' : 'host-compute'),
          }
        : { text: (cell: Cell) => (typeof cell === 'number' && cell > 0 ? percent(cell) : '–') }),
    });
    const list: Column<Op>[] = [
      {
        id: 'rank',
        title: '#',
        kind: 'number',
        width: 52,
        value: (row) => row.rank,
        hint: 'Rank by self time',
      },
      {
        id: 'host_or_device',
        title: 'Where',
        kind: 'text',
        width: 80,
        quiet: true,
        hidden: dev !== 'all',
        value: (row) => row.side,
        hint: 'Host or device',
      },
      {
        id: 'type',
        title: 'Type',
        kind: 'text',
        width: 150,
        grow: group === 'type',
        narrow: group === 'type',
        value: (row) => row.type,
        hint: 'Type of the operation',
      },
    ];
    if (group === 'type') {
      list.push({
        id: 'ops',
        title: 'Ops',
        kind: 'number',
        width: 76,
        value: (row) => row.ops,
        text: (cell) => count(Number(cell)),
        hint: 'Different operations of this type',
      });
    } else {
      list.push({
        id: 'operation',
        title: group === 'tree' ? 'Scope' : 'Name',
        kind: 'text',
        grow: true,
        narrow: true,
        width: 210,
        code: group === 'op',
        value: (row) => row.name,
        hint:
          group === 'tree' ? 'Scope: the parts of the operations’ names' : 'Name of the operation',
        ...(group === 'tree' ? { node: (row: Op) => this.scopeCell(row) } : {}),
      });
    }
    list.push(
      {
        id: 'occurrences',
        title: 'Count',
        kind: 'number',
        width: 74,
        value: (row) => row.occurrences,
        text: (cell) => count(Number(cell)),
        hint: 'How often it ran',
      },
      time('total_time', 'Total (µs)', (row) => row.total, {
        hint: 'Time of the operation including what it called',
      }),
      time('avg_time', 'Avg (µs)', (row) => share(row.total, row.occurrences), {
        width: 86,
        hint: 'Total time per occurrence',
      }),
      time('total_self_time', 'Self (µs)', (row) => row.self, {
        narrow: true,
        hint: 'Time of the operation without what it called',
      }),
      time('avg_self_time', 'Avg self (µs)', (row) => share(row.self, row.occurrences), {
        width: 108,
        hint: 'Self time per occurrence',
      }),
      ...(this.base === null
        ? []
        : compareColumns<Op>(
            'Self time',
            (row) => row.difference,
            timeMeasure(flat.map((row) => row.self)),
          )),
      fraction(
        'device_total_self_time_percent',
        'Device %',
        (row) => row.deviceShare,
        dev === 'host',
        true,
        'Share of the self time on the device',
      ),
      fraction(
        'device_cumulative_total_self_time_percent',
        'Device Σ %',
        (row) => row.deviceCumulative,
        dev === 'host',
        false,
        'Cumulative share on the device, by rank',
      ),
      fraction(
        'host_total_self_time_percent',
        'Host %',
        (row) => row.hostShare,
        dev === 'device',
        true,
        'Share of the self time on the host',
      ),
      fraction(
        'host_cumulative_total_self_time_percent',
        'Host Σ %',
        (row) => row.hostCumulative,
        dev === 'device',
        false,
        'Cumulative share on the host, by rank',
      ),
    );
    if (this.base === null) {
      const [deviceBar, hostBar] = [
        list.find((column) => column.id === 'device_total_self_time_percent'),
        list.find((column) => column.id === 'host_total_self_time_percent'),
      ];
      if (dev === 'host' && hostBar !== undefined) hostBar.narrow = true;
      else if (deviceBar !== undefined) deviceBar.narrow = true;
    }
    if (group === 'op') list.push(...this.rateColumns(rows));
    return list;
  }

  /** Columns that only some captures fill; one appears where any row has a value. */
  private rateColumns(rows: readonly Op[]): Column<Op>[] {
    const sourced = (row: Op, id: string): Cell => row.source?.[id] ?? null;
    const numbers: [string, string, string][] = [
      ['measured_flop_rate', 'GFLOP/s', 'Billions of floating-point operations per second'],
      [
        'model_flop_rate',
        'Model GFLOP/s',
        'Floating-point operations per second that the model requires',
      ],
      ['measured_memory_bw', 'GiB/s', 'Memory bandwidth'],
      ['operational_intensity', 'FLOP/byte', 'Operational intensity: arithmetic per byte moved'],
    ];
    const list: Column<Op>[] = numbers
      .filter(([id]) =>
        rows.some((row) => typeof sourced(row, id) === 'number' && sourced(row, id) !== 0),
      )
      .map(([id, title, hint]) => {
        const decimals = columnDecimals(
          rows.map((row) =>
            typeof sourced(row, id) === 'number' ? Number(sourced(row, id)) : null,
          ),
        );
        return {
          id,
          title,
          hint,
          kind: 'number',
          width: 92,
          hidden: id === 'model_flop_rate',
          value: (row) => sourced(row, id),
          text: (cell) => (typeof cell === 'number' && cell !== 0 ? fixed(cell, decimals) : '–'),
        };
      });
    if (rows.some((row) => Number(sourced(row, 'gpu_tensorcore_utilization')) > 0)) {
      list.push({
        id: 'gpu_tensorcore_utilization',
        title: 'TensorCore',
        kind: 'number',
        scale: 0.01,
        width: 96,
        value: (row) => sourced(row, 'gpu_tensorcore_utilization'),
        text: (cell) => (Number(cell) > 0 ? percent(Number(cell)) : '–'),
        hint: 'Share of the operation’s kernel time that used TensorCores',
      });
    }
    if (rows.some((row) => !['', 'Unknown'].includes(String(sourced(row, 'bound_by') ?? '')))) {
      list.push({
        id: 'bound_by',
        title: 'Bound by',
        kind: 'text',
        quiet: true,
        width: 92,
        value: (row) => sourced(row, 'bound_by'),
        text: (cell) => (cell === 'Unknown' || cell === null ? '–' : String(cell)),
        hint: 'The resource that comes closest to its peak',
      });
    }
    if (rows.some((row) => String(sourced(row, 'eager') ?? '') !== '')) {
      list.push({
        id: 'eager',
        title: 'Mode',
        kind: 'text',
        quiet: true,
        width: 92,
        hidden: !rows.some((row) => sourced(row, 'eager') === 'Eager'),
        value: (row) => sourced(row, 'eager'),
        hint: 'Whether it ran eagerly or inside a function',
      });
    }
    return list;
  }

  private scopeCell(row: Op): HTMLElement {
    return treeCell(row, this.tree(), row.label, row.label);
  }

  private show(rows: Op[]): void {
    const group = this.group();
    let candidates = group === 'tree' ? rows.filter((row) => row.depth === 0) : rows;
    const [only] = candidates;
    if (
      group === 'tree' &&
      candidates.length === 1 &&
      only !== undefined &&
      only.members.length > 0
    )
      candidates = only.members;
    const pie = this.context.url.get('chart') === 'pie';
    const sorted = [...candidates].sort((a, b) => b.self - a.self);
    const all = this.rows().reduce((sum, row) => sum + row.self, 0);
    const what = group === 'type' ? 'types' : group === 'tree' ? 'scopes' : 'operations';
    const where = { device: 'on the device', host: 'on the host', all: 'on device and host' }[
      this.dev()
    ];
    const top = sorted
      .filter((row) => row.self > 0 || (row.difference?.base ?? 0) > 0)
      .slice(0, pie ? SLICES : BARS);
    const both = this.dev() === 'all';
    const named = (row: Op): string =>
      `${group === 'type' ? row.type : row.name}${both ? ` (${row.side.toLowerCase()})` : ''}`;
    const names = distinctTails(top.map(named), matchMedia('(max-width: 640px)').matches ? 22 : 44);
    let running = 0;
    const bars: Bar[] = top.map((row, index) => {
      running += row.self;
      return {
        label: names[index] ?? row.name,
        full: named(row),
        value: row.self,
        cumulative: share(running, all),
        token:
          row.type === 'IDLE'
            ? 'all-others'
            : row.side === 'Device'
              ? 'device-compute'
              : 'host-compute',
        base: row.difference?.base ?? null,
      };
    });
    const [first] = bars;
    this.chart.title(
      pie ? `Largest ${what} by self time` : `Top ${what} by self time`,
      pick(group),
    );
    const summary =
      first === undefined
        ? `No ${what} to show.`
        : `The ${bars.length} largest of ${count(candidates.length)} ${what} ${where} take ${percent(share(running, all))} of the self time; the largest is ${first.full} with ${microseconds(first.value)}.`;
    const compare = this.base !== null;
    const signature = JSON.stringify([bars, pie, compare, candidates.length]);
    const rest = sorted.slice(top.length).reduce((sum, row) => sum + row.self, 0);
    const slices = [
      ...bars.map((bar, index) => ({ ...bar, token: SLICE_TOKENS[index] ?? 'all-others' })),
      ...(rest > 0
        ? [
            {
              label: 'All others',
              full: `${count(sorted.length - top.length)} other ${what}`,
              value: rest,
              token: 'all-others',
            },
          ]
        : []),
    ];
    this.chart.set({
      signature,
      summary,
      height: pie ? 300 : 52 + Math.max(3, bars.length) * BAR_PX,
      config: () => (pie ? pieConfig(slices, 'Self time') : barsConfig(bars, 'Self time', compare)),
      head: [
        group === 'type' ? 'Type' : 'Name',
        'Self (µs)',
        'Cumulative',
        ...(compare ? ['Base (µs)'] : []),
      ],
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
      legend: pie
        ? slices
        : [
            ...(bars.some((bar) => bar.token === 'device-compute')
              ? [{ label: 'Self time, device', token: 'device-compute' }]
              : []),
            ...(bars.some((bar) => bar.token === 'host-compute')
              ? [{ label: 'Self time, host', token: 'host-compute' }]
              : []),
            ...(bars.some((bar) => bar.token === 'all-others')
              ? [{ label: 'Idle', token: 'all-others' }]
              : []),
            { label: 'Cumulative share', token: 'ink', line: true },
            ...(compare ? [{ label: 'Base run', token: 'ink', outline: true }] : []),
          ],
      pick: (index) => this.pick(top[index]),
    });
  }

  /** A bar was chosen: chart and table show what is in it. */
  private pick(row: Op | undefined): void {
    if (row === undefined) return;
    const { url } = this.context;
    if (this.group() === 'type') url.set({ group: null, 'f.type': `=${row.type}`, sel: null });
    else if (row.members.length > 0)
      url.set({
        group: null,
        'f.operation': `/^${row.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}/`,
        sel: null,
      });
    else if (url.get('f.operation') === `=${row.name}`) url.set({ 'f.operation': null, sel: null });
    else url.set({ 'f.operation': `=${row.name}`, sel: row.key });
  }

  private showDetail(): void {
    const wanted = this.context.url.get('sel');
    const row = wanted === '' ? undefined : this.find(this.rows(), wanted);
    this.dashboard.choose(row === undefined ? null : this.describe(row));
  }

  private find(rows: readonly Op[], key: string): Op | undefined {
    for (const row of rows) {
      if (row.key === key) return row;
      const inside =
        row.members.length > 0 && this.group() === 'tree' ? this.find(row.members, key) : undefined;
      if (inside !== undefined) return inside;
    }
    return undefined;
  }

  private describe(row: Op): Detail {
    const single = row.members.length === 0;
    const facts = [
      { label: 'Where', text: row.side },
      ...(single
        ? [{ label: 'Type', text: row.type }]
        : [{ label: 'Operations', text: count(row.ops) }]),
      { label: 'Count', text: count(row.occurrences) },
      { label: 'Total', text: microseconds(row.total), exact: `${exact(row.total)} µs` },
      { label: 'Self', text: microseconds(row.self), exact: `${exact(row.self)} µs` },
      { label: 'Self per occurrence', text: microseconds(share(row.self, row.occurrences)) },
      { label: 'Share', text: percent(row.side === 'Device' ? row.deviceShare : row.hostShare) },
      ...differenceFacts(row.difference),
    ];
    const gone = row.difference?.state === 'gone';
    const query = this.view.query();
    const detail: Detail = {
      key: JSON.stringify([query, row.key]),
      title: single ? row.type || row.name : row.label,
      full: row.name,
      facts,
      query:
        single && !gone && row.type !== 'IDLE'
          ? { ...query, where: row.side.toLowerCase(), type: row.type, name: row.name }
          : null,
      slowest: slowestLink(this.context),
      trace:
        single && !gone && row.type !== 'IDLE' && this.context.has('trace_viewer')
          ? this.context.link('trace_viewer', tracePlace({ op: row.name }))
          : null,
    };
    if (!single) detail.extra = this.members(row);
    return detail;
  }

  private members(row: Op): HTMLElement {
    const leaves = (op: Op): Op[] => (op.members.length === 0 ? [op] : op.members.flatMap(leaves));
    const largest = leaves(row)
      .sort((a, b) => b.self - a.self)
      .slice(0, 10);
    const body = h('tbody');
    for (const op of largest) {
      body.append(
        h(
          'tr',
          {},
          h(
            'th',
            { scope: 'row', class: 'code', title: op.name },
            h(
              'button',
              {
                type: 'button',
                class: 'linklike',
                on: {
                  click: () =>
                    this.context.url.set({
                      group: null,
                      'f.operation': `=${op.name}`,
                      sel: op.key,
                    }),
                },
              },
              h('bdi', { dir: 'ltr' }, op.name),
            ),
          ),
          h('td', { class: 'number', title: `${exact(op.self)} µs` }, microseconds(op.self)),
        ),
      );
    }
    return h(
      'div',
      {},
      h('h3', {}, `Largest of ${plural(row.ops, 'operation')}`),
      h('div', { class: 'twin' }, h('table', { class: 'members' }, body)),
    );
  }
}

function pick(group: Group): string {
  return group === 'op'
    ? 'choose a bar to show only that operation'
    : 'choose a bar to see the operations in it';
}

export const page: PageType = (context) => new OpStatsPage(context);
