// SPDX-License-Identifier: Apache-2.0
// Op profile: the devices' time as a tree, by program, by category or by where in the framework's
// program it comes from.

import { getJson, type Query } from '../core/api';
import { microseconds } from '../components/charts';
import { rateColumns, shareColumn, timeColumn } from '../components/columns';
import { compareColumns, differenceFacts, timeMeasure } from '../components/compare_columns';
import type { RowTree } from '../components/data_table';
import type { Detail } from '../components/detail_panel';
import { FlameGraph } from '../components/flame_graph';
import {
  expressionBlock,
  linksBlock,
  othersToggle,
  sections,
  sourceBlock,
  unknownTime,
} from '../components/hlo_detail';
import { PeaksForm, type KnownPeaks } from '../components/peaks_form';
import { RowDashboard } from '../components/row_dashboard';
import { Segmented, Toggle } from '../components/segmented';
import { button, notRecorded } from '../components/states';
import { tiles, timeChange, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { treeCell } from '../components/tree_cell';
import { difference, stepScale, type Difference, type StepCounts } from '../core/compare';
import { downloadText } from '../core/csv';
import { fill, h } from '../core/dom';
import { NameSearch } from '../core/filter';
import { flameTree, folded, type FlameNode, type FlameTree } from '../core/flame';
import { asPercent, count, duration, exact, fixed, percent, share } from '../core/format';
import {
  categoryToken,
  compareTrees,
  instructionKey,
  instructionLinks,
  instructionTrace,
  readOpProfile,
  type Compared,
  type OpNode,
  type OpProfile,
  type ProfileNode,
} from '../core/hlo';
import { trimRight } from '../core/names';
import { openRows, toggleRow } from '../core/open_rows';
import type { Page, PageContext, PageType } from '../core/page';
import type { Column } from '../core/table_view';

type By = 'program' | 'category' | 'provenance';

interface Data {
  by: By;
  withIdle: OpNode | null;
  withoutIdle: OpNode | null;
  /** Shares of the devices' busy time. */
  unknown: { noHlo: number; noCost: number };
  /** What belongs to no known program is in the trees. */
  listed: boolean;
  /** What “of the peak” is of, and where that is from. */
  peaks: KnownPeaks;
  peaksSource: string;
}

/** A line of the table. Times in µs, as everywhere in the page. */
interface Row {
  key: string;
  rank: number;
  node: OpNode;
  depth: number;
  time: number;
  children: Row[];
  difference?: Difference;
}

const PS = 1e6;
const TREES: Record<By, string> = {
  program: 'byProgram',
  category: 'byCategory',
  provenance: 'byProvenance',
};

/** From trees of nodes to lines, without recursion: how deep they are the capture says. */
function rowsOf(root: Compared, scale: number, comparing: boolean): Row[] {
  const top: Row[] = [];
  const stack: [Compared[], Row[], number][] = [[root.children, top, 0]];
  while (stack.length > 0) {
    const [nodes, into, depth] = stack.pop() as [Compared[], Row[], number];
    for (const { node, now, base, children } of nodes) {
      const row: Row = {
        key: node.key,
        rank: 0,
        node,
        depth,
        time: (now ?? 0) / PS,
        children: [],
        ...(comparing
          ? {
              difference: difference(
                now === null ? null : now / PS,
                base === null ? null : (base * scale) / PS,
              ),
            }
          : {}),
      };
      into.push(row);
      stack.push([children, row.children, depth + 1]);
    }
    into.sort((a, b) => b.time - a.time || (b.difference?.base ?? 0) - (a.difference?.base ?? 0));
    into.forEach((row, index) => {
      row.rank = index + 1;
    });
  }
  return top;
}

/** At the end of the key of a box that stands for all children that the answer leaves out. */
const REST = '›…';

function restOf(row: Row): FlameNode {
  const left = (of: (one: Row) => number): number =>
    Math.max(0, of(row) - row.children.reduce((sum, child) => sum + of(child), 0));
  return {
    key: `${row.key}${REST}`,
    name: `${count(row.node.missing)} more`,
    value: left((one) => one.time),
    base: row.difference === undefined ? null : left((one) => one.difference?.base ?? 0),
    children: [],
    token: 'all-others',
  };
}

function flameOf(rows: readonly Row[], name: string, comparing: boolean): FlameTree {
  const root: FlameNode & { children: FlameNode[] } = {
    key: '',
    name,
    value: rows.reduce((sum, row) => sum + row.time, 0),
    ...(comparing ? { base: rows.reduce((sum, row) => sum + (row.difference?.base ?? 0), 0) } : {}),
    children: [],
  };
  const stack: [readonly Row[], FlameNode[]][] = [[rows, root.children]];
  while (stack.length > 0) {
    const [from, into] = stack.pop() as [readonly Row[], FlameNode[]];
    for (const row of from) {
      const children: FlameNode[] = [];
      into.push({
        key: row.key,
        name: row.node.name,
        value: row.time,
        ...(comparing ? { base: row.difference?.base ?? null } : {}),
        children,
        ...(row.node.category === '' ? {} : { token: categoryToken(row.node.category) }),
      });
      stack.push([row.children, children]);
      if (row.node.missing > 0) children.push(restOf(row));
    }
  }
  return flameTree(root);
}

class OpProfilePage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Data>;
  private readonly dashboard: RowDashboard<Row>;
  private readonly groups: Segmented;
  private readonly idle: Toggle;
  private readonly others: Toggle;
  private readonly all: Toggle;
  private readonly widths: Segmented;
  private readonly peaks: PeaksForm;
  private readonly flame: FlameGraph;
  private readonly found = h('small', { role: 'status' });
  /** What is to be said where the chosen one is not in the tree. */
  private readonly lostSlot = h('div', { role: 'status' });
  private cut = false;
  private data: Data | null = null;
  private base: Data | null = null;
  private steps: StepCounts | null = null;
  private memo: { key: string; rows: Row[]; flame: FlameTree } | null = null;
  private readonly search = new NameSearch();
  private lastShape = '';

  constructor(private readonly context: PageContext) {
    const { url, say } = context;
    this.groups = new Segmented(
      'The tree goes by',
      [
        { value: 'program', label: 'Program' },
        { value: 'category', label: 'Category', hint: 'XLA’s categories of instructions' },
        {
          value: 'provenance',
          label: 'Provenance',
          hint: 'The framework’s operations and their scopes',
        },
      ],
      (value) =>
        url.set({ by: value === 'program' ? null : value, sel: null, zoom: null, open: null }),
    );
    this.idle = new Toggle('Include idle time', 'Count the time in which nothing ran', (on) =>
      url.set({ idle: on ? 'in' : null, sel: null, zoom: null }),
    );
    this.others = othersToggle(url);
    this.all = new Toggle('All children', 'Without it, a category has its hundred largest', (on) =>
      url.set({ all: on ? 'in' : null }),
    );
    this.peaks = new PeaksForm(url);
    this.widths = new Segmented(
      'Boxes are as wide as',
      [
        { value: 'now', label: 'This run' },
        { value: 'base', label: 'Base run' },
      ],
      (value) => url.set({ width: value === 'now' ? null : value }),
    );
    this.flame = new FlameGraph({
      zoom: (key) => url.set({ zoom: key === '' ? null : key }),
      choose: (key) =>
        url.set(key.endsWith(REST) ? { all: 'in', sel: null } : { sel: key === '' ? null : key }),
      found: (text) => {
        this.found.textContent = text;
      },
      say: (text) => say(text),
    });
    const card = h(
      'section',
      { class: 'card flame-card', 'aria-label': 'Flame graph' },
      h(
        'header',
        { class: 'card-head' },
        h('h2', {}, 'Where the time goes'),
        this.found,
        h(
          'div',
          { class: 'acts' },
          this.widths.element,
          button('Folded stacks', () => this.save(), 'download'),
        ),
      ),
      h(
        'p',
        { class: 'soft' },
        'A click chooses, a double click zooms. The search above marks what it finds.',
      ),
      this.flame.element,
    );
    this.dashboard = new RowDashboard<Row>(context, {
      title: 'Op profile',
      name: 'op_profile',
      controls: [
        this.groups.element,
        this.idle.element,
        this.others.element,
        this.all.element,
        this.peaks.element,
      ],
      chart: { element: card, destroy: () => this.flame.destroy() },
      query: () => this.view.query(),
      show: () => undefined,
    });
    this.dashboard.compareSlot.append(this.lostSlot);
    this.view = new ToolView<Data>(context, {
      title: context.tool?.title ?? 'Op profile',
      tool: 'op_profile',
      content: this.dashboard.element,
      parameters: (): Query => ({
        group_by: this.by(),
        ...this.peaks.query(),
        others: url.get('others') === 'in' ? 'true' : null,
        limit: url.get('all') === 'in' ? 0 : null,
      }),
      fetch: async (query, signal) => {
        const profile = await getJson<OpProfile>('data', query, signal);
        const by = this.by();
        const tree = (name: string): OpNode | null =>
          readOpProfile(profile[name] as ProfileNode | undefined);
        return {
          by,
          withIdle: tree(TREES[by]),
          withoutIdle: tree(`${TREES[by]}ExcludeIdle`),
          unknown: unknownOf(profile),
          listed: profile.others === true,
          peaks: {
            peak_tflops: positive(profile.peakTflops),
            peak_hbm_gbs: positive(profile.peakHbmGBs),
          },
          peaksSource: profile.peaksSource ?? '',
        };
      },
      perStep: true,
      ready: (data, base, steps) => {
        this.data = data;
        this.base = base;
        this.steps = steps;
        this.memo = null;
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

  private by(): By {
    const wanted = this.context.url.get('by', 'program');
    return wanted === 'category' || wanted === 'provenance' ? wanted : 'program';
  }

  private idleIn(): boolean {
    return this.context.url.get('idle') === 'in';
  }

  private tree(data: Data | null): OpNode | null {
    return data === null ? null : this.idleIn() ? data.withIdle : data.withoutIdle;
  }

  private made(): { rows: Row[]; flame: FlameTree } {
    const key = String(this.idleIn());
    if (this.memo?.key === key) return this.memo;
    const root = compareTrees(this.tree(this.data), this.tree(this.base));
    const rows = root === null ? [] : rowsOf(root, stepScale(this.steps), this.base !== null);
    this.memo = {
      key,
      rows,
      flame: flameOf(
        rows,
        { program: 'All programs', category: 'All categories', provenance: 'All programs' }[
          this.by()
        ],
        this.base !== null,
      ),
    };
    return this.memo;
  }

  private refresh(): void {
    const { data } = this;
    if (data === null) return;
    const nothing = (data.withoutIdle?.children.length ?? 0) === 0;
    this.groups.show(this.by());
    this.idle.show(this.idleIn());
    this.others.show(data.listed);
    this.others.element.hidden =
      data.unknown.noHlo === 0 || (data.listed && this.context.url.get('others') !== 'in');
    this.all.show(this.context.url.get('all') === 'in');
    this.cut = this.isCut(data);
    this.all.element.hidden = this.context.url.get('all') !== 'in' && !this.cut;
    this.peaks.show(data.peaks, data.peaksSource);
    this.widths.show(this.context.url.get('width', 'now') === 'base' ? 'base' : 'now');
    this.widths.element.hidden = this.base === null;
    this.dashboard.nothing(nothing);
    fill(
      this.dashboard.notice,
      nothing ? nothingRecorded() : unknownTime(data.unknown, data.listed),
    );
    if (nothing) return;
    fill(this.dashboard.tileSlot, tiles(this.tiles(data)));
    const { rows, flame } = this.made();
    const shape = [this.by(), this.idleIn(), this.context.url.get('open')].join('|');
    if (shape === this.lastShape) {
      this.dashboard.table.update();
    } else {
      this.lastShape = shape;
      this.dashboard.table.set({
        rows,
        columns: this.columns(rows),
        noun: 'lines',
        tree: this.rowTree(rows),
      });
    }
    const top = data.withoutIdle?.children ?? [];
    const [largest] = [...top].sort((a, b) => b.time - a.time);
    this.flame.set({
      tree: flame,
      measure: 'Time',
      format: microseconds,
      compare: this.base !== null,
      byBase: this.base !== null && this.context.url.get('width') === 'base',
      zoom: this.context.url.get('zoom'),
      selected: this.context.url.get('sel'),
      search: this.search.find(this.context.url.get('q'), this.context.url.get('re') === '1'),
      summary:
        largest === undefined
          ? 'Nothing ran.'
          : `${count(top.length)} at the top; the largest is ${largest.name} with ${percent(largest.share)}. The table below has the same tree.`,
    });
    this.showDetail();
  }

  /** Whether the answer has fewer children somewhere than there are. */
  private isCut(data: Data): boolean {
    const stack = [...(data.withoutIdle?.children ?? [])];
    while (stack.length > 0) {
      const node = stack.pop() as OpNode;
      if (node.missing > 0) return true;
      for (const child of node.children) stack.push(child);
    }
    return false;
  }

  private rowTree(rows: readonly Row[]): RowTree<Row> {
    const { url } = this.context;
    // With one program at the top there is nothing to see until it is open.
    const single = rows.length === 1 ? rows[0]?.key : undefined;
    const open = openRows(url);
    return {
      children: (row) => row.children,
      depth: (row) => row.depth,
      isOpen: (row) => row.children.length > 0 && open.has(row.key) !== (row.key === single),
      toggle: (row) => toggleRow(url, row.key),
    };
  }

  private tiles(data: Data): Tile[] {
    const busy = (one: Data): number =>
      (one.withoutIdle?.children ?? []).reduce((sum, node) => sum + node.time, 0) / PS;
    const whole = (one: Data): number => (one.withIdle?.time ?? 0) / PS;
    const { base } = this;
    const rates = (one: Data): { flops: number; use: number; bandwidth: number } => {
      const root = one.withoutIdle;
      return {
        flops: root === null || root.time === 0 ? 0 : root.flops / root.time,
        use: root?.flopsUse ?? 0,
        bandwidth: root?.bandwidthUse ?? 0,
      };
    };
    const [now, then] = [rates(data), base === null ? null : rates(base)];
    const idle = (one: Data): number => Math.max(0, 1 - share(busy(one), whole(one)));
    return [
      {
        label: 'Device time',
        hint: 'Time of all instructions, summed over devices, without idle time',
        value: busy(data),
        format: duration,
        exact: `${exact(busy(data))} µs`,
        ...timeChange(busy(data), base === null ? null : busy(base), this.steps),
      },
      {
        label: 'Idle',
        hint: 'Share of the captured time in which devices ran nothing',
        value: idle(data),
        format: asPercent,
        base: base === null ? null : idle(base),
      },
      // Flops per ps are TFLOP/s.
      {
        label: 'Arithmetic',
        hint: 'Floating-point operations per second while devices were busy',
        value: now.flops,
        format: (value) => ({ value: fixed(value, value < 10 ? 2 : 0), unit: 'TFLOP/s' }),
        note: `${percent(now.use)} of the peak`,
        base: then?.flops ?? null,
        better: 'higher',
      },
      {
        label: 'Memory bandwidth',
        hint: 'Share of the main memory’s peak bandwidth that was used while devices were busy',
        value: now.bandwidth,
        format: asPercent,
        note: 'of the peak',
        base: then?.bandwidth ?? null,
      },
    ];
  }

  private columns(rows: readonly Row[]): Column<Row>[] {
    const all: Row[] = [];
    const stack = [...rows];
    while (stack.length > 0) {
      const row = stack.pop() as Row;
      all.push(row);
      for (const child of row.children) stack.push(child);
    }
    const rate = rateColumns(all);
    const compare = this.base !== null;
    return [
      {
        id: 'rank',
        title: '#',
        kind: 'number',
        width: 48,
        hidden: true,
        value: (row) => row.rank,
        hint: 'Rank by time beside its siblings',
      },
      {
        id: 'name',
        title: 'Name',
        kind: 'text',
        grow: true,
        narrow: true,
        width: 260,
        value: (row) => row.node.name,
        node: (row) => this.nameCell(row),
        hint: 'Program, category, scope or instruction',
      },
      {
        id: 'category',
        title: 'Category',
        kind: 'text',
        quiet: true,
        hidden: true,
        width: 130,
        value: (row) => row.node.category,
        hint: 'XLA’s category',
      },
      {
        id: 'program',
        title: 'Program id',
        kind: 'text',
        quiet: true,
        hidden: true,
        width: 110,
        value: (row) => row.node.program,
        hint: 'Number of the compiled program that the instruction is in',
      },
      timeColumn(all, 'time', 'Time (µs)', (row) => row.time, {
        narrow: true,
        hint: 'Self time of the instructions in it',
      }),
      ...(compare
        ? compareColumns<Row>(
            'Time',
            (row) => row.difference,
            timeMeasure(all.map((row) => row.time)),
          )
        : []),
      shareColumn<Row>(
        'share',
        'Share',
        'Share of the tree’s time',
        (row) => row.node.share,
        'device-compute',
        { narrow: !compare },
      ),
      shareColumn<Row>(
        'wasted',
        'Wasted',
        'Share of the tree’s time that would be saved if arithmetic or memory were used fully',
        (row) => row.node.wasted,
        'input',
      ),
      shareColumn<Row>(
        'flops_use',
        'FLOPs',
        'Share of the device’s peak arithmetic',
        (row) => row.node.flopsUse,
        'kernel-launch',
      ),
      shareColumn<Row>(
        'hbm_use',
        'HBM',
        'Share of the main memory’s peak bandwidth',
        (row) => row.node.bandwidthUse,
        'host-compute',
      ),
      {
        id: 'occurrences',
        title: 'Count',
        kind: 'number',
        width: 78,
        value: (row) => (row.node.occurrences === 0 ? null : row.node.occurrences),
        text: (cell) => (typeof cell === 'number' ? count(cell) : '–'),
        hint: 'How often it ran; on GPUs, how many kernels',
      },
      {
        ...timeColumn(all, 'average', 'Avg (µs)', (row) => share(row.time, row.node.occurrences), {
          width: 86,
          hint: 'Time per occurrence',
        }),
        hidden: compare,
        value: (row) => (row.node.occurrences === 0 ? null : row.time / row.node.occurrences),
      },
      rate(
        'flop_rate',
        'GFLOP/s',
        'Billions of floating-point operations per second',
        (row) => (row.time === 0 ? 0 : row.node.flops / row.time / 1000),
        true,
      ),
      rate(
        'bandwidth',
        'GB/s',
        'Bytes moved per second',
        (row) => (row.time === 0 ? 0 : row.node.bytes / row.time / 1000),
        true,
      ),
    ];
  }

  private nameCell(row: Row): HTMLElement {
    const { rows } = this.made();
    const tree = this.rowTree(rows);
    const { name, expression, missing } = row.node;
    return treeCell(
      row,
      tree,
      name,
      expression === '' ? name : expression.slice(0, 600),
      missing > 0 && h('small', { class: 'soft' }, ` ${count(missing)} more`),
    );
  }

  private showDetail(): void {
    const wanted = this.context.url.get('sel');
    const stack = wanted === '' ? [] : [...this.made().rows];
    let found: Row | null = null;
    let named: Row | null = null;
    while (stack.length > 0 && found === null) {
      const row = stack.pop() as Row;
      const { program, name } = row.node;
      if (row.key === wanted) found = row;
      else if (program !== '' && instructionKey(program, name) === wanted) named = row;
      for (const child of row.children) stack.push(child);
    }
    // Other pages know an instruction, not where it is in this tree.
    if (found === null && named !== null) {
      this.context.url.set({ sel: named.key }, 'replace');
      return;
    }
    fill(
      this.lostSlot,
      wanted !== '' && found === null && this.cut
        ? h(
            'p',
            { class: 'compare-note' },
            'What is asked for is not among the hundred largest of its category. ',
            button('All children', () => this.context.url.set({ all: 'in' })),
          )
        : null,
    );
    this.dashboard.choose(found === null ? null : this.describe(found));
  }

  private describe(row: Row): Detail {
    const { node } = row;
    const part = (label: string, value: number | null): { label: string; text: string }[] => [
      { label, text: value === null ? 'unknown' : percent(value) },
    ];
    const leaf = node.expression !== '' || row.children.length === 0;
    const idle = node.name === 'IDLE';
    const facts = [
      ...(node.category === '' ? [] : [{ label: 'Category', text: node.category }]),
      ...(node.provenance === '' ? [] : [{ label: 'Provenance', text: node.provenance }]),
      { label: 'Time', text: microseconds(row.time), exact: `${exact(row.time)} µs` },
      { label: 'Share', text: percent(node.share) },
      ...(idle
        ? []
        : [
            ...part('Arithmetic, of the peak', node.flopsUse),
            ...part('HBM, of the peak', node.bandwidthUse),
            ...part('Wasted, of all time', node.wasted),
          ]),
      ...(node.occurrences === 0
        ? []
        : [
            { label: 'Count', text: count(node.occurrences) },
            { label: 'Average', text: microseconds(share(row.time, node.occurrences)) },
          ]),
      ...(node.flops === 0
        ? []
        : [
            {
              label: 'Arithmetic',
              text: `${fixed(share(node.flops, row.time) / 1000, 1)} GFLOP/s`,
              exact: `${exact(node.flops)} operations`,
            },
          ]),
      ...(node.bytes === 0
        ? []
        : [
            {
              label: 'Memory',
              text: `${fixed(share(node.bytes, row.time) / 1000, 1)} GB/s`,
              exact: `${exact(node.bytes)} bytes`,
            },
          ]),
      ...(row.children.length === 0 ? [] : [{ label: 'In it', text: count(row.children.length) }]),
      ...differenceFacts(row.difference),
    ];
    const known = leaf && !idle && row.difference?.state !== 'gone';
    return {
      key: JSON.stringify([this.view.query(), row.key]),
      title: trimRight(node.name, 120),
      full: node.name,
      facts,
      query: null,
      trace: known ? instructionTrace(this.context, node.name) : null,
      extra: sections(
        linksBlock(
          known ? instructionLinks(this.context, node.program, node.name) : [],
          this.zoomAct(row),
        ),
        layoutBlock(node),
        expressionBlock(node.expression),
        sourceBlock(node.source),
      ),
    };
  }

  private zoomAct(row: Row): HTMLElement | null {
    const zoomed = this.context.url.get('zoom') === row.key;
    return row.children.length === 0
      ? null
      : button(zoomed ? 'Show all' : 'Zoom in', () =>
          this.context.url.set({ zoom: zoomed ? null : row.key }),
        );
  }

  private save(): void {
    const { rows, flame } = this.made();
    if (rows.length === 0) return;
    // Whole nanoseconds: what reads such files reads whole numbers.
    downloadText(`op_profile_${this.by()}.folded`, folded(flame, 1000), 'text/plain');
  }
}

function positive(value: number | undefined): number | null {
  return value !== undefined && value > 0 ? value : null;
}

function unknownOf(profile: OpProfile): { noHlo: number; noCost: number } {
  const { busyTimePs: busy = 0, noHloTimePs: noHlo = 0, unknownCostTimePs: noCost = 0 } = profile;
  return { noHlo: share(noHlo, busy), noCost: share(noCost, busy) };
}

function layoutBlock(node: OpNode): HTMLElement | null {
  if (node.layout.length === 0) return null;
  const full = (size: number, alignment: number): boolean =>
    alignment === 0 || size % alignment === 0;
  return h(
    'section',
    { class: 'hlo-layout' },
    h('h3', {}, 'Layout'),
    h(
      'div',
      { class: 'twin' },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, 'Dimension'),
            h('th', { scope: 'col', class: 'number' }, 'Size'),
            h('th', { scope: 'col', class: 'number' }, 'Aligned to'),
          ),
        ),
        h(
          'tbody',
          {},
          ...node.layout.map((one, index) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, one.semantics === '' ? String(index) : one.semantics),
              h('td', { class: 'number' }, count(one.size)),
              h(
                'td',
                { class: full(one.size, one.alignment) ? 'number' : 'number warn' },
                one.alignment === 0
                  ? '–'
                  : `${count(one.alignment)}${full(one.size, one.alignment) ? '' : ', padded'}`,
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

function nothingRecorded(): HTMLElement {
  return notRecorded(
    'No instructions of compiled programs were recorded',
    h('p', {}, 'The capture holds no device events, so there is no time to divide.'),
    h(
      'p',
      { class: 'soft' },
      'Capture while a program runs on a GPU or TPU, with device_tracer_level at 1 (the default).',
    ),
  );
}

export const page: PageType = (context) => new OpProfilePage(context);
