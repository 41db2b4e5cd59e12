// SPDX-License-Identifier: Apache-2.0
// HLO costs: what every instruction of one compiled program costs, by both of XLA's analyses.

import { getJson, getTables, type Query } from '../core/api';
import { compareColumns, compareNote, type Measure } from '../components/compare_columns';
import type { Detail } from '../components/detail_panel';
import {
  costRules,
  expressionBlock,
  linksBlock,
  sections,
  sourceBlock,
  unknownTime,
} from '../components/hlo_detail';
import type { Choice } from '../components/option_list';
import { Picker } from '../components/picker';
import { RowDashboard } from '../components/row_dashboard';
import { Segmented, Toggle } from '../components/segmented';
import { notRecorded } from '../components/states';
import { tiles, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { joinBase, opParts, type Difference } from '../core/compare';
import { fill, h } from '../core/dom';
import {
  bytes,
  change,
  count,
  duration,
  exact,
  fixed,
  joined,
  percent,
  plural,
  scaled,
  type Quantity,
} from '../core/format';
import type { GvizTable } from '../core/gviz';
import {
  instructionLinks,
  instructionTrace,
  programLinks,
  readCosts,
  readPrograms,
  shortPlace,
  sumKnown,
  unknownKinds,
  unknownShares,
  type HloCost,
  type Program,
} from '../core/hlo';
import type { Page, PageContext, PageType } from '../core/page';
import { properties } from '../core/steps';
import type { Column } from '../core/table_view';

interface Row extends HloCost {
  difference?: Difference;
}

interface Data {
  /** Those that the files have, the most device time first. */
  programs: Program[];
  /** Of the devices' busy time, the share that belongs to no instruction of theirs. */
  noHlo: number;
  /** The one that is shown; null where there is none, or not the one that was asked for. */
  program: Program | null;
  rows: HloCost[];
  /** Instructions that the answer would have without its limit, and those inside of fusions. */
  total: number;
  fused: number;
  ours: number;
  unknown: number;
  /** Why nothing could be computed; '' where it was. */
  problem: string;
}

type What = 'flops' | 'bytes';

/** More rows than a page holds in memory; CSV and a terminal have all. */
const MOST_ROWS = 100_000;

/** What runs as no kernel: other pages have nothing about it. */
const NOT_RUN = new Set([
  'parameter',
  'constant',
  'tuple',
  'get-tuple-element',
  'bitcast',
  'after-all',
]);

const EMPTY: Data = {
  programs: [],
  noHlo: 0,
  program: null,
  rows: [],
  total: 0,
  fused: 0,
  ours: 0,
  unknown: 0,
  problem: '',
};

/** The arithmetic that is compared and ranked by: the analysis for GPUs knows more calls. */
function arithmetic(row: HloCost): number | null {
  return row.gpuFlops ?? row.flops;
}

function moved(row: HloCost): number | null {
  return row.gpuBytes ?? row.bytes;
}

/** A difference of what is not known on one side is not known. */
function honest(difference: Difference): Difference {
  const number = (value: number | null): number | null =>
    value === null || Number.isNaN(value) ? null : value;
  return {
    ...difference,
    base: number(difference.base),
    delta: number(difference.delta),
    ratio: number(difference.ratio),
  };
}

class HloCostsPage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Data>;
  private readonly dashboard: RowDashboard<Row>;
  private readonly picker: Picker;
  private readonly fused: Toggle;
  private readonly what: Segmented;
  private readonly links = h('div', {});
  private data: Data | null = null;
  private base: Data | null = null;
  /** Of the run itself: the base shows the program of the same name. */
  private chosen: Promise<Program | null> = Promise.resolve(null);
  private programs: Program[] = [];
  private memo: { key: string; rows: Row[] } = { key: '', rows: [] };
  private lastShape = '';
  /** The data whose tiles are shown. */
  private tilesOf: Data | null = null;

  constructor(private readonly context: PageContext) {
    const { url } = context;
    this.picker = new Picker({
      label: 'program',
      placeholder: 'Find a program',
      choices: () => this.choices(),
    });
    this.fused = new Toggle(
      'Inside of fusions',
      'List also the instructions that fusions are made of; the cost of a fusion has theirs in it',
      (on) => url.set({ fused: on ? 'in' : null }),
    );
    this.what = new Segmented(
      'What is compared',
      [
        { value: 'flops', label: 'Compare flops' },
        { value: 'bytes', label: 'Compare bytes' },
      ],
      (value) => url.set({ what: value === 'flops' ? null : value }),
    );
    this.dashboard = new RowDashboard<Row>(context, {
      title: 'Instructions',
      name: 'hlo_costs',
      controls: [],
      query: () => ({ ...this.view.query(), program_id: this.data?.program?.programId ?? null }),
      show: () => undefined,
    });
    this.view = new ToolView<Data>(context, {
      title: context.tool?.title ?? 'HLO costs',
      tool: 'hlo_costs',
      content: this.dashboard.element,
      controls: h(
        'div',
        { class: 'controls' },
        this.picker.element,
        this.links,
        this.fused.element,
        this.what.element,
      ),
      parameters: () => ({
        program_id: url.get('program_id') === '' ? null : url.get('program_id'),
        fused: url.get('fused') === 'in' ? null : 'false',
      }),
      fetch: (query, signal) => this.fetch(query, signal),
      ready: (data, base) => {
        this.data = data;
        this.base = base;
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

  private fetch(query: Query, signal: AbortSignal): Promise<Data> {
    const { program_id: wanted = null, fused = null, ...rest } = query;
    const all = getTables({ ...rest, tag: 'modules' }, signal);
    const list = all.then(([table]) =>
      readPrograms(table).filter(({ instructions }) => instructions !== null),
    );
    const isRun = query['run'] === this.context.url.get('run');
    if (isRun) {
      this.chosen = list.then((programs) => {
        this.programs = programs;
        const program =
          wanted === null ? programs[0] : programs.find((one) => one.programId === wanted);
        this.showPicker(program);
        return program ?? null;
      });
      // Who waits for the list is told why there is none.
      this.chosen.catch(() => undefined);
    }
    const { chosen } = this;
    return (async (): Promise<Data> => {
      const programs = await list;
      const { noHlo } = unknownShares(properties((await all)[0]));
      const mine = await chosen;
      const program = isRun
        ? mine
        : (programs.find(({ module }) => module === (mine?.module ?? '')) ?? null);
      if (program === null) return { ...EMPTY, programs, noHlo };
      const table = await getJson<GvizTable>(
        'data',
        { ...rest, program_id: program.programId, fused, limit: MOST_ROWS },
        signal,
      );
      const p = properties(table);
      const number = (key: string): number => Number(p[key] ?? '') || 0;
      return {
        programs,
        noHlo,
        program,
        rows: readCosts(table),
        total: number('rows_total'),
        fused: number('fused_total'),
        ours: number('ours_total'),
        unknown: number('unknown_total'),
        problem: p['problem'] ?? '',
      };
    })();
  }

  /** A number only where the name does not tell. */
  private nameOf(program: Program): string {
    return this.programs.filter(({ module }) => module === program.module).length > 1
      ? program.label
      : program.module;
  }

  /** The largest first. */
  private choices(): Choice[] {
    const current = this.data?.program?.programId;
    return this.programs.map((program, index) => ({
      label: this.nameOf(program),
      note: [
        program.time === null
          ? 'no device time'
          : `${joined(duration(program.time))}${program.share === null ? '' : `, ${percent(program.share)}`}`,
        plural(program.instructions ?? 0, 'instruction'),
      ].join(' · '),
      current: program.programId === current,
      pick: () => {
        const patch: Record<string, null> = {};
        for (const key of Object.keys(this.context.url.place.params)) {
          if (key.startsWith('f.')) patch[key] = null;
        }
        this.context.url.set({
          ...patch,
          program_id: index === 0 ? null : program.programId,
          sel: null,
        });
      },
    }));
  }

  private showPicker(program: Program | undefined): void {
    const wanted = this.context.url.get('program_id');
    this.picker.show(
      program === undefined ? (wanted === '' ? 'none' : wanted) : this.nameOf(program),
      program === undefined,
    );
    const links =
      program === undefined
        ? []
        : programLinks(this.context, program.programId, program.label).filter(
            () => program.time !== null,
          );
    fill(this.links, linksBlock(links));
  }

  private measure(): { of: (row: HloCost) => number | null; name: string; show: Measure } {
    const what: What = this.context.url.get('what') === 'bytes' ? 'bytes' : 'flops';
    const show = (value: number): string =>
      joined(what === 'bytes' ? bytes(value) : scaled(value)).replace(/^-/, '−');
    return {
      of: what === 'bytes' ? moved : arithmetic,
      name: what === 'bytes' ? 'Bytes' : 'Flops',
      show: { unit: '', time: false, show },
    };
  }

  private rows(): Row[] {
    const { data, base } = this;
    if (data === null) return [];
    const { of } = this.measure();
    const key = this.context.url.get('what');
    if (this.memo.key === `:${key}`) return this.memo.rows;
    let rows: Row[] = data.rows;
    if (base !== null && base.program !== null) {
      rows = joinBase<Row>(data.rows, base.rows, {
        place: (row) =>
          row.framework === ''
            ? { parts: opParts(row.name), rest: `${row.kind}|${row.opcode}` }
            : {
                parts: opParts(row.framework),
                rest: `${row.kind}|${row.opcode}|${row.name.replace(/[.\d]+$/, '')}`,
              },
        name: (row) => row.name,
        measure: (row) => of(row) ?? NaN,
        scale: 1,
        put: (row, difference) => ({ ...row, difference: honest(difference) }),
        gone: (row) => ({
          ...row,
          key: `${row.key} (gone)`,
          flops: null,
          transcendentals: null,
          bytes: null,
          gpuFlops: null,
          gpuDeviceFlops: null,
          gpuBytes: null,
          gpuRead: null,
          gpuWritten: null,
        }),
      }).map((row, index) =>
        row.difference?.state === 'gone' ? { ...row, rank: index + 1 } : row,
      );
    }
    this.memo = { key: `:${key}`, rows };
    return rows;
  }

  private refresh(): void {
    const { data, base } = this;
    if (data === null) return;
    const { url } = this.context;
    this.showPicker(data.program ?? undefined);
    this.fused.show(url.get('fused') === 'in');
    this.fused.element.hidden = data.fused === 0;
    this.what.show(url.get('what') === 'bytes' ? 'bytes' : 'flops');
    const compares = base !== null && base.program !== null;
    this.what.element.hidden = !compares;
    const nothing = data.program === null;
    this.dashboard.nothing(nothing);
    fill(
      this.dashboard.notice,
      ...(nothing ? [this.noProgram(data)] : notices(data, url.get('base') !== '', base)),
    );
    if (nothing) return;
    // They are of all rows: no filter changes them.
    if (this.tilesOf !== data) {
      const facts = tiles(this.tiles(data));
      facts.classList.add('eight');
      fill(this.dashboard.tileSlot, facts);
      this.tilesOf = data;
    }
    const rows = this.rows();
    fill(
      this.dashboard.compareSlot,
      compares &&
        compareNote(
          rows,
          (row) => row.difference,
          (row) => row.name,
          ['instruction', 'instructions'],
          null,
        ),
    );
    const shape = url.get('what');
    if (`:${shape}` === this.lastShape) {
      this.dashboard.table.update();
    } else {
      this.lastShape = `:${shape}`;
      this.dashboard.table.set({ rows, columns: this.columns(rows), noun: 'instructions' });
    }
    const wanted = url.get('sel');
    const row = wanted === '' ? undefined : rows.find((one) => one.key === wanted);
    this.dashboard.choose(row === undefined ? null : this.describe(row));
  }

  private noProgram(data: Data): HTMLElement {
    const wanted = this.context.url.get('program_id');
    return data.programs.length === 0
      ? notRecorded(
          'No compiled program was recorded',
          h('p', {}, 'The capture does not carry the programs that ran.'),
          h(
            'p',
            { class: 'soft' },
            'XLA’s programs are in captures of JAX, PyTorch/XLA and jitted TensorFlow, unless host tracing was off.',
          ),
        )
      : notRecorded(
          'This program is not in the capture',
          h(
            'p',
            {},
            `No host’s file has the program ${wanted}. It may have run without being recorded, or the link is of another run.`,
          ),
        );
  }

  private tiles(data: Data): Tile[] {
    const base = this.base?.program === null ? null : this.base;
    // What runs at the top: what it calls, loops and fusions, is in the cost of the caller.
    const entry = (one: Data): HloCost[] => one.rows.filter(({ kind }) => kind === 'entry');
    const [now, then] = [entry(data), base === null ? null : entry(base)];
    const alone = data.rows.filter(({ kind }) => kind !== 'fusion');
    const total = (
      label: string,
      hint: string,
      of: (row: HloCost) => number | null,
      format: (value: number) => Quantity,
    ): Tile => {
      const [mine, theirs] = [sumKnown(now, of), then === null ? null : sumKnown(then, of)];
      // A loop's cost lacks what is not known in its body.
      const unknown = sumKnown(alone, of).unknown;
      return {
        label,
        hint: `${hint} Sum over the entry computation, of what is known; a loop counts one iteration.`,
        value: mine.unknown === now.length ? null : mine.sum,
        format,
        exact: exact(mine.sum),
        note: unknown === 0 ? '' : `without ${plural(unknown, 'instruction')}`,
        base: theirs?.sum ?? null,
      };
    };
    const all = (one: Data): number =>
      one.total + (this.context.url.get('fused') === 'in' ? 0 : one.fused);
    const kinds = unknownKinds(data.rows);
    const [first] = kinds;
    const { program } = data;
    return [
      {
        label: 'Instructions',
        hint: 'Of all computations of the program',
        value: all(data),
        format: (value) => ({ value: count(value), unit: '' }),
        note: data.fused === 0 ? '' : `${count(data.fused)} inside of fusions`,
        base: base === null ? null : all(base),
      },
      {
        label: 'Device time',
        hint: 'Of the program, on all devices',
        value: program?.time ?? null,
        format: duration,
        ...(program?.time === null || program?.time === undefined
          ? { note: 'none recorded' }
          : {
              exact: `${exact(program.time)} µs`,
              note: program.executions === null ? '' : plural(program.executions, 'execution'),
            }),
      },
      total('Flops', 'By XLA’s generic analysis.', (row) => row.flops, scaled),
      total('Bytes', 'By XLA’s generic analysis, read and written.', (row) => row.bytes, bytes),
      total(
        'GPU flops',
        'By the analysis for GPUs that XProf uses: of elementwise operations clock cycles.',
        (row) => row.gpuFlops,
        scaled,
      ),
      total(
        'GPU bytes',
        'By the analysis for GPUs, by what fusions use of their operands.',
        (row) => row.gpuBytes,
        bytes,
      ),
      {
        label: 'Known to us alone',
        hint: 'Calls of which XLA knows nothing, but whose shapes tell; marked “ours” in the table',
        value: data.ours,
        format: (value) => ({ value: count(value), unit: '' }),
        note: data.ours === 0 ? '' : 'marked “ours”',
      },
      {
        label: 'Unknown',
        hint:
          kinds.length === 0
            ? 'Every listed instruction has a cost'
            : kinds.map(({ kind, count: n }) => `${count(n)} × ${kind}`).join('\n'),
        value: data.unknown,
        format: (value) => ({ value: count(value), unit: '' }),
        note:
          first === undefined
            ? ''
            : kinds.length === 1
              ? first.kind
              : `${first.kind} and ${plural(kinds.length - 1, 'other')}`,
      },
    ];
  }

  private columns(rows: readonly Row[]): Column<Row>[] {
    const amountColumn = (
      id: string,
      title: string,
      hint: string,
      value: (row: Row) => number | null,
      format: (value: number) => Quantity,
      extra: Partial<Column<Row>> = {},
    ): Column<Row> => ({
      id,
      title,
      hint,
      kind: 'number',
      width: 92,
      value,
      text: (cell) => (typeof cell === 'number' ? joined(format(cell)) : '–'),
      ...extra,
    });
    const { name, show } = this.measure();
    const compares = this.base !== null && this.base.program !== null;
    return [
      {
        id: 'rank',
        title: '#',
        kind: 'number',
        width: 56,
        value: (row) => row.rank,
        hint: 'Rank by arithmetic, then by bytes',
      },
      {
        id: 'place',
        title: 'Place',
        kind: 'number',
        width: 72,
        hidden: true,
        value: (row) => row.place,
        hint: 'Place in the program: the entry computation comes first',
      },
      {
        id: 'instruction',
        title: 'Instruction',
        kind: 'text',
        grow: true,
        narrow: true,
        width: 170,
        code: true,
        value: (row) => row.name,
        hint: 'Name in the compiled program',
      },
      {
        id: 'opcode',
        title: 'Opcode',
        kind: 'text',
        width: 118,
        hidden: true,
        value: (row) => row.opcode,
        hint: 'What XLA calls the operation',
      },
      {
        id: 'category',
        title: 'Category',
        kind: 'text',
        width: 124,
        value: (row) => row.category,
        hint: 'XLA’s category of the instruction',
      },
      {
        id: 'computation',
        title: 'Computation',
        kind: 'text',
        width: 150,
        hidden: true,
        quiet: true,
        value: (row) => row.computation,
        hint: 'The computation that it is in',
      },
      {
        id: 'comp_kind',
        title: 'In',
        kind: 'text',
        width: 72,
        quiet: true,
        value: (row) => row.kind,
        hint: 'Whether it is in the entry computation, in a fusion, or in another: the body of a loop, what a call or a reduction applies',
      },
      {
        id: 'shape',
        title: 'Shape',
        kind: 'text',
        width: 150,
        quiet: true,
        value: (row) => row.shape,
        hint: 'Of the result, with its layout',
      },
      amountColumn(
        'xla_flops',
        'Flops',
        'XLA’s generic analysis: floating-point operations',
        (row) => row.flops,
        scaled,
        { narrow: !compares },
      ),
      amountColumn(
        'xla_transcendentals',
        'Transc.',
        'XLA’s generic analysis: transcendental operations, such as exponentials',
        (row) => row.transcendentals,
        scaled,
        { width: 84 },
      ),
      amountColumn(
        'xla_bytes',
        'Bytes',
        'XLA’s generic analysis: bytes read and written',
        (row) => row.bytes,
        bytes,
      ),
      amountColumn(
        'gpu_flops_model',
        'GPU flops',
        'Analysis for GPUs, as in XProf; of elementwise operations clock cycles',
        (row) => row.gpuFlops,
        scaled,
      ),
      amountColumn(
        'gpu_flops_device',
        'GPU device flops',
        'The same, less for inputs of 8 and 4 bits',
        (row) => row.gpuDeviceFlops,
        scaled,
        { hidden: true, width: 124 },
      ),
      amountColumn(
        'gpu_bytes',
        'GPU bytes',
        'Analysis for GPUs: bytes accessed, by what fusions use of their operands',
        (row) => row.gpuBytes,
        bytes,
        { narrow: !compares },
      ),
      amountColumn(
        'gpu_bytes_read_hbm',
        'Read',
        'Analysis for GPUs: bytes read from main memory',
        (row) => row.gpuRead,
        bytes,
        { hidden: true },
      ),
      amountColumn(
        'gpu_bytes_written_hbm',
        'Written',
        'Analysis for GPUs: bytes written to main memory',
        (row) => row.gpuWritten,
        bytes,
        { hidden: true },
      ),
      {
        id: 'intensity',
        title: 'FLOP/byte',
        kind: 'number',
        width: 88,
        hidden: true,
        value: (row) => intensity(row),
        text: (cell) => (typeof cell === 'number' ? fixed(cell, 2) : '–'),
        hint: 'Arithmetic per byte moved, by the analysis for GPUs',
      },
      ...(compares ? compareColumns<Row>(name, (row) => row.difference, show) : []),
      {
        id: 'cost_source',
        title: 'Known by',
        kind: 'text',
        quiet: true,
        width: 84,
        value: (row) => row.costSource,
        node: (row) =>
          h(
            'span',
            {
              class: row.costSource === 'XLA' ? 'soft' : 'badge',
              title: costRules(row.costSource),
            },
            row.costSource,
          ),
        hint: 'Whose rules tell the cost: XLA’s, ours where XLA knows nothing, or nobody’s',
      },
      {
        id: 'op_name',
        title: 'Framework op',
        kind: 'text',
        width: 220,
        code: true,
        hidden: true,
        value: (row) => row.framework,
        hint: 'The operation of the framework that it comes from',
      },
      {
        id: 'expression',
        title: 'HLO',
        kind: 'text',
        width: 260,
        hidden: true,
        value: (row) => row.expression,
        hint: 'Text of the instruction',
      },
      ...(rows.some((row) => row.source !== null)
        ? [
            {
              id: 'source',
              title: 'Source',
              kind: 'text' as const,
              width: 150,
              code: true,
              hidden: true,
              value: (row: Row) => row.source?.place ?? '',
              text: (cell: unknown) => shortPlace(String(cell)),
              hint: 'Line of source',
            },
          ]
        : []),
    ];
  }

  private describe(row: Row): Detail {
    const gone = row.difference?.state === 'gone';
    const fact = (
      label: string,
      value: number | null,
      format: (value: number) => Quantity,
      unit: string,
    ): Detail['facts'][number] =>
      value === null
        ? { label, text: 'unknown' }
        : { label, text: joined(format(value)), exact: `${exact(value)} ${unit}` };
    const { show } = this.measure();
    const ratio = intensity(row);
    const program = this.data?.program;
    const runs = !gone && row.kind !== 'fusion' && !NOT_RUN.has(row.opcode);
    const facts: Detail['facts'] = [
      { label: 'Category', text: row.category },
      ...(row.opcode === row.category ? [] : [{ label: 'Opcode', text: row.opcode }]),
      ...(row.framework === '' ? [] : [{ label: 'Framework op', text: row.framework }]),
      ...(program ? [{ label: 'Program', text: program.label }] : []),
      {
        label: 'In',
        text: `${row.computation} (${row.kind === 'entry' ? 'the entry computation' : row.kind === 'fusion' ? 'a fusion' : 'called by another instruction'})`,
      },
      { label: 'Shape', text: row.shape },
      ...(gone
        ? []
        : [
            fact('Flops', row.flops, scaled, 'operations'),
            fact('Transcendentals', row.transcendentals, scaled, 'operations'),
            fact('Bytes', row.bytes, bytes, 'bytes'),
            fact('GPU flops', row.gpuFlops, scaled, 'operations'),
            ...(row.gpuDeviceFlops === row.gpuFlops
              ? []
              : [fact('GPU device flops', row.gpuDeviceFlops, scaled, 'operations')]),
            fact('GPU bytes', row.gpuBytes, bytes, 'bytes'),
            fact('GPU bytes read', row.gpuRead, bytes, 'bytes'),
            fact('GPU bytes written', row.gpuWritten, bytes, 'bytes'),
            ...(ratio === null
              ? []
              : [{ label: 'Intensity', text: `${fixed(ratio, 2)} FLOP/byte` }]),
            { label: 'Cost by', text: costRules(row.costSource) },
          ]),
      ...(row.opcode === 'while'
        ? [{ label: 'Loop', text: 'the cost is that of one iteration' }]
        : []),
      ...(row.difference === undefined
        ? []
        : [
            {
              label: 'Base',
              text:
                row.difference.base === null
                  ? row.difference.state === 'new'
                    ? 'not in the base run'
                    : 'unknown'
                  : show.show(row.difference.base),
            },
            ...(row.difference.state === 'both' && row.difference.delta !== null
              ? [{ label: 'Change', text: change(row.difference.delta, show.show) }]
              : []),
            ...(row.difference.baseName === undefined
              ? []
              : [{ label: 'Compared with', text: row.difference.baseName }]),
          ]),
    ];
    return {
      key: JSON.stringify([this.view.query(), row.key, this.memo.key]),
      title: row.name,
      full: row.framework === '' ? row.name : row.framework,
      facts,
      query: null,
      trace: runs ? instructionTrace(this.context, row.name) : null,
      extra: sections(
        runs ? linksBlock(instructionLinks(this.context, row.programId, row.name)) : null,
        expressionBlock(row.expression),
        sourceBlock(row.source),
      ),
    };
  }
}

function intensity(row: HloCost): number | null {
  const [flops, size] = [arithmetic(row), moved(row)];
  return flops === null || size === null || size === 0 ? null : flops / size;
}

function notices(data: Data, compares: boolean, base: Data | null): (HTMLElement | null)[] {
  const bar = (title: string, text: string, kind = 'info'): HTMLElement =>
    h('div', { class: `verdict ${kind}` }, h('b', {}, title), h('span', {}, text));
  return [
    unknownTime({ noHlo: data.noHlo, noCost: 0 }, false),
    data.problem === ''
      ? null
      : bar(
          'No costs',
          `The costs of this program could not be computed: ${data.problem}.`,
          'warning',
        ),
    data.rows.length < data.total
      ? bar(
          'Not all rows',
          `The page has ${count(data.rows.length)} of ${count(data.total)} instructions, in the order of the program; sums are of these. CSV from the server has all.`,
        )
      : null,
    compares && base !== null && base.program === null
      ? bar(
          'No comparison',
          `The base run has no program with the name ${data.program?.module ?? ''}.`,
        )
      : null,
    base !== null && base.program !== null
      ? bar(
          'Compared',
          `with ${base.program.label} of the base run. Costs are those of one execution of each instruction.`,
        )
      : null,
  ];
}

export const page: PageType = (context) => new HloCostsPage(context);
