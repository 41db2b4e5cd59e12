// SPDX-License-Identifier: Apache-2.0
// The landing list: every run the server knows, newest first.

import { getJson, type RunInfo, type RunList, type RunSummary, type Tool } from '../core/api';
import { DataTable } from '../components/data_table';
import { button, copyButton, errorState, skeleton } from '../components/states';
import { verdictBar } from '../components/verdict';
import { fill, h } from '../core/dom';
import { ago, bytes, count, dateTime, joined, plural, runTime, sentence } from '../core/format';
import type { Page, PageContext, PageType } from '../core/page';
import type { Column } from '../core/table_view';
import { formatPlace, type Place } from '../core/url_state';

interface Line {
  summary: RunSummary;
  time: Date;
}

interface Lazy {
  device: string;
  tools: string;
}

/** Requests under way at a time, so that scrolling past a thousand runs asks for few of them. */
const AT_ONCE = 4;
const WAITING = 60;

const TENSORFLOW = `import tensorflow as tf

# with Keras: profile steps 10 to 20
tb = tf.keras.callbacks.TensorBoard("runs", profile_batch=(10, 20))
model.fit(data, callbacks=[tb])

# or around any code
tf.profiler.experimental.start("runs")
train_some_steps()
tf.profiler.experimental.stop()`;

const JAX = `import jax

with jax.profiler.trace("runs"):
    train_some_steps().block_until_ready()`;

const TIME_FROM = {
  capture: 'recorded in the capture',
  name: 'from the name of the run',
  file: 'time of its files',
} as const;

const runPlace = (run: string): Place => ({ tool: '', params: { run } });

class RunsPage implements Page {
  readonly element: HTMLElement;
  private readonly facts = h('p', { class: 'head-facts' });
  private readonly notes = h('div', {});
  private readonly body = h('div', {});
  private readonly tableHost = h('div', {});
  private readonly compareBar = h('div', { class: 'compare-bar', role: 'status' });
  private readonly table: DataTable<Line>;
  private readonly stops: (() => void)[];
  private readonly lazy = new Map<string, Lazy | 'asked'>();
  private readonly waiting: string[] = [];
  private readonly aborter = new AbortController();
  private readonly chosen: string[] = [];
  private readonly titles: Promise<ReadonlyMap<string, string>>;
  private active = 0;
  private hasProfile = false;
  private list: RunList | null = null;

  constructor(private readonly context: PageContext) {
    this.table = new DataTable<Line>({
      title: 'Runs',
      name: 'runs',
      url: context.url,
      key: (line) => line.summary.run,
      defaultSort: '-time',
      open: (line) => this.open(line.summary.run),
      onSeen: () => undefined,
      say: context.say,
      maxHeight: 0.8,
    });
    this.tableHost.append(this.compareBar, this.table.element);
    this.compareBar.hidden = true;
    this.element = h(
      'div',
      { class: 'page page-runs' },
      h('header', { class: 'head' }, h('h1', { tabindex: '-1' }, 'Runs'), this.facts),
      this.notes,
      this.body,
    );
    fill(this.body, skeleton(420));
    this.titles = getJson<Tool[]>('tools', {}, this.aborter.signal)
      .then((tools) => {
        this.hasProfile = tools.some((tool) => tool.name === 'tfprof');
        if (this.hasProfile && this.list !== null) this.fillTable(this.list);
        return new Map(tools.map((tool) => [tool.name, tool.title]));
      })
      .catch(() => new Map<string, string>());
    this.stops = [context.runs.watch(), context.runs.subscribe(() => this.show())];
  }

  update(): void {
    if (this.list === null) this.show();
    else if (this.list.runs.length > 0) this.table.update();
  }

  destroy(): void {
    this.aborter.abort();
    this.table.destroy();
    for (const stop of this.stops) stop();
  }

  private open(run: string): void {
    const summary = this.list?.runs.find((one) => one.run === run);
    this.context.url.move(summary === undefined ? runPlace(run) : this.place(summary));
  }

  /** A graph run has no overview. */
  private place({ run, kind }: RunSummary): Place {
    return kind === 'graph run' && this.hasProfile
      ? { tool: 'tfprof', params: { run } }
      : runPlace(run);
  }

