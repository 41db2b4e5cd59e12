// SPDX-License-Identifier: Apache-2.0
// Roofline: how near instructions come to what arithmetic and memory of the device allow.

import { getTables } from '../core/api';
import { ChartCard } from '../components/chart_card';
import { microseconds } from '../components/charts';
import { barCell, rateColumns, shareColumn, timeColumn } from '../components/columns';
import {
  compareColumns,
  compareNote,
  differenceFacts,
  timeMeasure,
} from '../components/compare_columns';
import type { Detail } from '../components/detail_panel';
import {
  costRules,
  HLO_KINDS,
  linksBlock,
  sections,
  sourceBlock,
  unknownTime,
} from '../components/hlo_detail';
import { PeaksForm } from '../components/peaks_form';
import { rateText, rooflineConfig, type RoofDot } from '../components/roofline_chart';
import { RowDashboard } from '../components/row_dashboard';
import { Segmented, Toggle } from '../components/segmented';
import { button, notRecorded } from '../components/states';
import { sourceNote } from '../components/step_page';
import { tiles, timeChange, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { joinBase, opParts, stepScale, type Difference, type StepCounts } from '../core/compare';
import { fill, h } from '../core/dom';
import { asPercent, count, duration, exact, fixed, percent, plural, share } from '../core/format';
import { records, text, type Cell, type GvizTable } from '../core/gviz';
import {
  categoryToken,
  GIBI,
  instructionLinks,
  instructionTrace,
  readRoofline,
  readRoofs,
  shortPlace,
  unknownShares,
  type RoofPoint,
  type Roofs,
} from '../core/hlo';
import type { Page, PageContext, PageType } from '../core/page';
import { properties } from '../core/steps';
import type { Column } from '../core/table_view';

type Of = 'Total' | 'Average' | 'steps';

interface Row extends RoofPoint {
  difference?: Difference;
}

interface Data {
  points: RoofPoint[];
  roofs: Roofs;
  /** Where the peaks are from, in the server's words. */
  source: string;
  notes: string[];
  unknown: { noHlo: number; noCost: number };
  /** What the table says of its steps: steps_total, module_steps, step_source, step_module. */
  found: Readonly<Record<string, string>>;
}

function level(levels: Roofs['levels'], name: RegExp): number | null {
  const found = levels.find((one) => name.test(one.name));
  return found === undefined ? null : found.bandwidth * GIBI;
}

/** More dots than a picture can tell apart; the table has all. */
const MOST_DOTS = 3000;

class RooflinePage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Data>;
  private readonly dashboard: RowDashboard<Row>;
  private readonly ofs: Segmented;
  private readonly feeds: Toggle;
  private readonly chart: ChartCard;
  private readonly peaks: PeaksForm;
  private data: Data | null = null;
  private base: Data | null = null;
  private steps: StepCounts | null = null;
  private memo: { key: string; rows: Row[] } = { key: '', rows: [] };
  private lastShape = '';

  constructor(private readonly context: PageContext) {
    const { url } = context;
    this.ofs = new Segmented(
      'What the points are',
      [
        { value: 'Total', label: 'Instructions', hint: 'All instructions over the whole capture' },
        { value: 'Average', label: 'Average step', hint: 'The program in an average step' },
        { value: 'steps', label: 'Every step', hint: 'The program in each step' },
      ],
      (value) => url.set({ of: value === 'Total' ? null : value, sel: null }),
    );
    this.feeds = new Toggle(
      'Infeed and outfeed',
      'Count the time of infeed and outfeed as the program’s',
      (on) => url.set({ feeds: on ? null : 'out', sel: null }),
    );
    this.peaks = new PeaksForm(url);
    this.chart = new ChartCard({ title: 'Roofline', name: 'roofline_model' });
    this.dashboard = new RowDashboard<Row>(context, {
      title: 'Points',
      name: 'roofline_model',
      controls: [this.ofs.element, this.feeds.element, this.peaks.element],
      chart: this.chart,
      query: () => this.view.query(),
      show: (rows) => this.show(rows),
    });
    this.view = new ToolView<Data>(context, {
      title: context.tool?.title ?? 'Roofline',
      tool: 'roofline_model',
      content: this.dashboard.element,
      parameters: () => ({
        ...this.peaks.query(),
        others: url.get('others') === 'in' ? 'true' : null,
      }),
      fetch: async (query, signal) => read(await getTables(query, signal)),
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

  private of(): Of {
    const wanted = this.context.url.get('of', 'Total');
    return wanted === 'Average' || wanted === 'steps' ? wanted : 'Total';
  }

  private points(data: Data): RoofPoint[] {
    const of = this.of();
    const feeds = this.context.url.get('feeds') !== 'out';
    return data.points.filter(
      (point) =>
        point.withFeeds === feeds &&
        (of === 'steps' ? point.step !== 'Total' && point.step !== 'Average' : point.step === of),
    );
  }

  private rows(): Row[] {
    if (this.data === null) return [];
    const key = [this.of(), this.context.url.get('feeds')].join('|');
    if (this.memo.key === key) return this.memo.rows;
    const now = this.points(this.data);
    let rows: Row[] = now;
    if (this.base !== null && this.of() !== 'steps') {
      rows = joinBase<Row>(now, this.points(this.base), {
        place: (row) => ({ parts: opParts(row.name), rest: row.category }),
        name: (row) => row.name,
        measure: timeOf,
        scale: this.of() === 'Average' ? 1 : stepScale(this.steps),
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
    fill(
      this.dashboard.compareSlot,
      this.base !== null &&
        this.of() !== 'steps' &&
        compareNote(
          rows,
          (row) => row.difference,
          (row) => row.name,
          ['instruction', 'instructions'],
          this.steps,
        ),
    );
    this.memo = { key, rows };
    return rows;
  }

  private refresh(): void {
    const { data } = this;
    if (data === null) return;
    const nothing = data.points.length === 0;
    const has = (step: (name: string) => boolean): boolean =>
      data.points.some((point) => step(point.step));
    this.ofs.show(this.of());
    this.ofs.disable('Average', has((step) => step === 'Average') ? null : 'No steps are known');
    this.ofs.disable(
      'steps',
      has((step) => step !== 'Total' && step !== 'Average') ? null : 'No steps are known',
    );
    this.feeds.show(this.context.url.get('feeds') !== 'out');
    this.dashboard.nothing(nothing);
    const rows = nothing ? [] : this.rows();
    fill(
      this.dashboard.notice,
      ...(nothing
        ? [nothingRecorded()]
        : [
            sourceNote(this.context, data.found),
            unknownTime(data.unknown, this.context.url.get('others') === 'in'),
            notesOf(data.notes),
            this.stepNote(data, rows),
          ]),
    );
    if (nothing) return;
    const { flops, levels } = data.roofs;
    this.peaks.show(
      {
        peak_tflops: flops > 0 ? flops / 1000 : null,
        peak_hbm_gbs: level(levels, /^HBM$/),
        peak_sram_gbs: level(levels, /^(Shared|VMEM)/),
      },
      data.source,
    );
    fill(this.dashboard.tileSlot, tiles(this.tiles(data)));
    const shape = this.memo.key;
    if (shape === this.lastShape) {
      this.dashboard.table.update();
    } else {
      this.lastShape = shape;
      this.dashboard.table.set({
        rows,
        columns: this.columns(rows),
        noun: this.of() === 'steps' ? 'steps' : 'instructions',
      });
    }
    const wanted = this.context.url.get('sel');
    const row = wanted === '' ? undefined : rows.find((one) => one.key === wanted);
    this.dashboard.choose(row === undefined ? null : this.describe(row));
  }

  /** Why there are no steps, or not all of them. */
  private stepNote(data: Data, rows: readonly Row[]): HTMLElement | null {
    const { url } = this.context;
    const total = Number(data.found['steps_total'] ?? 0);
    const standIns = Number(data.found['module_steps'] ?? 0);
    const note = (head: string, ...rest: (string | HTMLElement)[]): HTMLElement =>
      h('div', { class: 'verdict info' }, h('b', {}, head), h('span', {}, ...rest));
    if (total === 0 && url.get('step_source') !== 'module' && standIns > 0)
      return note(
        'No step is marked',
        `so there is no average step. `,
        button(`Use ${plural(standIns, 'execution')} of a module as steps`, () =>
          url.set({ step_source: 'module' }),
        ),
      );
    if (this.of() === 'Total' || data.points.some((point) => point.step === 'Average'))
      return this.of() === 'steps' && rows.length > 0 && rows.length < total
        ? note(
            'Steps',
            `${count(rows.length)} of ${count(total)} are shown: the first, and only those in which a device did something.`,
          )
        : null;
    return note(
      'No steps',
      total === 0
        ? 'The program marked none while the capture was made.'
        : 'No device did anything in them.',
    );
  }

  private tiles(data: Data): Tile[] {
    const program = (one: Data): RoofPoint | undefined => {
      const points = one.points.filter(
        (point) =>
          point.category === 'Program' &&
          point.withFeeds === (this.context.url.get('feeds') !== 'out'),
      );
      return (
        points.find((point) => point.step === (this.of() === 'Total' ? 'Total' : 'Average')) ??
        points[0]
      );
    };
    const [now, then] = [program(data), this.base === null ? undefined : program(this.base)];
    if (now === undefined) return [];
    const known = now.flopRate > 0 || now.bandwidth > 0;
    return [
      {
        label: now.step === 'Average' ? 'Device time a step' : 'Device time',
        hint: 'Time of the program on the devices, of all devices together',
        note:
          now.step === 'Average' && now.perDevice < now.total
            ? `${microseconds(now.perDevice)} a device`
            : '',
        value: now.total,
        format: duration,
        exact: `${exact(now.total)} µs`,
        ...timeChange(now.total, then?.total ?? null, now.step === 'Average' ? null : this.steps),
      },
      {
        label: 'Of the roofline',
        hint: 'How near the program comes to the nearer of its limits, arithmetic or memory',
        value: known ? now.efficiency : null,
        format: asPercent,
        note: now.boundBy === '' || now.boundBy === 'Unknown' ? '' : `bound by ${now.boundBy}`,
        base: then?.efficiency ?? null,
        better: 'higher',
      },
      {
        label: 'Arithmetic',
        hint: 'Floating-point operations per second',
        value: known ? now.flopRate : null,
        format: (value) => quantity(value),
        note: `${percent(now.computeUse)} of the peak`,
        base: then?.flopRate ?? null,
        better: 'higher',
      },
      {
        label: 'Memory',
        hint: 'Bytes moved per second',
        value: known ? now.bandwidth : null,
        format: (value) => ({ value: fixed(value, value < 10 ? 2 : 0), unit: 'GiB/s' }),
        note: `${percent(now.memoryUse)} of the peak`,
        base: then?.bandwidth ?? null,
      },
    ];
  }

  private columns(rows: readonly Row[]): Column<Row>[] {
    const rate = rateColumns(rows);
    const fraction = (
      id: string,
      title: string,
      hint: string,
      value: (row: Row) => number,
      token: string,
      hidden = false,
    ): Column<Row> =>
      shareColumn(id, title, hint, (row) => (unknown(row) ? null : value(row)), token, { hidden });
    const steps = this.of() === 'steps';
    const compare = this.base !== null && !steps;
    return [
      {
        id: 'rank',
        title: '#',
        kind: 'number',
        width: 52,
        hidden: steps,
        value: (row) => row.rank,
        hint: 'Rank by self time; 0 is the whole program',
      },
      ...(steps
        ? [
            {
              id: 'step',
              title: 'Step',
              kind: 'text' as const,
              width: 110,
              narrow: true,
              value: (row: Row) => row.step,
              hint: 'Step',
            },
          ]
        : [
            {
              id: 'category',
              title: 'Category',
              kind: 'text' as const,
              width: 140,
              value: (row: Row) => row.category,
              hint: 'XLA’s category of the instruction',
            },
            {
              id: 'operation',
              title: 'Instruction',
              kind: 'text' as const,
              grow: true,
              narrow: true,
              width: 200,
              code: true,
              value: (row: Row) => row.name,
              hint: 'Name in the compiled program',
            },
            {
              id: 'hlo_module_id',
              title: 'Program',
              kind: 'text' as const,
              quiet: true,
              hidden: true,
              width: 110,
              value: (row: Row) => (row.category === 'Program' ? '' : row.program),
              hint: 'Id of the compiled program',
            },
          ]),
      {
        id: 'occurrences',
        title: 'Count',
        kind: 'number',
        width: 74,
        hidden: steps,
        value: (row) => row.occurrences,
        text: (cell) => count(Number(cell)),
        hint: 'How often it ran; on GPUs, how many kernels',
      },
      timeColumn(rows, 'total_self_time', steps ? 'Time (µs)' : 'Self (µs)', timeOf, {
        narrow: true,
        hint: 'Time without what it called; of the program all of it',
      }),
      ...(compare
        ? compareColumns<Row>('Self time', (row) => row.difference, timeMeasure(rows.map(timeOf)))
        : []),
      ...(steps
        ? []
        : [
            {
              id: 'total_self_time_percent',
              title: 'Share',
              kind: 'number' as const,
              scale: 0.01,
              width: 112,
              value: (row: Row) => (row.category === 'Program' ? null : row.share),
              node: (row: Row) =>
                row.category === 'Program'
                  ? h('span', { class: 'soft' }, '–')
                  : barCell(row.share, categoryToken(row.category)),
              hint: 'Share of the program’s time',
            },
          ]),
      fraction(
        'roofline_efficiency',
        'Of the roof',
        'How near it comes to the nearer of its limits, arithmetic or memory',
        (row) => row.efficiency,
        'device-compute',
      ),
      {
        id: 'bound_by',
        title: 'Bound by',
        kind: 'text',
        quiet: true,
        width: 92,
        value: (row) => (row.boundBy === 'Unknown' ? '' : row.boundBy),
        text: (cell) => (cell === '' ? '–' : String(cell)),
        hint: 'The resource that comes closest to its peak',
      },
      rate(
        'measured_flop_rate',
        'GFLOP/s',
        'Billions of floating-point operations per second',
        (row) => row.flopRate,
      ),
      rate('measured_memory_bw', 'GiB/s', 'Memory bandwidth', (row) => row.bandwidth),
      rate(
        'operational_intensity',
        'FLOP/byte',
        'Operational intensity: arithmetic per byte moved',
        (row) => row.intensity,
      ),
      rate(
        'hbm_operational_intensity',
        'FLOP/HBM byte',
        'Arithmetic per byte moved to or from main memory',
        (row) => row.hbmIntensity,
        true,
      ),
      fraction(
        'compute_efficiency',
        'Of peak FLOP/s',
        'Share of the peak arithmetic',
        (row) => row.computeUse,
        'kernel-launch',
        true,
      ),
      fraction(
        'max_mem_bw_utilization',
        'Of peak memory',
        'Share of the peak bandwidth of the busiest memory',
        (row) => row.memoryUse,
        'host-compute',
        true,
      ),
      ...(rows.some((row) => row.source !== null)
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

  private dots(rows: readonly RoofPoint[]): RoofDot[] {
    return rows
      .filter((row) => row.flopRate > 0 && row.intensity > 0)
      .sort((a, b) => timeOf(b) - timeOf(a))
      .slice(0, MOST_DOTS)
      .map((row) => ({
        x: row.intensity,
        y: row.flopRate,
        time: timeOf(row),
        share: row.share,
        full:
          row.step === 'Total'
            ? row.category === 'Program'
              ? programTitle(row.step)
              : row.name
            : programTitle(row.step),
        token: row.category === 'Program' ? 'ink' : categoryToken(row.category),
        boundBy: row.boundBy === 'Unknown' ? '' : row.boundBy,
        program: row.category === 'Program' && this.of() !== 'steps',
      }));
  }

  private show(rows: Row[]): void {
    const roofs = this.data?.roofs ?? { flops: 0, levels: [] };
    const live = rows.filter((row) => row.difference?.state !== 'gone');
    const dots = this.dots(live);
    const base =
      this.base === null || this.of() === 'steps'
        ? []
        : this.dots(this.points(this.base)).slice(0, 300);
    const costed = live.filter((row) => row.category !== 'Program');
    const without = costed.filter(unknown);
    const time = (list: readonly Row[]): number => list.reduce((sum, row) => sum + timeOf(row), 0);
    const note =
      without.length === 0
        ? ''
        : `${plural(without.length, 'instruction')} with ${percent(share(time(without), time(costed)))} of the time have no known cost and no point`;
    this.chart.title('Roofline', note);
    const memory = costed.filter(
      (row) => row.boundBy !== '' && row.boundBy !== 'Unknown' && row.boundBy !== 'Compute',
    );
    this.chart.set({
      signature: JSON.stringify([dots, roofs, base.length, note]),
      height: 420,
      summary:
        dots.length === 0
          ? this.of() === 'Total'
            ? 'No instruction has a known cost.'
            : 'The cost of no step is known.'
          : this.of() === 'Total'
            ? `${plural(dots.length, 'point')}. ${percent(share(time(memory), time(costed)))} of the time is in instructions that memory limits.`
            : `${plural(dots.length, 'point')}: the program ${this.of() === 'steps' ? 'in each step' : 'in the average step'}.`,
      config: () => rooflineConfig(dots, roofs, base),
      head: ['Name', 'FLOP/byte', 'GFLOP/s', 'Self (µs)'],
      rows: dots.map((dot) => [dot.full, dot.x, dot.y, dot.time]),
      text: (cell, column) =>
        typeof cell !== 'number'
          ? String(cell)
          : column === 2
            ? rateText(cell)
            : column === 3
              ? microseconds(cell)
              : String(Number(cell.toPrecision(4))),
      legend: [
        ...KINDS.filter(({ token }) => dots.some((dot) => dot.token === token)),
        ...(base.length > 0 ? [{ label: 'Base run', token: 'ink', outline: true }] : []),
      ],
      pick: (index) => {
        const dot = dots[index];
        const row =
          dot === undefined
            ? undefined
            : live.find(
                (one) =>
                  one.flopRate === dot.y && one.intensity === dot.x && timeOf(one) === dot.time,
              );
        if (row !== undefined) this.context.url.set({ sel: row.key });
      },
    });
  }

  private describe(row: Row): Detail {
    const program = row.category === 'Program';
    const gone = row.difference?.state === 'gone';
    const facts = [
      { label: 'Category', text: row.category },
      ...(program || row.program === '' || row.program === '0'
        ? []
        : [{ label: 'Program', text: row.program }]),
      ...(program ? [] : [{ label: 'Count', text: count(row.occurrences) }]),
      {
        label: program ? 'Time' : 'Self',
        text: microseconds(timeOf(row)),
        exact: `${exact(timeOf(row))} µs`,
      },
      ...(program ? [] : [{ label: 'Share', text: percent(row.share) }]),
      ...(unknown(row)
        ? [{ label: 'Cost', text: 'unknown' }]
        : [
            { label: 'Of the roof', text: percent(row.efficiency) },
            { label: 'Bound by', text: row.boundBy === 'Unknown' ? 'unknown' : row.boundBy },
            {
              label: 'Arithmetic',
              text: `${rateText(row.flopRate)}, ${percent(row.computeUse)} of the peak`,
            },
            {
              label: 'Memory',
              text: `${fixed(row.bandwidth, row.bandwidth < 10 ? 2 : 0)} GiB/s, ${percent(row.memoryUse)} of the peak`,
            },
            { label: 'Intensity', text: `${fixed(row.intensity, 2)} FLOP/byte` },
            ...(row.costSource === ''
              ? []
              : [{ label: 'Cost by', text: costRules(row.costSource) }]),
            ...(row.efficiency > 0 && row.efficiency < 1 && !program
              ? [
                  {
                    label: 'At the roof',
                    text: `would save ${microseconds(timeOf(row) * (1 - row.efficiency))}`,
                  },
                ]
              : []),
          ]),
      ...differenceFacts(row.difference),
    ];
    return {
      key: JSON.stringify([this.view.query(), row.key, this.memo.key]),
      title: program ? programTitle(row.step) : row.name,
      full: row.name,
      facts,
      query: null,
      trace: program || gone ? null : instructionTrace(this.context, row.name),
      extra: sections(
        program || gone ? null : linksBlock(instructionLinks(this.context, row.program, row.name)),
        sourceBlock(row.source),
      ),
    };
  }
}

/** The time that a point stands for: the program's is all of it. */
function timeOf(row: RoofPoint): number {
  return row.category === 'Program' ? row.total : row.self;
}

/** What a point of the program is called. */
function programTitle(step: string): string {
  return step === 'Total'
    ? 'The whole program'
    : step === 'Average'
      ? 'The average step'
      : `Step ${step}`;
}

function unknown(row: RoofPoint): boolean {
  return row.flopRate === 0 && row.bandwidth === 0;
}

function quantity(gflops: number): { value: string; unit: string } {
  const [value = '', unit = ''] = rateText(gflops).split(' ');
  return { value, unit };
}

function read([table, diagnostics]: GvizTable[]): Data {
  const p = properties(table);
  return {
    points: readRoofline(table),
    roofs: readRoofs(p),
    source: p['peaks_source'] ?? '',
    unknown: unknownShares(p),
    found: p,
    notes:
      diagnostics === undefined
        ? []
        : records(diagnostics)
            .map((record) => text(record, 'message'))
            .filter((message) => message !== ''),
  };
}

const KINDS = [...HLO_KINDS, { label: 'Program', token: 'ink' }];

function notesOf(notes: readonly string[]): HTMLElement | null {
  return notes.length === 0
    ? null
    : h('div', { class: 'verdict info' }, h('b', {}, 'Note'), h('span', {}, notes.join(' ')));
}

function nothingRecorded(): HTMLElement {
  return notRecorded(
    'There is nothing to put below a roofline',
    h('p', {}, 'The capture holds no instructions of compiled programs on a GPU or TPU.'),
    h(
      'p',
      { class: 'soft' },
      'They are there when a JAX, PyTorch/XLA or jitted TensorFlow program runs while capturing.',
    ),
  );
}

export const page: PageType = (context) => new RooflinePage(context);
