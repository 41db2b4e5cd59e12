// SPDX-License-Identifier: Apache-2.0
// Pod viewer: the same step on every host, to find the ones that hold up the others.

import { getJson } from '../core/api';
import { ChartCard } from '../components/chart_card';
import { microseconds } from '../components/charts';
import { timeColumn } from '../components/columns';
import { coreColumns, times } from '../components/core_columns';
import { DataTable } from '../components/data_table';
import { HeatMap } from '../components/heat_map';
import { noSteps } from '../components/no_steps';
import { csvButton, plainTable, section, type PlainTableOptions } from '../components/plain_table';
import { Segmented } from '../components/segmented';
import { button, iconButton } from '../components/states';
import { sourceNote } from '../components/step_page';
import { keyed } from '../components/step_table';
import { tiles, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { verdictBar } from '../components/verdict';
import { downloadText, toCsv } from '../core/csv';
import { fill, h } from '../core/dom';
import { count, duration, percent, plural, timeUnit } from '../core/format';
import type { Page, PageContext, PageType } from '../core/page';
import {
  cellValue,
  coreTimes,
  readPod,
  stepTimes,
  type CoreTime,
  type Metric,
  type Pod,
  type PodAnswer,
  type StepTime,
} from '../core/pod';
import { findStep, formatRange, median, parseRange, sourceText, type Range } from '../core/steps';
import { tracePlace } from '../core/trace_link';
import type { Column } from '../core/table_view';

/** More columns than this cannot be told apart; the slowest are shown. */
const MOST_COLUMNS = 96;
const PLAY_MS = 700;
const STRAGGLERS = 8;
/** Slower than this many medians is worth a line. */
const SLOW = 1.05;
const STEP_TIME: Metric = { key: 'step', label: 'Step time', token: 'accent' };

class PodViewerPage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<Pod>;
  private readonly top = h('div', {});
  private readonly missing = h('div', {});
  private readonly content = h('div', {});
  private readonly tileSlot = h('div', {});
  private readonly slider = h('input', {
    type: 'range',
    min: '0',
    step: '1',
    'aria-label': 'Step',
  });
  private readonly stepLabel = h('output', { class: 'step-label' });
  private readonly play: HTMLButtonElement;
  private readonly metric = h('select', { 'aria-label': 'Colour of the heat map' });
  private readonly order: Segmented;
  private readonly allSteps: HTMLButtonElement;
  private readonly columnsCard: ChartCard;
  private readonly heat = new HeatMap();
  private readonly heatNote = h('small', {});
  private readonly heatSection: HTMLElement;
  private readonly cardSlot = h('aside', { class: 'core-card', 'aria-label': 'One core' });
  private readonly slowSlot = h('div', {});
  private readonly table: DataTable<CoreTime>;
  private readonly removeKeys: (() => void)[];
  private pod: Pod | null = null;
  private base: Pod | null = null;
  private rows: CoreTime[] = [];
  private rowsKey = '';
  private version = 0;
  private timer: number | undefined;

  constructor(private readonly context: PageContext) {
    const { url, keys } = context;
    this.slider.addEventListener('input', () => {
      const range = this.range();
      const at = Number(this.slider.value);
      url.set(
        { step: at === 0 ? null : (this.pod?.steps[(range?.from ?? 0) + at - 1] ?? null) },
        'replace',
      );
    });
    this.play = button('Play', () => this.togglePlay());
    this.metric.addEventListener('change', () =>
      url.set({ metric: this.metric.value === STEP_TIME.key ? null : this.metric.value }),
    );
    this.order = new Segmented(
      'Order of the cores',
      [
        { value: 'core', label: 'In order' },
        { value: 'slow', label: 'Slowest first' },
      ],
      (value) => url.set({ order: value === 'core' ? null : value }),
    );
    this.columnsCard = new ChartCard({
      title: 'Step time of each core',
      name: 'cores',
      controls: [this.order.element],
    });
    this.allSteps = button('All steps', () => url.set({ steps: null }));
    this.table = new DataTable<CoreTime>({
      title: 'Cores',
      name: 'pod_viewer',
      url,
      key: (row) => this.pod?.cores[row.core]?.id ?? '',
      defaultSort: '-total',
      open: (row) => this.choose(row.core),
      onSeen: () => undefined,
      say: context.say,
    });
    this.heatSection = h(
      'section',
      { class: 'card', 'aria-label': 'Hosts and steps' },
      h(
        'header',
        { class: 'card-head' },
        h('h2', {}, 'Hosts and steps'),
        this.heatNote,
        h(
          'div',
          { class: 'acts' },
          h('label', { class: 'select' }, h('span', {}, 'Colour'), this.metric),
          button('CSV', () => this.saveHeat()),
        ),
      ),
      this.heat.element,
    );
    this.content.append(
      this.tileSlot,
      h(
        'div',
        { class: 'stepper', role: 'group', 'aria-label': 'Step' },
        iconButton('previous', 'Previous step (p)', () => this.move(-1)),
        this.play,
        iconButton('next', 'Next step (n)', () => this.move(1)),
        this.slider,
        this.stepLabel,
        this.allSteps,
      ),
      h(
        'div',
        { class: 'pod-grid' },
        h('div', { class: 'pod-main' }, this.columnsCard.element, this.heatSection),
        h('div', { class: 'pod-side' }, this.cardSlot, this.slowSlot),
      ),
      this.table.element,
    );
    this.view = new ToolView<Pod>(context, {
      title: context.tool?.title ?? 'Pod viewer',
      tool: 'pod_viewer',
      content: h('div', {}, this.top, this.missing, this.content),
      fetch: async (query, signal) => readPod(await getJson<PodAnswer>('data', query, signal)),
      ready: (data, base) => {
        this.pod = data;
        this.base = base;
        this.version += 1;
        this.refresh();
      },
      changed: () => this.refresh(),
    });
    this.element = this.view.element;
    const group = 'Steps';
    this.removeKeys = [
      keys.add({
        keys: 'n',
        what: 'Next step',
        group,
        run: (event) => {
          event.preventDefault();
          this.move(1);
        },
      }),
      keys.add({
        keys: 'p',
        what: 'Previous step',
        group,
        run: (event) => {
          event.preventDefault();
          this.move(-1);
        },
      }),
      keys.add({
        keys: 'Escape',
        what: 'Clear the chosen step',
        group,
        run: (event) => {
          const key = ['step', 'steps'].find((one) => url.get(one) !== '');
          if (
            key === undefined ||
            url.get('sel') !== '' ||
            document.querySelector('dialog[open]') !== null
          )
            return;
          this.stop();
          url.set({ [key]: null });
          event.preventDefault();
        },
      }),
    ];
  }

  update(): void {
    this.view.update();
  }

  destroy(): void {
    this.stop();
    for (const remove of this.removeKeys) remove();
    this.view.destroy();
    this.columnsCard.destroy();
    this.heat.destroy();
    this.table.destroy();
  }

  private range(): Range | null {
    return this.pod === null ? null : parseRange(this.context.url.get('steps'), this.pod.steps);
  }

  /** Place of the chosen step; -1 stands for the mean of all in sight. */
  private step(): number {
    const wanted = this.context.url.get('step');
    return findStep(wanted, this.pod?.steps ?? []);
  }

  private shownSteps(): Range {
    const step = this.step();
    if (step >= 0) return { from: step, to: step };
    return this.range() ?? { from: 0, to: Math.max(0, (this.pod?.steps.length ?? 1) - 1) };
  }

  private choose(core: number): void {
    const id = this.pod?.cores[core]?.id ?? null;
    this.context.url.set({ sel: this.context.url.get('sel') === id ? null : id });
  }

  private move(by: number): void {
    const { pod } = this;
    if (pod === null || pod.steps.length === 0) return;
    const { from, to } = this.range() ?? { from: 0, to: pod.steps.length - 1 };
    const now = this.step();
    const next = now < 0 ? (by > 0 ? from : to) : Math.min(to, Math.max(from, now + by));
    this.context.url.set({ step: pod.steps[next] ?? null }, 'replace');
    if (this.timer === undefined) this.context.say(`Step ${pod.steps[next] ?? ''}`);
  }

  private togglePlay(): void {
    if (this.timer !== undefined) {
      this.stop();
      return;
    }
    const last = this.range()?.to ?? (this.pod?.steps.length ?? 0) - 1;
    if (this.step() >= last) this.context.url.set({ step: null }, 'replace');
    this.timer = window.setInterval(() => {
      if (this.step() >= last) this.stop();
      else this.move(1);
    }, PLAY_MS);
    this.play.textContent = 'Pause';
    this.move(1);
  }

  private stop(): void {
    window.clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = 'Play';
  }

  private refresh(): void {
    const { pod, base, context } = this;
    if (pod === null) return;
    const none = pod.steps.length === 0 || pod.cores.length === 0;
    const messages = pod.messages.filter(
      ({ message }) => !(none && /step marker|no step was marked/i.test(message)),
    );
    fill(
      this.top,
      sourceNote(context, pod.found),
      messages.length > 0 && verdictBar(messages),
      !none &&
        pod.cores.length === 1 &&
        h(
          'div',
          { class: 'verdict info' },
          h('b', {}, 'One host'),
          h(
            'span',
            {},
            pod.steps.length === 1
              ? 'With one step of one host there is nothing to compare.'
              : 'There is no other host to compare it with, so its steps are compared with each other.',
          ),
        ),
    );
    fill(
      this.missing,
      none &&
        noSteps(
          'The pod viewer compares steps, so it has nothing to show.',
          pod.moduleSteps,
          () => context.url.set({ step_source: 'module' }),
          context.has('overview_page') &&
            h(
              'p',
              {},
              h(
                'a',
                { href: context.link('overview_page') },
                'Open the overview, which does not need steps',
              ),
            ),
        ),
    );
    this.content.hidden = none;
    if (none) return;
    const { from, to } = this.shownSteps();
    this.rows = coreTimes(pod, from, to);
    this.showSlider();
    fill(this.tileSlot, tiles(this.tiles(pod, base)));
    this.order.show(context.url.get('order') === 'slow' ? 'slow' : 'core');
    this.order.element.toggleAttribute(
      'hidden',
      pod.cores.length < 2 || pod.cores.length > MOST_COLUMNS,
    );
    this.showColumns(pod, base);
    this.showHeat(pod);
    this.showCard(pod);
    this.showSlow(pod);
    this.showTable(pod);
  }

  private stepsText(): string {
    const { pod } = this;
    const { from, to } = this.shownSteps();
    if (pod === null) return '';
    if (this.step() >= 0 || from === to) return `Step ${pod.steps[from] ?? ''}`;
    const n = to - from + 1;
    return n === pod.steps.length
      ? `Mean of ${plural(n, 'step')}`
      : `Mean of steps ${formatRange({ from, to }, pod.steps)}`;
  }

  private showSlider(): void {
    const { pod } = this;
    if (pod === null) return;
    const range = this.range() ?? { from: 0, to: pod.steps.length - 1 };
    const step = this.step();
    this.slider.max = String(range.to - range.from + 1);
    this.slider.value = String(step < 0 ? 0 : step - range.from + 1);
    this.slider.setAttribute('aria-valuetext', this.stepsText());
    this.stepLabel.textContent = this.stepsText();
    this.allSteps.hidden = this.range() === null;
  }

  private tiles(pod: Pod, base: Pod | null): Tile[] {
    const slowest = (rows: readonly CoreTime[]): number =>
      rows.reduce((most, row) => Math.max(most, row.total), 0);
    const middle = (rows: readonly CoreTime[]): number => median(rows.map((row) => row.total));
    const baseRows =
      base === null || base.steps.length === 0 ? null : coreTimes(base, 0, base.steps.length - 1);
    const ratio = (rows: readonly CoreTime[]): number =>
      middle(rows) === 0 ? 1 : slowest(rows) / middle(rows);
    const many = pod.cores.length > 1;
    const worst = this.rows.reduce<CoreTime | null>(
      (most, row) => (most === null || row.total > most.total ? row : most),
      null,
    );
    const spent = pod.categories
      .map((metric, index) => ({
        metric,
        us: this.rows.reduce((sum, row) => sum + (row.values[index] ?? 0), 0),
      }))
      .sort((a, b) => b.us - a.us);
    const whole = this.rows.reduce((sum, row) => sum + row.total, 0);
    const list: Tile[] = [];
    if (many) {
      list.push({
        label: 'Slowest core',
        hint: 'Step time of the slowest core: all others wait for it',
        value: slowest(this.rows),
        format: duration,
        better: 'lower',
        note: worst === null ? '' : (pod.cores[worst.core]?.label ?? ''),
        base: baseRows === null ? null : slowest(baseRows),
      });
    }
    list.push({
      label: many ? 'Median core' : 'Step time',
      hint: 'Step time of the core in the middle',
      value: middle(this.rows),
      format: duration,
      better: 'lower',
      base: baseRows === null ? null : middle(baseRows),
      ...(many ? {} : { note: this.stepsText() }),
    });
    if (many) {
      list.push({
        label: 'Slowest to median',
        hint: 'How much longer the slowest core takes than the median core',
        value: ratio(this.rows),
        format: (value) => ({ value: value.toFixed(2), unit: '×' }),
        base: baseRows === null ? null : ratio(baseRows),
        perStep: {
          now: slowest(this.rows) - middle(this.rows),
          base: baseRows === null ? null : slowest(baseRows) - middle(baseRows),
        },
      });
      list.push({
        label: 'Cores',
        hint: 'Cores with steps',
        value: this.rows.length,
        format: (value) => ({ value: count(value), unit: '' }),
        note: `on ${plural(new Set(pod.cores.map((core) => core.host)).size, 'host')}`,
      });
    }
    const [first] = spent;
    if (first !== undefined && first.us > 0)
      list.push({
        label: 'Largest part',
        hint: 'The category that takes most of the step time',
        value: first.us / whole,
        format: (value) => ({ value: percent(value).replace(' %', ''), unit: '%' }),
        note: `${first.metric.label}${many ? ', mean of all cores' : ''}`,
      });
    return list;
  }

  private showColumns(pod: Pod, base: Pod | null): void {
    const crowded = this.rows.length > MOST_COLUMNS;
    const slow = crowded || this.context.url.get('order') === 'slow';
    const sorted = slow ? [...this.rows].sort((a, b) => b.total - a.total) : this.rows;
    const shown = sorted.slice(0, MOST_COLUMNS);
    const baseRows =
      base === null || base.steps.length === 0 ? null : coreTimes(base, 0, base.steps.length - 1);
    const baseMedian = baseRows === null ? null : median(baseRows.map((row) => row.total));
    const middle = median(this.rows.map((row) => row.total));
    const selected = this.context.url.get('sel');
    const used = pod.categories.filter((_metric, index) =>
      this.rows.some((row) => (row.values[index] ?? 0) > 0),
    );
    const stepsText = this.stepsText();
    const config = (): ReturnType<typeof coreColumns> =>
      coreColumns({ pod, rows: shown, stepsText, selected, median: middle, base: baseMedian });
    this.columnsCard.title(
      pod.cores.length === 1 ? 'Step time' : 'Step time of each core',
      `${[sourceText(pod.found), this.stepsText()].filter((part) => part !== '').join('; ')}${crowded ? `; the ${MOST_COLUMNS} slowest of ${count(this.rows.length)}` : ''}`,
    );
    const worst = [...this.rows].sort((a, b) => b.total - a.total)[0];
    this.columnsCard.set({
      signature: JSON.stringify([
        this.version,
        this.shownSteps(),
        slow,
        selected,
        this.context.url.get('base'),
      ]),
      config,
      height: 250,
      summary: `${this.stepsText()} on ${plural(this.rows.length, 'core')}: median ${microseconds(middle)}${worst === undefined ? '' : `, slowest ${pod.cores[worst.core]?.label ?? ''} with ${microseconds(worst.total)}`}.`,
      head: [
        'Core',
        'Step time',
        'Times the median',
        'Most',
        ...used.map((metric) => metric.label),
      ],
      rows: shown.map((row) => [
        pod.cores[row.core]?.label ?? '',
        row.total,
        row.ratio,
        row.bottleneck?.label ?? '',
        ...used.map((metric) => row.values[pod.categories.indexOf(metric)] ?? 0),
      ]),
      text: (cell, column) =>
        typeof cell !== 'number'
          ? String(cell ?? '–')
          : column === 2
            ? times(cell)
            : microseconds(cell),
      legend: [
        ...used.map((metric) => ({ label: metric.label, token: metric.token })),
        ...(shown.length > 1 ? [{ label: 'Median', token: 'ink', line: true }] : []),
        ...(baseMedian === null
          ? []
          : [
              {
                label: `Median of the base run, ${microseconds(baseMedian)}`,
                token: 'ink',
                dashed: true,
              },
            ]),
      ],
      pick: (index) => {
        const row = shown[index];
        if (row !== undefined) this.choose(row.core);
      },
    });
  }

  private metricIndex(): number {
    return (
      this.pod?.categories.findIndex((metric) => metric.key === this.context.url.get('metric')) ??
      -1
    );
  }

  private showHeat(pod: Pod): void {
    const { context } = this;
    const index = this.metricIndex();
    const metric = pod.categories[index] ?? STEP_TIME;
    fill(
      this.metric,
      ...[STEP_TIME, ...pod.categories].map((one) =>
        h('option', { value: one.key, selected: one.key === metric.key }, one.label),
      ),
    );
    this.metric.value = metric.key;
    const { from, to } = this.shownSteps();
    const everything = from === 0 && to === pod.steps.length - 1;
    const selected = pod.cores.findIndex((core) => core.id === context.url.get('sel'));
    let worst = { core: 0, step: 0, value: -1 };
    for (let core = 0; core < pod.cores.length; core += 1) {
      for (let step = 0; step < pod.steps.length; step += 1) {
        const value = cellValue(pod, step, core, index);
        if (value > worst.value) worst = { core, step, value };
      }
    }
    const how =
      pod.cores.length > 420
        ? `${count(pod.cores.length)} cores; a pixel shows the slowest of those in it`
        : 'choose a cell to see that core in that step';
    this.heatNote.textContent = [sourceText(pod.found), how]
      .filter((part) => part !== '')
      .join('; ');
    this.heat.set({
      rows: pod.cores.length,
      columns: pod.steps.length,
      token: metric.token === 'line' ? 'accent' : metric.token,
      format: microseconds,
      value: (row, column) => cellValue(pod, column, row, index),
      rowLabel: (row) => pod.cores[row]?.short ?? '',
      columnLabel: (column) => pod.steps[column] ?? '',
      describe: (row, column) => {
        const value = cellValue(pod, column, row, index);
        const total = cellValue(pod, column, row, -1);
        return [
          `${pod.cores[row]?.label ?? ''}, step ${pod.steps[column] ?? ''}`,
          Number.isNaN(value) ? 'no such step here' : `${metric.label}: ${microseconds(value)}`,
          ...(index >= 0 && total > 0
            ? [`${percent(value / total)} of ${microseconds(total)}`]
            : []),
        ];
      },
      summary: `${metric.label} of ${plural(pod.cores.length, 'core')} in ${plural(pod.steps.length, 'step')}; the largest is ${microseconds(Math.max(0, worst.value))}, ${pod.cores[worst.core]?.label ?? ''} in step ${pod.steps[worst.step] ?? ''}. The table of cores below holds the same.`,
      row: selected,
      from: everything ? -1 : from,
      to,
      pick: (row, column) =>
        context.url.set({ step: pod.steps[column] ?? null, sel: pod.cores[row]?.id ?? null }),
    });
  }

  private saveHeat(): void {
    const { pod } = this;
    if (pod === null) return;
    const index = this.metricIndex();
    downloadText(
      'hosts_and_steps.csv',
      toCsv(
        ['Core', 'Host', ...pod.steps.map((step) => `Step ${step} (µs)`)],
        pod.cores.map((core, row) => [
          core.id,
          core.host,
          ...pod.steps.map((_step, column) => {
            const value = cellValue(pod, column, row, index);
            return Number.isNaN(value) ? null : value;
          }),
        ]),
      ),
      'text/csv',
    );
  }

  /** The chosen core, or the slowest while none is. */
  private showCard(pod: Pod): void {
    const selected = this.context.url.get('sel');
    const chosen = this.rows.find((row) => pod.cores[row.core]?.id === selected);
    const row = chosen ?? [...this.rows].sort((a, b) => b.total - a.total)[0];
    const core = row === undefined ? undefined : pod.cores[row.core];
    if (row === undefined || core === undefined) {
      fill(this.cardSlot, h('p', { class: 'soft' }, 'No core ran this step.'));
      return;
    }
    const facts = h(
      'dl',
      { class: 'facts' },
      h('dt', {}, 'Host'),
      h('dd', {}, core.host || '–'),
      h('dt', {}, 'Core'),
      h('dd', {}, core.id),
      h('dt', {}, 'Step time'),
      h('dd', {}, microseconds(row.total)),
      this.rows.length > 1 && h('dt', {}, 'Ratio to the median'),
      this.rows.length > 1 && h('dd', {}, times(row.ratio)),
      h('dt', {}, 'Most'),
      h('dd', {}, row.bottleneck === null ? 'not known' : row.bottleneck.label),
    );
    const parts = pod.categories
      .map((metric, index) => ({ metric, us: row.values[index] ?? 0 }))
      .filter((part) => part.us > 0);
    fill(
      this.cardSlot,
      h(
        'header',
        {},
        h('h2', { title: core.label }, core.label),
        h(
          'small',
          { class: 'soft' },
          chosen === undefined && this.rows.length > 1
            ? `the slowest; ${this.stepsText().toLowerCase()}`
            : this.stepsText(),
        ),
      ),
      facts,
      this.context.has('trace_viewer') &&
        this.context.url.get('step') !== '' &&
        h(
          'p',
          {},
          h(
            'a',
            {
              class: 'button',
              href: this.context.link('trace_viewer', {
                ...tracePlace({ step: this.context.url.get('step') }),
                ...(core.host === '' || this.context.url.get('host') !== ''
                  ? {}
                  : { host: core.host }),
              }),
            },
            'Show in the trace',
          ),
        ),
      plainTable({
        label: `Categories of ${core.label}`,
        rows: parts,
        columns: [
          {
            title: 'Category',
            value: (part) => part.metric.label,
            cell: (part) => keyed(part.metric.label, part.metric.token),
          },
          {
            title: 'Time',
            number: true,
            value: (part) => part.us,
            cell: (part) => microseconds(part.us),
          },
          {
            title: 'Share',
            number: true,
            value: (part) => part.us / row.total,
            cell: (part) => percent(part.us / row.total),
          },
        ],
      }),
    );
  }

  private showSlow(pod: Pod): void {
    const excess = (of: CoreTime['excess']): { why: string; by: number } =>
      of === null ? { why: '–', by: 0 } : { why: of.metric.label, by: of.by };
    const [only] = pod.cores;
    if (pod.cores.length === 1 && only !== undefined) {
      const list = stepTimes(pod, 0)
        .filter((row) => row.ratio >= SLOW)
        .sort((a, b) => b.total - a.total)
        .slice(0, STRAGGLERS);
      const options: PlainTableOptions<StepTime> = {
        label: 'Slow steps',
        rows: list,
        columns: [
          {
            title: 'Step',
            value: (row) => pod.steps[row.step] ?? '',
            cell: (row) =>
              h(
                'button',
                {
                  type: 'button',
                  class: 'linklike',
                  on: { click: () => this.context.url.set({ step: pod.steps[row.step] ?? null }) },
                },
                pod.steps[row.step] ?? '',
              ),
          },
          {
            title: 'Because of',
            value: (row) => excess(row.excess).why,
            cell: (row) =>
              row.excess === null ? '–' : keyed(row.excess.metric.label, row.excess.metric.token),
          },
          {
            title: '× median',
            number: true,
            value: (row) => row.ratio,
            cell: (row) => times(row.ratio),
          },
          {
            title: 'Time',
            number: true,
            value: (row) => row.total,
            cell: (row) => microseconds(row.total),
          },
        ],
      };
      fill(
        this.slowSlot,
        section(
          'Slow steps',
          '',
          list.length > 0 ? [csvButton('slow_steps', () => options)] : [],
          list.length > 0
            ? plainTable(options)
            : h('p', { class: 'soft' }, 'No step takes more than 5 % longer than the median.'),
        ),
      );
      return;
    }
    const list = this.rows
      .filter((row) => row.ratio >= SLOW)
      .sort((a, b) => b.total - a.total)
      .slice(0, STRAGGLERS);
    const options: PlainTableOptions<CoreTime> = {
      label: 'Stragglers',
      rows: list,
      columns: [
        {
          title: 'Core',
          value: (row) => pod.cores[row.core]?.label ?? '',
          cell: (row) =>
            h(
              'button',
              { type: 'button', class: 'linklike', on: { click: () => this.choose(row.core) } },
              pod.cores[row.core]?.label ?? '',
            ),
        },
        {
          title: 'Because of',
          hint: 'The category furthest above the median of all cores',
          value: (row) => excess(row.excess).why,
          cell: (row) =>
            row.excess === null
              ? '–'
              : h(
                  'span',
                  { title: `${microseconds(row.excess.by)} above the median` },
                  keyed(row.excess.metric.label, row.excess.metric.token),
                ),
        },
        {
          title: '× median',
          number: true,
          value: (row) => row.ratio,
          cell: (row) => times(row.ratio),
        },
        {
          title: 'Over by',
          number: true,
          hint: 'How far that category is above the median of all cores',
          value: (row) => excess(row.excess).by,
          cell: (row) => microseconds(excess(row.excess).by),
        },
      ],
    };
    fill(
      this.slowSlot,
      section(
        'Stragglers',
        '',
        list.length > 0 ? [csvButton('stragglers', () => options)] : [],
        list.length > 0
          ? plainTable(options)
          : h('p', { class: 'soft' }, 'No core takes more than 5 % longer than the median.'),
      ),
    );
  }

  private showTable(pod: Pod): void {
    const key = JSON.stringify([this.version, this.shownSteps()]);
    if (key === this.rowsKey) {
      this.table.update();
      return;
    }
    this.rowsKey = key;
    const { rows } = this;
    // Parts of a step are compared with each other: one unit for all of them.
    const unit = timeUnit(rows.map((row) => row.total));
    const single = this.shownSteps().from === this.shownSteps().to;
    const used = pod.categories
      .map((metric, index) => ({ metric, index }))
      .filter(({ index }) => rows.some((row) => (row.values[index] ?? 0) > 0));
    const columns: Column<CoreTime>[] = [
      {
        id: 'host',
        title: 'Host',
        kind: 'text',
        grow: true,
        narrow: true,
        width: 150,
        value: (row) => pod.cores[row.core]?.host ?? '',
        hint: 'Host of the core',
      },
      {
        id: 'core',
        title: 'Core',
        kind: 'number',
        width: 70,
        value: (row) => Number(pod.cores[row.core]?.id ?? 0),
        hint: 'Number of the core',
      },
      timeColumn(
        rows,
        'total',
        'Step (µs)',
        (row) => row.total,
        { narrow: true, hint: single ? 'Step time' : 'Mean step time' },
        unit,
      ),
      {
        id: 'ratio',
        title: '× median',
        kind: 'number',
        width: 88,
        narrow: true,
        value: (row) => row.ratio,
        text: (cell) => (typeof cell === 'number' ? cell.toFixed(2) : '–'),
        hint: 'Step time divided by that of the median core',
      },
      {
        id: 'bottleneck',
        title: 'Most',
        kind: 'text',
        quiet: true,
        width: 130,
        value: (row) => row.bottleneck?.label ?? '',
        hint: 'The category that takes most of the step',
      },
      ...used.map(({ metric, index }) =>
        timeColumn(
          rows,
          metric.key,
          `${metric.label} (µs)`,
          (row: CoreTime) => row.values[index] ?? 0,
          { width: 158, hint: `Part of the step: ${metric.label}` },
          unit,
        ),
      ),
      ...(single
        ? []
        : [
            timeColumn(
              rows,
              'max',
              'Longest (µs)',
              (row: CoreTime) => row.max,
              { width: 104, hint: 'Its longest step' },
              unit,
            ),
            {
              id: 'slowest',
              title: 'in step',
              kind: 'text' as const,
              quiet: true,
              width: 76,
              value: (row: CoreTime) => pod.steps[row.slowestStep] ?? '',
              hint: 'The step that took it longest',
            },
          ]),
    ];
    this.table.set({ rows, columns, noun: rows.length === 1 ? 'core' : 'cores' });
  }
}

export const page: PageType = (context) => new PodViewerPage(context);