  private show(): void {
    const { runs } = this.context;
    if (runs.error !== null && runs.list === null) {
      fill(
        this.body,
        errorState(runs.error, () => void runs.refresh()),
      );
      return;
    }
    if (runs.list === null) return;
    const fresh = this.list;
    this.list = runs.list;
    const { list } = this;
    this.facts.textContent =
      runs.error !== null
        ? `${runs.error.message} Still trying.`
        : [
            list.runs.length === 0 ? '' : `${plural(list.runs.length, 'run')} in ${list.logdir}`,
            list.searched?.truncated === true ? 'the search stopped early: too many files' : '',
          ]
            .filter((part) => part !== '')
            .join(' · ');
    // Where there is no run, the notes are what was found instead.
    fill(
      this.notes,
      verdictBar(
        (list.problem === null ? (list.notes ?? []) : []).map((message) => ({
          severity: 'info',
          message,
        })),
      ),
    );
    if (list.runs.length === 0) {
      fill(this.body, this.empty(list));
      return;
    }
    if (!this.body.contains(this.tableHost)) fill(this.body, this.tableHost);
    const added =
      fresh === null
        ? 0
        : list.runs.filter((run) => !fresh.runs.some((old) => old.run === run.run)).length;
    if (added > 0) this.context.say(`${plural(added, 'new run')}`, true);
    this.fillTable(list);
  }

  private fillTable(list: RunList): void {
    this.table.set({
      rows: list.runs.map((summary) => ({ summary, time: runTime(summary) })),
      columns: this.columns(),
      noun: 'runs',
    });
  }

  private columns(): Column<Line>[] {
    const now = new Date();
    return [
      {
        id: 'compare',
        title: 'vs',
        kind: 'bool',
        width: 52,
        quiet: true,
        hint: 'Choose two runs to compare',
        value: (line) => this.chosen.includes(line.summary.run),
        node: (line) => this.checkbox(line),
      },
      {
        id: 'run',
        title: 'Name',
        kind: 'text',
        grow: true,
        narrow: true,
        width: 320,
        value: (line) => line.summary.run,
        node: (line) =>
          h(
            'a',
            { class: 'run-link', href: formatPlace(this.place(line.summary)) },
            line.summary.run,
            line.summary.kind === 'graph run' &&
              h(
                'small',
                { class: 'soft', title: 'Steps of a graph in TensorBoard’s event files' },
                ' graph run',
              ),
          ),
      },
      {
        id: 'time',
        title: 'Time',
        kind: 'number',
        width: 248,
        value: (line) => line.summary.time_ms,
        narrow: false,
        node: (line) =>
          h(
            'span',
            {
              title: `${dateTime(line.time)}, ${TIME_FROM[line.summary.time_from]}; files changed ${dateTime(new Date(line.summary.modified_ms))}`,
            },
            dateTime(line.time).slice(0, 16),
            h('small', { class: 'soft' }, ` ${ago(line.time, now)}`),
          ),
      },
      {
        id: 'hosts',
        title: 'Hosts',
        kind: 'number',
        width: 76,
        narrow: true,
        value: (line) => line.summary.hosts.length,
        node: (line) =>
          h('span', { title: line.summary.hosts.join('\n') }, count(line.summary.hosts.length)),
      },
      {
        id: 'device',
        title: 'Device',
        kind: 'text',
        quiet: true,
        width: 190,
        value: (line) => this.known(line)?.device ?? null,
        node: (line) => this.later(line, 'device'),
      },
      {
        id: 'size',
        title: 'Size',
        kind: 'number',
        width: 96,
        narrow: true,
        value: (line) => line.summary.bytes,
        text: (value) => joined(bytes(Number(value))),
      },
      {
        id: 'tools',
        title: 'Tools',
        kind: 'text',
        quiet: true,
        width: 150,
        value: (line) => this.known(line)?.tools ?? null,
        node: (line) => this.later(line, 'tools'),
      },
    ];
  }

  private known(line: Line): Lazy | null {
    const value = this.lazy.get(this.lazyKey(line));
    return value === undefined || value === 'asked' ? null : value;
  }

  /** A run that is still being written is asked for again once its files changed. */
  private lazyKey(line: Line): string {
    return `${line.summary.run}|${line.summary.modified_ms}`;
  }

  /** The cell of something only asked for when its row comes into sight. */
  private later(line: Line, field: keyof Lazy): HTMLElement {
    const known = this.known(line);
    const key = this.lazyKey(line);
    const element = h(
      'span',
      {
        class: known === null ? 'pending' : '',
        'data-lazy': `${field} ${key}`,
        title: known?.[field],
      },
      known?.[field] ?? '…',
    );
    if (known === null && !this.lazy.has(key) && !this.waiting.includes(key)) {
      this.waiting.unshift(key);
      // Runs that were scrolled past long ago are not asked for any more.
      this.waiting.length = Math.min(this.waiting.length, WAITING);
      queueMicrotask(() => this.ask());
    }
    return element;
  }

