// SPDX-License-Identifier: Apache-2.0
// Overview: where the time of a step went, and what to do about it.

import type { Diagnostics, RunInfo } from '../core/api';
import { finding } from '../components/finding';
import { noSteps } from '../components/no_steps';
import { csvButton, plainTable, section, type PlainTableOptions } from '../components/plain_table';
import {
  analysisMessages,
  averageTile,
  getLoose,
  sourceNote,
  stepKeys,
  stepSection,
} from '../components/step_page';
import { choiceOf, StepChart } from '../components/step_chart';
import { nothingMatches } from '../components/states';
import { tiles, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { microseconds } from '../components/charts';
import { advice, deviceVerdict, inputVerdict, pieces } from '../core/advice';
import { hasTensorCores, tellsPrecision } from '../core/devices';
import { fill, h, type Child } from '../core/dom';
import { textFilter } from '../core/filter';
import { asPercent, bytes, count, fixed, joined, percent, plural } from '../core/format';
import { amount, flag, number, records, text, type GvizTable } from '../core/gviz';
import type { Page, PageContext, PageType } from '../core/page';
import {
  fraction,
  meanOf,
  properties,
  readSteps,
  shareOf,
  slowestOfEach,
  sourceText,
  stepsOf,
  tasks,
  within,
  type Range,
  type Steps,
} from '../core/steps';
import { WORDS } from '../core/words';

interface TopOp {
  rank: number;
  self: number;
  cumulative: number;
  type: string;
  name: string;
  rate: number | null;
  eligible: boolean;
  uses: boolean;
}

interface Latency {
  percentile: string;
  host: number;
  device: number;
  communication: number;
  total: number;
}

interface Overview {
  analysis: Record<string, string>;
  ops: TopOp[];
  hasTensorCores: boolean;
  steps: Steps;
  environment: Record<string, string>;
  jobs: { host: string; command: string; start: string }[];
  found: Record<string, string>;
  tips: { type: string; text: string; title: string }[];
  latency: Latency[];
  diagnostics: GvizTable | undefined;
}

function rowsOf(table: GvizTable | undefined): ReturnType<typeof records> {
  return table === undefined ? [] : records(table);
}

function read(tables: readonly (GvizTable | undefined)[]): Overview {
  const [analysis, steps, environment, recommendation, latency] = tables;
  return {
    analysis: properties(analysis),
    ops: rowsOf(analysis).map((record, index) => ({
      rank: index + 1,
      self: amount(record, 'selftimepercent'),
      cumulative: amount(record, 'cumulativetimepercent'),
      type: text(record, 'category'),
      name: text(record, 'operation'),
      rate: number(record, 'floprate'),
      eligible: flag(record, 'tceligibility'),
      uses: flag(record, 'tcutilization'),
    })),
    hasTensorCores:
      (analysis?.cols.some((col) => col.id.toLowerCase() === 'tceligibility') ?? false) &&
      hasTensorCores(properties(environment)['device_type'] ?? ''),
    steps: readSteps(steps),
    environment: properties(environment),
    jobs: rowsOf(environment).map((record) => ({
      host: text(record, 'host_id'),
      command: text(record, 'command_line'),
      start: text(record, 'start_time'),
    })),
    // The sentences the profilers compute and never show may come with either table.
    found: { ...properties(analysis), ...properties(recommendation) },
    tips: rowsOf(recommendation).map((record) => ({
      type: text(record, 'tip_type'),
      text: text(record, 'link'),
      title: text(record, 'description'),
    })),
    latency: rowsOf(latency).map((record) => ({
      percentile: text(record, 'percentile'),
      host: amount(record, 'hosttimems') * 1000,
      device: amount(record, 'devicetimems') * 1000,
      communication: amount(record, 'communicationtimems') * 1000,
      total: amount(record, 'totaltimems') * 1000,
    })),
    diagnostics: tables[6],
  };
}

class OverviewPage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Overview>;
  private readonly top = h('div', {});
  private readonly tileSlot = h('div', {});
  private readonly missing = h('div', {});
  private readonly averageSlot = h('div', {});
  private readonly opsSlot = h('div', {});
  private readonly latencySlot = h('div', {});
  private readonly nextSlot = h('div', {});
  private readonly environmentSlot = h('div', {});
  private readonly placementSlot = h('div', {});
  private readonly chart: StepChart;
  private readonly stopKeys: () => void;
  private data: Overview | null = null;
  private base: Overview | null = null;
  private info: RunInfo | null = null;
  private files: Diagnostics | null = null;
  /** Whether it is known what is said of the files themselves, above. */
  private filesKnown = false;

  constructor(private readonly context: PageContext) {
    this.chart = new StepChart(context.url);
    const content = h(
      'div',
      {},
      this.top,
      this.tileSlot,
      this.missing,
      h(
        'div',
        { class: 'overview' },
        h(
          'div',
          { class: 'overview-main' },
          this.chart.element,
          this.averageSlot,
          this.opsSlot,
          this.latencySlot,
        ),
        h(
          'div',
          { class: 'overview-side' },
          this.nextSlot,
          this.environmentSlot,
          this.placementSlot,
        ),
      ),
    );
    this.view = new ToolView<Overview>(context, {
      title: context.tool?.title ?? 'Overview',
      tool: 'overview_page',
      content,
      fetch: async (query, signal) => read(await getLoose(query, signal)),
      ready: (data, base) => {
        this.data = data;
        this.base = base;
        this.refresh();
      },
      changed: () => this.refresh(),
      facts: (info, files) => {
        this.info = info;
        this.files = files;
        this.filesKnown = true;
        this.refresh();
      },
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
  }

  private refresh(): void {
    const { data, base, context } = this;
    if (data === null) return;
    const none = data.steps.steps.length === 0;
    const choice = choiceOf(context.url, data.steps);
    const verdict = none
      ? null
      : inputVerdict(
          data.found['statement'] ?? data.steps.properties['input_conclusion'] ?? '',
          data.found['hosts_statement'],
        );
    const device = none ? deviceVerdict(data.found) : null;
    fill(
      this.top,
      sourceNote(context, data.steps.properties),
      this.filesKnown &&
        analysisMessages(
          data.diagnostics,
          none,
          this.files?.entries.map((entry) => entry.message) ?? [],
        ),
      device !== null &&
        finding(
          device,
          context.has('trace_viewer') &&
            h('a', { class: 'finding-link', href: context.link('trace_viewer') }, 'Show the trace'),
        ),
      verdict !== null &&
        finding(
          verdict,
          context.has('input_pipeline_analyzer') &&
            h(
              'a',
              { class: 'finding-link', href: context.link('input_pipeline_analyzer') },
              'Show where',
            ),
        ),
    );
    fill(
      this.missing,
      none &&
        noSteps(
          'Everything that does not need steps is below.',
          data.steps.properties['module_steps'] ?? null,
          () => context.url.set({ step_source: 'module' }),
        ),
    );
    fill(this.tileSlot, tiles(this.tiles(choice.range)));
    this.chart.element.hidden = none;
    if (!none) this.chart.set(data.steps, base?.steps ?? null);
    const step = data.steps.steps[choice.step];
    fill(
      this.averageSlot,
      !none &&
        stepSection(context, data.steps, base?.steps ?? null, choice, {
          title: step === undefined ? 'Average step' : `Step ${step.name} and the average`,
          note: this.slowestNote(),
          extremes: false,
        }),
    );
    this.showOps();
    this.showLatency();
    this.showNext();
    this.showEnvironment();
    this.showPlacement();
  }

  /** Of several hosts or cores the bars show one; in a single step another may be slower. */
  private slowestNote(): string {
    const { data } = this;
    if (data === null) return '';
    const mean = slowestOfEach(data.steps);
    const whose =
      stepsOf(data.steps.properties) || (data.steps.tpu && mean !== null ? 'the fastest core' : '');
    const other = data.steps.tpu ? 'core' : 'host';
    const waits = fraction(data.found['device_wait_percent']) ?? 0;
    return [
      whose === '' ? '' : `of ${whose}`,
      mean === null
        ? ''
        : `the slowest ${other} of each step takes ${microseconds(mean)} on average`,
      data.steps.tpu && waits >= 0.05
        ? `compute includes waiting for copies, ${percent(waits)} of operation time`
        : '',
    ]
      .filter((part) => part !== '')
      .join('; ');
  }

  private tiles(range: Range | null): Tile[] {
    const { data, base } = this;
    if (data === null) return [];
    const list: Tile[] = [];
    const hasBase = base !== null && base.steps.steps.length > 0;
    const shown = within(data.steps.steps, range);
    if (shown.length > 0) {
      list.push(averageTile(data.steps, range, base?.steps ?? null));
      const share = (label: string, hint: string, stems: string[]): void => {
        const value = shareOf(data.steps, range, ...stems);
        const other = hasBase ? shareOf(base.steps, null, ...stems) : null;
        if (
          value > 0 ||
          (other ?? 0) > 0 ||
          stems.includes('infeed') ||
          stems.includes('tc_infeed')
        ) {
          const perStep = {
            now: meanOf(data.steps, range, ...stems),
            base: hasBase ? meanOf(base.steps, null, ...stems) : null,
          };
          list.push({
            label,
            hint,
            value,
            format: asPercent,
            base: other,
            perStep,
            note: `${microseconds(perStep.now)} per step`,
          });
        }
      };
      share('Waiting for input', 'Share of step time spent waiting for input data', [
        'infeed',
        'tc_infeed',
        'scv0_infeed',
      ]);
      share('Device compute', 'Share of step time in which the device computes', [
        'device_compute',
        'tc_compute',
      ]);
      share('Kernel launch', 'Share of step time spent preparing and launching kernels', [
        'kernel_launch',
      ]);
      share('Host compute', 'Share of step time in which the host computes', ['host_compute']);
      share('Communication', 'Share of step time in transfers between devices and in collectives', [
        'device_to_device',
        'device_collectives',
      ]);
      share('Compilation', 'Share of step time spent compiling', ['compile']);
      share('Device idle', 'Share of step time in which the TensorCore is idle', ['tc_idle']);
    }
    const own = (label: string, hint: string, key: string, always: boolean): void => {
      const value = fraction(data.found[key]);
      const other = base === null ? null : fraction(base.found[key]);
      if (value !== null && (always || value > 0))
        list.push({ label, hint, value, format: asPercent, base: other });
    };
    const device = data.ops.length > 0;
    const tpu = /TPU/.test(data.environment['device_type'] ?? '');
    if (shown.length === 0)
      own(
        'Device idle',
        tpu
          ? 'Share of the time from the first operation to the last in which the device was idle'
          : 'Share of the captured time in which neither a kernel nor a copy ran',
        'device_idle_percent',
        true,
      );
    own(
      'Waiting for copies',
      'Share of device operation time in operations that only wait for a copy, a transfer or a collective to end',
      'device_wait_percent',
      false,
    );
    if (this.tellsPrecision())
      own(
        '16-bit compute',
        'Share of device compute in 16-bit precision',
        'device_compute_16bit_percent',
        fraction(data.analysis['device_compute_32bit_percent']) !== 0 && device,
      );
    own(
      'Device duty cycle',
      'Share of the time in which the device was busy, waiting for copies included',
      'device_duty_cycle_percent',
      false,
    );
    if (shown.length === 0) {
      own(
        'Ops on the device',
        'Share of executed operations that ran on the device',
        'device_tf_op_percent',
        device,
      );
      own(
        'Ops on the host',
        'Share of executed operations that ran on the host',
        'host_tf_op_percent',
        true,
      );
      own(
        'Eager, host',
        'Share of host operation time outside any tf.function',
        'host_op_time_eager_percent',
        true,
      );
    }
    return list.slice(0, 8);
  }

  private tellsPrecision(): boolean {
    return tellsPrecision(this.data?.environment['device_type'] ?? '');
  }

  private topTable(rows: readonly TopOp[]): PlainTableOptions<TopOp> {
    const { data, context } = this;
    const rates = rows.some((op) => (op.rate ?? 0) > 0);
    return {
      label: 'Top operations on the device',
      rows,
      columns: [
        { title: '#', value: (op) => op.rank, class: 'rank' },
        {
          title: 'Type',
          value: (op) => op.type,
          wide: true,
          class: 'type',
          cell: (op) =>
            op.type === '' || op.type === 'Unknown'
              ? h('span', { class: 'soft' }, op.type || '–')
              : op.type,
        },
        {
          title: 'Operation',
          value: (op) => op.name,
          class: 'code',
          cell: (op) =>
            context.has('framework_op_stats')
              ? h(
                  'a',
                  {
                    href: context.link('framework_op_stats', {
                      dev: 'device',
                      'f.operation': `=${op.name}`,
                    }),
                    title: op.name,
                  },
                  h('bdi', { dir: 'ltr' }, op.name),
                )
              : h('bdi', { dir: 'ltr', title: op.name }, op.name),
        },
        {
          title: 'Self',
          number: true,
          value: (op) => op.self,
          cell: (op) => {
            const bar = h('i', { class: 'bar', 'aria-hidden': 'true' });
            bar.style.setProperty('--bar', 'var(--device-compute)');
            bar.style.width = `${Math.round((op.self / Math.max(1e-9, rows[0]?.self ?? 1)) * 64)}px`;
            return h('span', { class: 'bar-cell' }, bar, percent(op.self));
          },
        },
        {
          title: 'Cumulative',
          number: true,
          wide: true,
          value: (op) => op.cumulative,
          cell: (op) => percent(op.cumulative),
        },
        ...(rates
          ? [
              {
                title: 'GFLOP/s',
                number: true,
                wide: true,
                value: (op: TopOp) => op.rate,
                cell: (op: TopOp) => (op.rate === null || op.rate === 0 ? '–' : fixed(op.rate, 1)),
              },
            ]
          : []),
        ...(data?.hasTensorCores === true
          ? [
              {
                title: 'TensorCore',
                wide: true,
                number: true,
                hint: 'Whether its kernels use TensorCores; “could” where the operation is eligible and they do not',
                value: (op: TopOp) => (op.uses ? 'yes' : op.eligible ? 'could' : ''),
                cell: (op: TopOp) =>
                  op.uses
                    ? h('span', { class: 'yes' }, 'yes')
                    : op.eligible
                      ? h('span', { class: 'worse' }, 'could')
                      : h('span', { class: 'no' }, '–'),
              },
            ]
          : []),
      ],
    };
  }

  private showOps(): void {
    const { data, context } = this;
    if (data === null) return;
    const filter = textFilter(context.url.get('q'), context.url.get('re') === '1');
    const rows = data.ops.filter((op) => filter.test(`${op.type}\n${op.name}`));
    const acts = [
      ...(context.has('framework_op_stats')
        ? [h('a', { class: 'button', href: context.link('framework_op_stats') }, 'All operations')]
        : []),
      ...(data.ops.length > 0 ? [csvButton('top_operations', () => this.topTable(rows))] : []),
    ];
    fill(
      this.opsSlot,
      section(
        'Top operations on the device',
        data.ops.length > 0 ? 'by self time' : '',
        acts,
        data.ops.length === 0
          ? h(
              'p',
              { class: 'soft' },
              'No device operations were recorded. The operations of the host are in TF stats.',
            )
          : rows.length === 0
            ? nothingMatches('operations', () => context.url.set({ q: null, re: null }))
            : plainTable(this.topTable(rows)),
      ),
    );
  }

  private latencyTable(): PlainTableOptions<Latency> {
    const time = (
      title: string,
      of: (row: Latency) => number,
      wide = true,
    ): PlainTableOptions<Latency>['columns'][number] => ({
      title,
      number: true,
      wide,
      value: of,
      cell: (row) => microseconds(of(row)),
    });
    return {
      label: 'Inference latency',
      rows: this.data?.latency ?? [],
      columns: [
        { title: 'Percentile', value: (row) => row.percentile },
        time('Total', (row) => row.total, false),
        time('Host', (row) => row.host),
        time('Device', (row) => row.device),
        time('Host–device communication', (row) => row.communication),
      ],
    };
  }

  private showLatency(): void {
    fill(
      this.latencySlot,
      (this.data?.latency.length ?? 0) > 0 &&
        section(
          'Inference latency',
          'sessions of the model server',
          [csvButton('inference_latency', () => this.latencyTable())],
          plainTable(this.latencyTable()),
        ),
    );
  }

  private showNext(): void {
    const { data, context } = this;
    if (data === null) return;
    const none = data.steps.steps.length === 0;
    const list = h('ol', { class: 'advice' });
    for (const one of advice(data.found)) {
      list.append(
        h(
          'li',
          {},
          one.text,
          one.link !== null &&
            context.has(one.link.tool) &&
            h(
              'span',
              {},
              ' ',
              h('a', { href: context.link(one.link.tool, one.link.params) }, one.link.label),
            ),
          one.limits !== '' && h('small', { class: 'soft' }, ` ${one.limits}`),
        ),
      );
    }
    if (data.found['bottleneck'] === 'device') {
      list.append(
        h(
          'li',
          {},
          'The time is spent in the step itself. Look at the operations that take most of it.',
          ' ',
          context.has('framework_op_stats') &&
            h('a', { href: context.link('framework_op_stats') }, 'Operations by time'),
        ),
      );
    }
    if (none)
      list.append(h('li', {}, 'Mark the steps of the program, as shown, and capture again.'));
    const skip = new Set(
      (data.found['non_bottleneck_tip_types'] ?? '').split(',').map((type) => type.trim()),
    );
    const groups = new Map<string, string[]>();
    for (const tip of data.tips) {
      if (!skip.has(tip.type)) groups.set(tip.title, [...(groups.get(tip.title) ?? []), tip.text]);
    }
    const more = h('details', { class: 'tips' }, h('summary', {}, 'Further reading'));
    for (const [title, tips] of groups) {
      more.append(
        h('h3', {}, title),
        h('ul', {}, ...tips.map((tip) => h('li', {}, ...this.tip(tip)))),
      );
    }
    fill(
      this.nextSlot,
      section(
        'What to do next',
        '',
        [],
        list.childElementCount > 0
          ? list
          : h('p', { class: 'soft' }, 'Nothing exceeds the profiler’s limits.'),
        groups.size > 0 && more,
      ),
    );
  }

  private tip(tip: string): Child[] {
    return pieces(tip, this.context.named).map((piece) => {
      if (piece.href !== undefined)
        return h(
          'a',
          { href: piece.href, target: '_blank', rel: 'noopener noreferrer' },
          piece.text,
        );
      if (piece.tool !== undefined && this.context.has(piece.tool))
        return h('a', { href: this.context.link(piece.tool) }, piece.text);
      return piece.text;
    });
  }

  private showEnvironment(): void {
    const { data } = this;
    if (data === null) return;
    const { environment, analysis } = data;
    const facts = h('dl', { class: 'facts' });
    const fact = (name: string, value: string | null | undefined, what?: string): void => {
      if (value !== null && value !== undefined && value !== '')
        facts.append(h('dt', what === undefined ? {} : { title: what }, name), h('dd', {}, value));
    };
    const captures = this.files?.captures ?? [];
    const names = captures.map((capture) => capture.host);
    const hosts = names.length > 0 ? names.length : Number(environment['host_count'] ?? 0);
    fact(
      'Hosts',
      names.length === 1
        ? names[0]
        : names.length <= 3 && names.length > 0
          ? names.join(', ')
          : names.length > 3
            ? `${count(hosts)} (${names[0]} … ${names[names.length - 1]})`
            : hosts > 0
              ? count(hosts)
              : null,
    );
    fact('Tasks', tasks(environment['task_count'] ?? '', hosts));
    const devices = environment['device_core_count'] ?? '';
    const type = environment['device_type'] ?? this.info?.device_type ?? '';
    fact(
      'Devices',
      type === ''
        ? null
        : /^(0|)$/.test(devices)
          ? `${type} only`
          : `${devices.replace(/^(\d+)/, '$1 ×')} ${type}`.replace(/^1 × /, ''),
    );
    fact(
      'Steps',
      data.steps.steps.length === 0
        ? 'none marked'
        : sourceText(data.steps.properties) === ''
          ? count(data.steps.steps.length)
          : `none marked; ${plural(data.steps.steps.length, 'execution')} of a module`,
    );
    const training = environment['is_training'];
    fact('Kind', training === 'true' ? 'training' : null);
    if (captures.length > 0) {
      fact(
        'Captured',
        microseconds(Math.max(...captures.map((capture) => capture.duration_ms)) * 1000),
        WORDS.captured,
      );
      fact(
        'Events',
        `${count(captures.reduce((sum, capture) => sum + capture.events, 0))} recorded`,
        WORDS.recorded,
      );
      const size = captures.reduce((sum, capture) => sum + capture.bytes, 0);
      fact(
        'Size',
        captures.length === 1
          ? joined(bytes(size))
          : `${joined(bytes(size))} in ${plural(captures.length, 'file')}`,
      );
    }
    const level = analysis['host_trace_level'] ?? '';
    fact('Host tracer', /^[1-9]\d*$/.test(level) ? `level ${level}` : null);
    const entries = this.files?.entries ?? [];
    if (this.files !== null)
      fact('Warnings', entries.length === 0 ? 'none' : plural(entries.length, 'message'));
    for (const job of data.jobs) {
      fact(job.host || 'Job', [job.command, job.start].filter((part) => part !== '').join(' · '));
    }
    fill(this.environmentSlot, section('Run environment', '', [], facts));
  }

  private showPlacement(): void {
    const { data, base } = this;
    if (data === null) return;
    const facts = h('dl', { class: 'facts' });
    const fact = (name: string, key: string, hideZero = false): void => {
      const value = fraction(data.analysis[key]);
      if (value === null || (hideZero && value === 0)) return;
      const other = base === null ? null : fraction(base.analysis[key]);
      const points = other === null ? 0 : (value - other) * 100;
      facts.append(
        h('dt', {}, name),
        h(
          'dd',
          {},
          percent(value),
          other !== null &&
            h(
              'span',
              { class: 'soft' },
              ` ${Math.abs(points) < 0.05 ? 'as base' : `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(1)} points`}`,
            ),
        ),
      );
    };
    fact('Ops on the device', 'device_tf_op_percent');
    fact('Ops on the host', 'host_tf_op_percent');
    fact('Eager, host', 'host_op_time_eager_percent');
    fact('Eager, device', 'device_op_time_eager_percent');
    const precise =
      this.tellsPrecision() &&
      (fraction(data.analysis['device_compute_16bit_percent']) ?? 0) +
        (fraction(data.analysis['device_compute_32bit_percent']) ?? 0) >
        0;
    if (precise) {
      fact('16-bit compute', 'device_compute_16bit_percent');
      fact('32-bit compute', 'device_compute_32bit_percent');
    }
    fact('Matrix unit in use', 'mxu_utilization_percent', true);
    fact('Memory bandwidth in use', 'hbm_utilization_percent', true);
    fact('FLOP rate of roofline', 'flop_rate_utilization_relative_to_roofline', true);
    fact('Bandwidth of hardware limit', 'memory_bw_utilization_relative_to_hw_limit', true);
    fact('Goodput', 'program_goodput_percent', true);
    const host = fraction(data.analysis['host_op_time_eager_percent']) ?? 0;
    fill(
      this.placementSlot,
      section(
        'Placement and precision',
        '',
        [],
        facts,
        host > 0 &&
          this.context.has('framework_op_stats') &&
          h(
            'p',
            {},
            h(
              'a',
              {
                href: this.context.link('framework_op_stats', {
                  dev: 'host',
                  'f.eager': '=Eager',
                  cols: 'eager',
                }),
              },
              'Eager operations',
            ),
          ),
      ),
    );
  }
}

export const page: PageType = (context) => new OverviewPage(context);
