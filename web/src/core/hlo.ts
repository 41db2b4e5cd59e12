// SPDX-License-Identifier: Apache-2.0
// What the pages about programs read from the server's answers, and where they lead to. Pure.

import { amount, records, text, type GvizTable, type Rec } from './gviz';
import { addressKey } from './names';
import type { PageContext } from './page';
import { tracePlace } from './trace_link';

/**
 * Where a line of source is: what the file's cell says, and the calls that led there, innermost
 * first.
 */
export interface Source {
  place: string;
  stack: string[];
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#x27': "'",
};

function plain(html: string): string {
  return html.replace(
    /&(amp|lt|gt|quot|#39|#x27);/g,
    (_whole, name: string) => ENTITIES[name] ?? '',
  );
}

/**
 * XProf's cell is markup with the stack as its title. It is taken apart as text and never becomes
 * an element.
 */
export function readSource(cell: string): Source | null {
  if (cell === '') return null;
  const markup = /^<div[^>]*?title=(['"])([\s\S]*?)\1[^>]*>([\s\S]*)<\/div>$/.exec(cell);
  if (markup === null) return { place: cell, stack: [] };
  const stack = plain(markup[2] ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const place = plain(markup[3] ?? '');
  return place === '' && stack.length === 0
    ? null
    : { place: place === '' ? (stack[0] ?? '') : place, stack };
}

/** The last parts of a path are those that tell. */
export function shortPlace(place: string): string {
  const parts = place.split('/');
  return parts.length <= 3 ? place : `…/${parts.slice(-2).join('/')}`;
}

/** Categories of XLA's instructions in the colours that the page has for kinds of work. */
export function categoryToken(category: string): string {
  if (category === 'IDLE') return 'all-others';
  if (/^(all-|reduce-scatter|collective|send|recv|async-collective|ragged-all)/.test(category))
    return 'collectives';
  if (/fusion/.test(category)) return 'device-compute';
  if (/^(convolution|dot|custom-call|triton|cholesky|fft|triangular)/.test(category))
    return 'kernel-launch';
  if (
    /^(copy|data formatting|transpose|reshape|dynamic-slice|dynamic-update-slice|slice|concatenate|gather|scatter|pad|broadcast)/.test(
      category,
    )
  )
    return 'host-compute';
  if (/^(infeed|host)/.test(category)) return 'input';
  if (/^(outfeed)/.test(category)) return 'output';
  if (/^(while|call|conditional)/.test(category)) return 'compilation';
  return 'device-to-device';
}

/** XProf writes the name and the type of an operation as one text. */
export function frameworkName(text: string): string {
  return text.replace(/:[^:/]*$/, '');
}

/**
 * How much of the devices' busy time belongs to no known instruction, and how much to instructions
 * of unknown cost; as fractions.
 */
export function unknownShares(properties: Readonly<Record<string, string>>): {
  noHlo: number;
  noCost: number;
} {
  const number = (key: string): number => {
    const value = Number(properties[key] ?? '');
    return Number.isFinite(value) ? value : 0;
  };
  const busy = number('busy_time_us');
  return busy > 0
    ? { noHlo: number('no_hlo_time_us') / busy, noCost: number('unknown_cost_time_us') / busy }
    : { noHlo: 0, noCost: 0 };
}

/* ---- places of an instruction ---- */

/** What an instruction's row is called in the address of every page: names are a program's own. */
export function instructionKey(programId: string, name: string): string {
  return addressKey([programId, name], name);
}

/** Whether this is the number of a program; time without one has 0, or nothing. */
export function isProgram(programId: string): boolean {
  return programId !== '' && programId !== '0';
}

export interface InstructionLink {
  label: string;
  href: string;
}

type Keys = Readonly<Record<string, string>>;

/**
 * The pages that show an instruction, and the keys by which each is asked for it. What else can be
 * shown of one gets its line here, and all pages lead there.
 */
const INSTRUCTION_PAGES: readonly {
  tool: string;
  label: string;
  /** Null where the page cannot tell which it is. */
  keys: (programId: string, name: string) => Keys | null;
}[] = [
  {
    tool: 'op_profile',
    label: 'Op profile',
    keys: (id, name) => ({
      'f.name': `=${name}`,
      ...(isProgram(id) ? { 'f.program': `=${id}`, sel: instructionKey(id, name) } : {}),
    }),
  },
  {
    tool: 'hlo_stats',
    label: 'HLO stats',
    keys: (id, name): Keys =>
      isProgram(id) ? { sel: instructionKey(id, name) } : { 'f.hlo_op_name': `=${name}` },
  },
  {
    tool: 'roofline_model',
    label: 'Roofline',
    keys: (id, name): Keys =>
      isProgram(id) ? { sel: instructionKey(id, name) } : { 'f.operation': `=${name}` },
  },
  {
    tool: 'hlo_costs',
    label: 'Cost',
    keys: (id, name) => (isProgram(id) ? { program_id: id, sel: instructionKey(id, name) } : null),
  },
  {
    tool: 'graph_viewer',
    label: 'Graph',
    keys: (id, name) => (isProgram(id) ? { program_id: id, node: name } : null),
  },
];

/** The other pages of this run that show an instruction. */
export function instructionLinks(
  { has, link, tool }: Pick<PageContext, 'has' | 'link' | 'tool'>,
  programId: string,
  name: string,
): InstructionLink[] {
  if (name === '') return [];
  return INSTRUCTION_PAGES.flatMap((page) => {
    const keys = page.keys(programId, name);
    return page.tool === tool?.name || !has(page.tool) || keys === null
      ? []
      : [{ label: page.label, href: link(page.tool, keys) }];
  });
}

/** The events of an instruction in the trace: what has exactly its name, or names it. */
export function instructionTrace(
  { has, link }: Pick<PageContext, 'has' | 'link'>,
  name: string,
): string | null {
  return has('trace_viewer') && name !== ''
    ? link('trace_viewer', tracePlace({ instruction: name }))
    : null;
}

/** The pages that show a program, and the keys by which each is asked for it. */
export function programLinks(
  { has, link, tool }: Pick<PageContext, 'has' | 'link' | 'tool'>,
  programId: string,
  label: string,
): InstructionLink[] {
  const pages: readonly { tool: string; label: string; keys: Keys }[] = [
    { tool: 'op_profile', label: 'Op profile', keys: { sel: label, zoom: label } },
    { tool: 'hlo_stats', label: 'HLO stats', keys: { 'f.program': `=${label}` } },
    { tool: 'roofline_model', label: 'Roofline', keys: { 'f.hlo_module_id': `=${programId}` } },
    { tool: 'hlo_costs', label: 'Costs', keys: { program_id: programId } },
    { tool: 'graph_viewer', label: 'Graph', keys: { program_id: programId } },
  ];
  return pages
    .filter((page) => page.tool !== tool?.name && has(page.tool))
    .map((page) => ({ label: page.label, href: link(page.tool, page.keys) }));
}

/* ---- programs ---- */

/** A compiled program of the run; of what is not known there is null. */
export interface Program {
  key: string;
  /** '' where it ran but is not in the file. */
  module: string;
  programId: string;
  /** With its number, as other pages have it. */
  label: string;
  rank: number;
  instructions: number | null;
  ran: number;
  executions: number | null;
  /** On all devices, in µs. */
  time: number | null;
  /** Of the devices' busy time, as a fraction. */
  share: number | null;
  hosts: number | null;
}

function known(record: Rec, id: string): number | null {
  const value = record[id];
  return typeof value === 'number' ? value : null;
}

/** The programs, those with the most device time first. */
export function readPrograms(table: GvizTable | undefined): Program[] {
  if (table === undefined) return [];
  return records(table).map((record, index) => {
    const [module, programId] = [text(record, 'module'), text(record, 'program_id')];
    return {
      key: addressKey([programId, module], module),
      module,
      programId,
      label: module === '' ? programId : `${module}(${programId})`,
      rank: index + 1,
      instructions: known(record, 'instructions'),
      ran: amount(record, 'instructions_run'),
      executions: known(record, 'executions'),
      time: known(record, 'time_us'),
      share: known(record, 'time_share'),
      hosts: known(record, 'hosts'),
    };
  });
}

/* ---- costs ---- */

/** An instruction and what it costs each time; null where that is not known. */
export interface HloCost {
  key: string;
  /** By arithmetic, then by bytes. */
  rank: number;
  /** In the program, from 1 on. */
  place: number;
  programId: string;
  computation: string;
  kind: string;
  name: string;
  opcode: string;
  category: string;
  /** XLA's generic analysis. */
  flops: number | null;
  transcendentals: number | null;
  bytes: number | null;
  /** The analysis for GPUs that XProf uses. */
  gpuFlops: number | null;
  gpuDeviceFlops: number | null;
  gpuBytes: number | null;
  gpuRead: number | null;
  gpuWritten: number | null;
  shape: string;
  costSource: string;
  framework: string;
  expression: string;
  source: Source | null;
}

/** A place and the frames that led there, as two texts. */
function plainSource(place: string, stack: string): Source | null {
  const frames = stack
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return place === '' && frames.length === 0
    ? null
    : { place: place === '' ? (frames[0] ?? '') : place, stack: frames };
}

export function readCosts(table: GvizTable | undefined): HloCost[] {
  if (table === undefined) return [];
  const used = new Set<string>();
  const rows = records(table).map((record, index): HloCost => {
    const [programId, name] = [text(record, 'program_id'), text(record, 'instruction')];
    let key = instructionKey(programId, name);
    while (used.has(key)) key += '+';
    used.add(key);
    return {
      key,
      rank: 0,
      place: index + 1,
      programId,
      computation: text(record, 'computation'),
      kind: text(record, 'comp_kind'),
      name,
      opcode: text(record, 'opcode'),
      category: text(record, 'category'),
      flops: known(record, 'xla_flops'),
      transcendentals: known(record, 'xla_transcendentals'),
      bytes: known(record, 'xla_bytes'),
      gpuFlops: known(record, 'gpu_flops_model'),
      gpuDeviceFlops: known(record, 'gpu_flops_device'),
      gpuBytes: known(record, 'gpu_bytes'),
      gpuRead: known(record, 'gpu_bytes_read_hbm'),
      gpuWritten: known(record, 'gpu_bytes_written_hbm'),
      shape: text(record, 'shape'),
      costSource: text(record, 'cost_source'),
      framework: frameworkName(text(record, 'op_name')),
      expression: text(record, 'expression'),
      source: plainSource(text(record, 'source'), text(record, 'source_stack')),
    };
  });
  const arithmetic = (row: HloCost): number => row.gpuFlops ?? row.flops ?? -1;
  const moved = (row: HloCost): number => row.gpuBytes ?? row.bytes ?? -1;
  [...rows]
    .sort((a, b) => arithmetic(b) - arithmetic(a) || moved(b) - moved(a) || a.place - b.place)
    .forEach((row, index) => {
      row.rank = index + 1;
    });
  return rows;
}

/** A sum of what is known, and of how many rows that is not known. */
export interface KnownSum {
  sum: number;
  unknown: number;
}

export function sumKnown(rows: readonly HloCost[], of: (row: HloCost) => number | null): KnownSum {
  let [sum, unknown] = [0, 0];
  for (const row of rows) {
    const value = of(row);
    if (value === null) unknown += 1;
    else sum += value;
  }
  return { sum, unknown };
}

/** What instructions of unknown cost are, the most frequent first: targets of calls, else opcodes. */
export function unknownKinds(rows: readonly HloCost[]): { kind: string; count: number }[] {
  const kinds = new Map<string, number>();
  for (const row of rows) {
    if (row.costSource !== 'unknown') continue;
    const target = /custom_call_target="([^"]*)"/.exec(row.expression)?.[1] ?? '';
    const kind = target === '' ? row.opcode : `${row.opcode} to ${target}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return [...kinds]
    .map(([kind, count]) => ({ kind, count }))
    .sort((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));
}

/* ---- instructions that ran ---- */

export interface HloOp {
  key: string;
  rank: number;
  program: string;
  programId: string;
  category: string;
  name: string;
  expression: string;
  framework: string;
  occurrences: number;
  total: number;
  self: number;
  /** Fractions of the time captured on devices. */
  share: number;
  flopRate: number;
  modelFlopRate: number;
  bandwidth: number;
  hbm: number;
  intensity: number;
  boundBy: string;
  remat: boolean;
  outside: boolean;
  autotuned: boolean;
  source: Source | null;
  /** Whose rules its cost follows: "XLA", "ours", or that it is unknown. */
  costSource: string;
}

export function readHloOps(table: GvizTable | undefined): HloOp[] {
  if (table === undefined) return [];
  const used = new Set<string>();
  return records(table).map((record, index) => {
    const [program, name, category] = [
      text(record, 'program') || text(record, 'program_id'),
      text(record, 'hlo_op_name'),
      text(record, 'category'),
    ];
    const programId = text(record, 'program_id');
    let key = instructionKey(programId, name);
    while (used.has(key)) key += '+';
    used.add(key);
    return {
      key,
      rank: amount(record, 'rank') || index + 1,
      program,
      programId,
      category,
      name,
      expression: text(record, 'hlo_op_expression'),
      framework: frameworkName(text(record, 'tf_op_name')),
      occurrences: amount(record, 'occurrences'),
      total: amount(record, 'total_time'),
      self: amount(record, 'total_self_time'),
      share: amount(record, 'total_self_time_percent') / 100,
      flopRate: amount(record, 'normalized_flop_rate'),
      modelFlopRate: amount(record, 'model_flop_rate'),
      bandwidth: amount(record, 'measured_memory_bw'),
      hbm: amount(record, 'hbm_bw'),
      intensity: amount(record, 'operational_intensity'),
      boundBy: text(record, 'bound_by'),
      remat: text(record, 'hlo_rematerialization') === 'Yes',
      outside: text(record, 'outside_compilation') === 'Yes',
      autotuned: text(record, 'autotuned') === 'Yes',
      source: readSource(text(record, 'source_info')),
      costSource: text(record, 'cost_source'),
    };
  });
}

/* ---- op profile ---- */

/** A node of XProf's op_profile. */
export interface ProfileNode {
  name?: string;
  metrics?: {
    flops?: number;
    uncappedFlops?: number;
    bandwidthUtils?: number[];
    rawTime?: number;
    rawFlops?: number;
    bf16Flops?: number;
    rawBytesAccessedArray?: number[];
    occurrences?: number;
    avgTimePs?: number;
  };
  children?: ProfileNode[];
  xla?: {
    op?: string;
    expression?: string;
    provenance?: string;
    category?: string;
    programId?: string;
    layout?: { dimensions?: { size?: number; alignment?: number; semantics?: string }[] };
    sourceInfo?: { fileName?: string; lineNumber?: number; stackFrame?: string };
  };
  category?: unknown;
  numChildren?: number;
}

export interface OpProfile {
  deviceType?: string;
  /**
   * Ours: what of the devices' busy time is known, and whether what belongs to no program is in the
   * trees.
   */
  busyTimePs?: number;
  noHloTimePs?: number;
  unknownCostTimePs?: number;
  others?: boolean;
  peaksSource?: string;
  peakTflops?: number;
  peakHbmGBs?: number;
  [tree: string]: unknown;
}

export interface OpNode {
  key: string;
  name: string;
  depth: number;
  /** In ps, flops and bytes. */
  time: number;
  flops: number;
  bytes: number;
  occurrences: number;
  /** Of the tree's time. */
  share: number;
  /** Of the device's peaks while the node ran; null where the node has no cost that is known. */
  flopsUse: number | null;
  bandwidthUse: number | null;
  /** Share of the tree's time in which neither arithmetic nor memory was used fully. */
  wasted: number | null;
  children: OpNode[];
  /** More children than the answer has. */
  missing: number;
  category: string;
  expression: string;
  provenance: string;
  program: string;
  source: Source | null;
  layout: { size: number; alignment: number; semantics: string }[];
}

/**
 * XProf's formulas (frontend/app/common/utils/utils.ts): wasted is time times what the nearer of
 * both peaks leaves.
 */
export function readOpProfile(root: ProfileNode | undefined): OpNode | null {
  if (root?.metrics === undefined) return null;
  const whole = root.metrics.rawTime ?? 0;
  // A stack instead of recursion: the depth is the capture's.
  const make = (node: ProfileNode, key: string, depth: number, category: string): OpNode => {
    const { metrics = {}, xla } = node;
    const time = metrics.rawTime ?? 0;
    const share = whole === 0 ? 0 : time / whole;
    const bytes = (metrics.rawBytesAccessedArray ?? []).reduce((sum, one) => sum + one, 0);
    const flops = metrics.rawFlops ?? 0;
    const known = flops > 0 || bytes > 0;
    const flopsUse = known && share > 0 ? (metrics.uncappedFlops ?? 0) / share : null;
    const bandwidthUse = known ? (metrics.bandwidthUtils?.[0] ?? 0) : null;
    const place = xla?.sourceInfo?.fileName ?? '';
    const stack = (xla?.sourceInfo?.stackFrame ?? '')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    return {
      key,
      name: node.name ?? '',
      depth,
      time,
      flops,
      bytes,
      occurrences: metrics.occurrences ?? 0,
      share,
      flopsUse,
      bandwidthUse,
      wasted:
        flopsUse === null || bandwidthUse === null
          ? null
          : share * (1 - Math.min(1, Math.max(flopsUse, bandwidthUse))),
      children: [],
      missing: Math.max(0, (node.numChildren ?? 0) - (node.children?.length ?? 0)),
      category: xla?.category ?? category,
      expression: xla?.expression ?? '',
      provenance: frameworkName(xla?.provenance ?? ''),
      program: xla?.programId ?? '',
      source:
        place === '' && stack.length === 0
          ? null
          : {
              place:
                place === ''
                  ? (stack[0] ?? '')
                  : `${place}${(xla?.sourceInfo?.lineNumber ?? 0) > 0 ? `:${xla?.sourceInfo?.lineNumber}` : ''}`,
              stack,
            },
      layout: (xla?.layout?.dimensions ?? []).map((one) => ({
        size: one.size ?? 0,
        alignment: one.alignment ?? 0,
        semantics: one.semantics ?? '',
      })),
    };
  };
  const top = make(root, '', 0, '');
  const stack: [ProfileNode, OpNode][] = [[root, top]];
  while (stack.length > 0) {
    const [node, made] = stack.pop() as [ProfileNode, OpNode];
    const used = new Set<string>();
    for (const child of node.children ?? []) {
      const name = child.name ?? '';
      let key = made.key === '' ? name : `${made.key}›${name}`;
      while (used.has(key)) key += '+';
      used.add(key);
      const inCategory =
        child.category !== undefined && child.xla === undefined ? name : made.category;
      const below = make(child, key, made.depth + 1, inCategory);
      made.children.push(below);
      stack.push([child, below]);
    }
  }
  return top;
}

/**
 * Nodes of two runs are the same by their names, or by what is left of these without XLA's
 * counters.
 */
function bare(name: string): string {
  return name
    .replace(/ and its duplicate\(s\)$/, '')
    .replace(/\(\d+\)$/, '')
    .replace(/(\.\d+)+$/, '');
}

export interface Compared {
  node: OpNode;
  /** In ps; null where only one of the runs has it. */
  now: number | null;
  base: number | null;
  children: Compared[];
}

/**
 * Both trees as one: first equal names, then names that differ by counters, the longest of each
 * with one another.
 */
export function compareTrees(now: OpNode | null, base: OpNode | null): Compared | null {
  const seed = now ?? base;
  if (seed === null) return null;
  const root: Compared = {
    node: seed,
    now: now?.time ?? null,
    base: base?.time ?? null,
    children: [],
  };
  const stack: [Compared, OpNode | null, OpNode | null][] = [[root, now, base]];
  while (stack.length > 0) {
    const [made, left, right] = stack.pop() as [Compared, OpNode | null, OpNode | null];
    const pairs: [OpNode | null, OpNode | null][] = [];
    const rest = new Set(right?.children ?? []);
    const unmatched: OpNode[] = [];
    const byName = new Map<string, OpNode[]>();
    const put = (map: Map<string, OpNode[]>, name: string, node: OpNode): void => {
      const list = map.get(name);
      if (list === undefined) map.set(name, [node]);
      else list.push(node);
    };
    for (const node of rest) put(byName, node.name, node);
    for (const node of left?.children ?? []) {
      const other = byName.get(node.name)?.shift();
      if (other === undefined) {
        unmatched.push(node);
      } else {
        rest.delete(other);
        pairs.push([node, other]);
      }
    }
    const byBare = new Map<string, OpNode[]>();
    for (const node of [...rest].sort((a, b) => b.time - a.time))
      put(byBare, bare(node.name), node);
    for (const node of unmatched.sort((a, b) => b.time - a.time)) {
      const other = byBare.get(bare(node.name))?.shift() ?? null;
      if (other !== null) rest.delete(other);
      pairs.push([node, other]);
    }
    for (const node of rest) pairs.push([null, node]);
    for (const [one, other] of pairs) {
      const node = one ?? {
        ...(other as OpNode),
        key: `${other?.key ?? ''} (gone)`,
        time: 0,
        share: 0,
        flops: 0,
        bytes: 0,
        occurrences: 0,
        flopsUse: null,
        bandwidthUse: null,
        wasted: null,
      };
      const below: Compared = {
        node,
        now: one?.time ?? null,
        base: other?.time ?? null,
        children: [],
      };
      made.children.push(below);
      stack.push([below, one, other]);
    }
  }
  return root;
}

/* ---- roofline ---- */

export interface RoofPoint {
  key: string;
  /** "Total", "Average", or a step. */
  step: string;
  rank: number;
  category: string;
  name: string;
  program: string;
  occurrences: number;
  total: number;
  /** The total by the number of devices. */
  perDevice: number;
  self: number;
  share: number;
  /** GFLOP/s and FLOP per byte; 0 where no cost is known. */
  flopRate: number;
  bandwidth: number;
  intensity: number;
  hbmIntensity: number;
  boundBy: string;
  costSource: string;
  efficiency: number;
  computeUse: number;
  memoryUse: number;
  withFeeds: boolean;
  source: Source | null;
}

export function readRoofline(table: GvizTable | undefined): RoofPoint[] {
  if (table === undefined) return [];
  const used = new Set<string>();
  return records(table).map((record) => {
    const [step, name, program] = [
      text(record, 'step'),
      text(record, 'operation'),
      text(record, 'hlo_module_id'),
    ];
    const withFeeds = record['include_infeed_outfeed'] === true;
    // Over the whole capture an instruction is called as on the other pages.
    let key =
      step === 'Total' && withFeeds
        ? instructionKey(program, name)
        : addressKey([step, program, name, withFeeds ? '' : 'alone'], name);
    while (used.has(key)) key += '+';
    used.add(key);
    return {
      key,
      step,
      rank: amount(record, 'rank'),
      category: text(record, 'category'),
      name,
      program,
      occurrences: amount(record, 'occurrences'),
      total: amount(record, 'total_time'),
      perDevice: amount(record, 'total_time_per_core'),
      self: amount(record, 'total_self_time'),
      share: amount(record, 'total_self_time_percent'),
      flopRate: amount(record, 'measured_flop_rate'),
      bandwidth: amount(record, 'measured_memory_bw'),
      intensity: amount(record, 'operational_intensity'),
      hbmIntensity: amount(record, 'hbm_operational_intensity'),
      boundBy: text(record, 'bound_by'),
      costSource: text(record, 'cost_source'),
      efficiency: amount(record, 'roofline_efficiency'),
      computeUse: amount(record, 'compute_efficiency'),
      memoryUse: amount(record, 'max_mem_bw_utilization'),
      withFeeds,
      source: readSource(text(record, 'source_info')),
    };
  });
}

/** A memory level's sloped line, and the flat one they end in. */
export interface Roof {
  name: string;
  /** GiB/s. */
  bandwidth: number;
}

export interface Roofs {
  /** GFLOP/s. */
  flops: number;
  levels: Roof[];
}

const LEVELS: readonly [string, string][] = [
  ['peak_hbm_bw', 'HBM'],
  ['peak_cmem_read_bw', 'CMEM read'],
  ['peak_cmem_write_bw', 'CMEM write'],
  ['peak_vmem_read_bw', 'VMEM read'],
  ['peak_vmem_write_bw', 'VMEM write'],
];

export function readRoofs(properties: Readonly<Record<string, string>>): Roofs {
  const number = (key: string): number => {
    const value = Number(properties[key] ?? '');
    return Number.isFinite(value) ? value : 0;
  };
  const gpu = (properties['device_type'] ?? '').includes('GPU');
  const levels = LEVELS.map(([key, name]) => ({
    name: gpu && key === 'peak_vmem_write_bw' ? 'Shared memory / L1' : name,
    bandwidth: number(key),
  })).filter(({ bandwidth }) => bandwidth > 0);
  return { flops: number('peak_flop_rate'), levels };
}

/** GiB/s to GB/s, so that bytes and flops are counted alike. */
export const GIBI = 2 ** 30 / 1e9;

/** GFLOP/s that are possible at an intensity (FLOP per byte) with one memory level. */
export function roofAt(flops: number, bandwidth: number, intensity: number): number {
  return Math.min(flops, bandwidth * GIBI * intensity);
}