  private ask(): void {
    while (this.active < AT_ONCE) {
      const key = this.waiting.shift();
      if (key === undefined) return;
      this.lazy.set(key, 'asked');
      this.active += 1;
      const run = key.slice(0, key.lastIndexOf('|'));
      const { signal } = this.aborter;
      void Promise.all([
        getJson<RunInfo>('run_info', { run }, signal).then(
          (info) => {
            const device = info.device_type ?? '–';
            return (info.device_count ?? 0) > 1 ? `${info.device_count} × ${device}` : device;
          },
          () => '–',
        ),
        Promise.all([getJson<string[]>('run_tools', { run }, signal), this.titles]).then(
          ([names, titles]) => names.map((name) => titles.get(name) ?? name).join(', '),
          () => '–',
        ),
      ]).then(([device, tools]) => {
        this.active -= 1;
        if (signal.aborted) return;
        this.lazy.set(key, { device, tools });
        for (const [field, value] of [
          ['device', device],
          ['tools', tools],
        ] as const) {
          for (const element of this.element.querySelectorAll<HTMLElement>(
            `[data-lazy="${CSS.escape(`${field} ${key}`)}"]`,
          )) {
            element.textContent = value;
            element.title = value;
            element.classList.remove('pending');
          }
        }
        this.ask();
      });
    }
  }

  private checkbox(line: Line): HTMLElement {
    const { run } = line.summary;
    const input = h('input', {
      type: 'checkbox',
      'aria-label': `Compare ${run}`,
      on: {
        change: () => {
          const at = this.chosen.indexOf(run);
          if (at >= 0) this.chosen.splice(at, 1);
          else this.chosen.push(run);
          // A third choice lets go of the first.
          if (this.chosen.length > 2) this.chosen.shift();
          this.showCompare();
          if (this.list !== null) this.fillTable(this.list);
        },
      },
    });
    input.checked = this.chosen.includes(run);
    return h('label', { class: 'hit' }, input);
  }

  private showCompare(): void {
    const [a, b] = this.chosen;
    this.compareBar.hidden = a === undefined;
    if (a === undefined) return;
    if (b === undefined) {
      fill(
        this.compareBar,
        h('span', {}, 'Compare ', h('b', {}, a), ' with … choose one more run'),
        button('Cancel', () => this.clearCompare()),
      );
      return;
    }
    const when = (run: string): number =>
      this.list?.runs.find((one) => one.run === run)?.time_ms ?? 0;
    const [older, newer] = when(a) <= when(b) ? [a, b] : [b, a];
    fill(
      this.compareBar,
      h('span', {}, h('b', {}, newer), ' against ', h('b', {}, older)),
      button('Compare', () =>
        this.context.url.move({ tool: '', params: { run: newer, base: older } }),
      ),
      button('Cancel', () => this.clearCompare()),
    );
  }

  private clearCompare(): void {
    this.chosen.length = 0;
    this.showCompare();
    if (this.list !== null) this.fillTable(this.list);
  }

  private empty(list: RunList): HTMLElement {
    const problem = list.problem;
    const found = problem?.found ?? [];
    const snippet = (title: string, code: string): HTMLElement =>
      h(
        'section',
        { class: 'snippet' },
        h(
          'header',
          {},
          h('h3', {}, title),
          copyButton('Copy', () => code),
        ),
        h('pre', { tabindex: '0' }, h('code', {}, code)),
      );
    return h(
      'div',
      { class: 'state first-run' },
      h('h2', {}, 'No runs yet'),
      h('p', {}, sentence(problem?.message ?? `there is no capture below ${list.logdir}`)),
      problem?.hint !== undefined && h('p', { class: 'soft' }, sentence(problem.hint)),
      h(
        'dl',
        { class: 'facts' },
        h('dt', {}, 'Looked in'),
        h('dd', {}, h('code', {}, list.logdir)),
        list.searched !== undefined && h('dt', {}, 'Searched'),
        list.searched !== undefined &&
          h(
            'dd',
            {},
            `${plural(list.searched.folders, 'folder')}, ${plural(list.searched.files, 'file')}`,
          ),
        found.length > 0 && h('dt', {}, 'Found there'),
        found.length > 0 &&
          h('dd', {}, ...found.flatMap((one, index) => [index > 0 && h('br'), h('code', {}, one)])),
      ),
      h(
        'p',
        { class: 'acts' },
        button('Capture from a running program', () => this.context.capture(), 'record'),
      ),
      h(
        'p',
        {},
        'This page checks again every five seconds. A program can capture itself with one of these:',
      ),
      h('div', { class: 'snippets' }, snippet('TensorFlow', TENSORFLOW), snippet('JAX', JAX)),
    );
  }
}

export const runsPage: PageType = (context) => new RunsPage(context);
