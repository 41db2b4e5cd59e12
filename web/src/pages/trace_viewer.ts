// SPDX-License-Identifier: Apache-2.0
// Trace viewer: every event on a timeline. All that is shown is in the address; the timeline itself
// is web/src/timeline.

import { address, isAbort } from '../core/api';
import { fill, h } from '../core/dom';
import { count, duration, joined, plural, sentence } from '../core/format';
import { instructionLinks } from '../core/hlo';
import type { Page, PageContext, PageType } from '../core/page';
import { progressText, watchProgress } from '../core/progress';
import { CATEGORIES, findStep, parseRange } from '../core/steps';
import { memoryLink } from '../core/trace_link';
import { formatPlace, prefixed, type Patch } from '../core/url_state';
import { countsText, WORDS } from '../core/words';
import { DetailPanel } from '../components/detail_panel';
import { Menu } from '../components/menu';
import { Segmented, Toggle } from '../components/segmented';
import { button, errorState, iconButton, notRecorded } from '../components/states';
import { ToolView } from '../components/tool_view';
import {
  TraceServer,
  whole as wholePs,
  type Direction,
  type EventInfo,
  type Hit,
  type HostInfo,
  type TraceInfo,
} from '../timeline/answers';
import { AreaPanel } from '../timeline/area_panel';
import type { ColourMode } from '../timeline/colours';
import { describe, spoken, type DetailTell } from '../timeline/event_detail';
import { EventList } from '../timeline/event_list';
import { grip } from '../timeline/grip';
import {
  fromNs,
  readMarks,
  readSelection,
  toNs,
  writeArea,
  writeMarks,
  type Area,
  type Mark,
} from '../timeline/marks';
import {
  isOpen,
  layout,
  moved,
  openByDefault,
  ordered,
  processKey,
  processTitle,
  readList,
  trackTitle,
  type Choices,
  type Layout,
  type Row,
  type TrackRow,
} from '../timeline/model';
import type { Held } from '../timeline/motion';
import { timeText } from '../timeline/overlay';
import type { Mode } from '../timeline/pointer';
import { SearchBar } from '../timeline/search_bar';
import { Timeline, type Counts, type Reveal, type Shown } from '../timeline/timeline';
import { around, centred, whole, zoomAbout, type View } from '../timeline/viewport';

/** The address follows the view once it rests this long. */
const WRITE_MS = 220;
/** A second press within this time fits what the first put into the middle. */
const TWICE_MS = 900;
const SCROLL_PX = 90;

const MODES: { value: Mode; label: string; hint: string }[] = [
  { value: 'select', label: 'Select', hint: 'Drag chooses an area (1)' },
  { value: 'pan', label: 'Pan', hint: 'Drag moves the view (2)' },
  { value: 'zoom', label: 'Zoom', hint: 'Drag chooses what fills the view (3)' },
  {
    value: 'measure',
    label: 'Measure',
    hint: 'Drag measures a time; snaps to edges of events (4)',
  },
];
const COLOURS: { value: ColourMode; label: string }[] = [
  { value: 'category', label: 'category' },
  { value: 'name', label: 'name' },
  { value: 'duration', label: 'duration' },
];
const SHORTEST = [
  ['', 'all events'],
  ['100', '100 ns'],
  ['1000', '1 µs'],
  ['10000', '10 µs'],
  ['100000', '100 µs'],
  ['1000000', '1 ms'],
] as const;

class TraceViewerPage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<TraceInfo>;
  private readonly root = h('div', { class: 'trace' });
  private readonly notice = h('div', {});
  private readonly stage = h('div', { class: 'trace-stage' });
  private readonly trouble = h('div', { class: 'slow', role: 'alert', hidden: true });
  private readonly tally = h('span', { class: 'trace-tally' });
  private readonly live = h('span', {
    class: 'trace-live',
    id: 'trace-live',
    role: 'status',
    'aria-live': 'polite',
  });
  private readonly finding = h('span', { class: 'trace-finding', role: 'status', hidden: true });
  private readonly legend = h('span', { class: 'legend' });
  private readonly drawer = h('div', { class: 'trace-drawers' });
  /** Instead of details, where they could not be had. */
  private readonly eventTrouble = h('div', {});
  private readonly filter = h('input', {
    type: 'search',
    class: 'trace-filter',
    'aria-label': 'Filter tracks',
    placeholder: 'Filter tracks',
    autocomplete: 'off',
    spellcheck: 'false',
    on: { input: () => this.set({ track: this.filter.value }, 'replace') },
  });
  private readonly laneHost = h('select', {
    'aria-label': 'Host whose steps are shown',
    on: { change: () => this.set({ steps_of: this.laneHost.value }) },
  });
  private readonly lane = h('div', { class: 'trace-lane', hidden: true });
  private readonly modes: Segmented;
  private readonly colourMenu: Menu;
  private readonly colourLabel = h('span', {});
  private readonly flows: Toggle;
  private readonly listButton: HTMLButtonElement;
  private readonly detail: DetailPanel;
  private trace: TraceInfo | null = null;
  /** The longest of the captures, as every page's head says it. */
  private capturedMs = 0;
  private server: TraceServer | null = null;
  private timeline: Timeline | null = null;
  private search: SearchBar | null = null;
  private areaPanel: AreaPanel | null = null;
  private list: EventList | null = null;
  private initially: ReadonlySet<string> = new Set();
  private rows: Layout = { pinned: [], pinnedHeight: 0, rows: [], height: 0, hidden: 0 };
  private mode: Mode = 'select';
  private event: EventInfo | null = null;
  private asked = '';
  private asking: AbortController | null = null;
  private reveal: Reveal | 'none' = 'fit';
  private timer: number | undefined;
  private written = '';
  private stepShown = '';
  private fitAt = 0;
  private completing: AbortController | null = null;
  private askingSteps: AbortController | null = null;
  /** Whose steps were asked for; '' for whose the server chooses. */
  private stepsOf = '';
  /** The address names a step, and which times that is is not known yet. */
  private awaitsStep = false;
  private readonly removers: (() => void)[] = [];

  constructor(private readonly context: PageContext) {
    this.modes = new Segmented('What dragging does', MODES, (value) => this.setMode(value as Mode));
    this.colourMenu = new Menu(this.colourLabel, (panel) => this.buildColours(panel));
    this.flows = new Toggle(
      'Links',
      'Arrows from the chosen event to what launched it and what it launched',
      (on) => this.set({ flow: on ? null : 'off' }),
    );
    this.listButton = button(
      'As list',
      () => this.set({ view: this.url.get('view') === 'list' ? null : 'list' }),
      'table',
    );
    this.detail = new DetailPanel(() => {
      this.set({ sel: null });
      this.timeline?.area.focus({ preventScroll: true });
    });
    this.detail.element.classList.add('trace-detail');
    const marks = new Menu('Marks', (panel) => this.buildMarks(panel));
    const tracks = new Menu('Tracks', (panel) => this.buildTracks(panel));
    const exports = new Menu('Export', (panel) => this.buildExport(panel));
    this.root.append(
      this.notice,
      h(
        'div',
        { class: 'controls trace-controls' },
        this.modes.element,
        this.colourMenu.element,
        tracks.element,
        marks.element,
        this.flows.element,
        h('span', { class: 'acts' }, this.listButton, exports.element),
      ),
      this.trouble,
      this.stage,
    );
    this.view = new ToolView<TraceInfo>(context, {
      title: context.tool?.title ?? 'Trace viewer',
      tool: 'trace_viewer',
      content: this.root,
      // Comparing is not done here; the base's tracks are not asked for.
      fetch: (query, signal) =>
        query['run'] === this.url.get('run')
          ? this.serverFor(query['host']).earlyTracks(signal)
          : Promise.resolve(this.trace as TraceInfo),
      ready: (trace) => this.ready(trace),
      changed: () => this.refresh(),
      facts: (_info, files) => {
        this.capturedMs = Math.max(
          0,
          ...(files?.captures ?? []).map((capture) => capture.duration_ms),
        );
        if (this.trace !== null) this.showFacts(this.trace);
      },
    });
    this.element = this.view.element;
    this.element.classList.add('page-trace');
    this.addKeys();
  }

  private get url(): PageContext['url'] {
    return this.context.url;
  }

  update(): void {
    this.view.update();
  }

  destroy(): void {
    this.writeView();
    this.view.destroy();
    this.tearDown();
    this.detail.destroy();
    for (const remove of this.removers) remove();
  }

  private serverFor(host: unknown): TraceServer {
    return new TraceServer({
      run: this.url.get('run'),
      host: typeof host === 'string' ? host : null,
    });
  }

  private tearDown(): void {
    window.clearTimeout(this.timer);
    this.timer = undefined;
    this.asking?.abort();
    this.completing?.abort();
    this.askingSteps?.abort();
    this.stepsOf = '';
    this.timeline?.destroy();
    this.search?.destroy();
    this.areaPanel?.destroy();
    this.list?.destroy();
    this.timeline = null;
    this.event = null;
    this.asked = '';
  }

  // ---- from the server to the screen

  private ready(trace: TraceInfo): void {
    this.tearDown();
    this.trace = trace;
    const nothing = trace.events === 0 || trace.processes.length === 0;
    const base = this.url.get('base');
    fill(
      this.notice,
      base !== '' &&
        h(
          'div',
          { class: 'verdict' },
          h('b', {}, 'Not compared'),
          h(
            'span',
            {},
            `Timelines of two runs are not shown side by side: this page shows only the run itself, nothing of ${base}. `,
            h(
              'a',
              {
                href: formatPlace({
                  tool: 'trace_viewer',
                  params: { run: base, base: this.url.get('run') },
                }),
              },
              'Show the trace of that run',
            ),
          ),
        ),
      trace.alignment !== null &&
        h(
          'div',
          { class: 'verdict warning' },
          h('b', {}, 'Hosts are not aligned'),
          h('span', {}, trace.alignment),
        ),
      ...trace.hosts.flatMap((host) =>
        host.problem === undefined || host.problem === ''
          ? []
          : [
              h(
                'div',
                { class: 'verdict error' },
                h('b', {}, `${host.host} is missing`),
                h('span', {}, sentence(host.problem)),
              ),
            ],
      ),
      nothing &&
        notRecorded(
          'No events were recorded',
          h('p', {}, 'The capture holds no event of a thread or a device.'),
          h(
            'p',
            { class: 'soft' },
            'Capture while the program runs, with host_tracer_level at 2 and device_tracer_level at 1 (the defaults).',
          ),
        ),
    );
    this.root.classList.toggle('nothing', nothing);
    if (nothing) return;
    const server = this.serverFor(this.view.query()['host']);
    this.server = server;
    server.early = trace.complete === false;
    this.initially = openByDefault(trace);
    this.rows = this.layout(trace);
    this.stepShown = this.url.get('step');
    this.awaitsStep =
      server.early &&
      this.url.get('from') === '' &&
      (this.stepShown !== '' || this.url.get('steps') !== '');
    const start = this.startView(trace);
    this.written = this.viewKey();
    const timeline = new Timeline(
      trace,
      server,
      this.shown(),
      start,
      {
        fold: (row) => this.fold(row),
        pin: (row) => this.pin(row),
        hide: (row) => this.hide([row.key]),
        only: (row) => this.only(row),
        move: (row, by) => this.move(row, by),
      },
      {
        moved: () => this.viewMoved(),
        pick: (entry) => {
          this.reveal = 'none';
          this.set({ sel: entry?.id ?? null });
        },
        pickMemory: (reading) => {
          const { id } = reading.track;
          const of = this.processOf(id)?.host;
          const host = this.trace?.hosts.find((one) => one.index === of)?.host ?? '';
          const href = this.memoryAt(host, id, reading.ps);
          if (href !== null) location.hash = href;
          return href !== null;
        },
        area: (area) => this.set({ sel: area === null ? null : writeArea(this.tidy(area)) }),
        measured: (range) =>
          this.set({ measure: range === null ? null : `${toNs(range.from)}-${toNs(range.to)}` }),
        pickStep: (index) => this.goStep(index),
        pickMark: (index) =>
          this.glide(centred(this.target(), this.marks()[index]?.ps ?? 0, trace.duration_ps)),
        counts: (counts) => this.showCounts(counts),
      },
    );
    this.timeline = timeline;
    this.search = new SearchBar(server, {
      found: (hits, density) => timeline.found(hits, density),
      only: (test) => timeline.only(test),
      go: (hit) => this.goHit(hit),
      goTrack: (track) => this.goTrack(track),
      trackName: (track) => this.trackName(track),
      setting: (key, value) => this.set({ [key]: value }),
      clear: () => this.set({ q: null, re: null, in: null, case: null }),
      time: () => this.event?.start_ps ?? timeline.view.from,
      view: () => this.target(),
    });
    this.areaPanel = new AreaPanel(server, prefixed(this.url, 'a.'), {
      close: () => this.set({ sel: null }),
      zoom: () => {
        const selection = readSelection(this.url.get('sel'));
        if (selection?.kind === 'area')
          this.glide(around(selection.area.from, selection.area.to, trace.duration_ps, 0.02));
      },
      find: (name) => this.set({ q: name, in: null, re: null }),
      say: this.context.say,
    });
    this.list = new EventList(
      server,
      (track) => this.trackName(track),
      (hit) => {
        this.reveal = 'show';
        this.set({ sel: hit.id });
      },
    );
    this.showFacts(trace);
    fill(timeline.corner, this.filter, this.lane);
    fill(
      this.stage,
      this.search.element,
      timeline.element,
      this.list.element,
      h(
        'footer',
        { class: 'trace-foot' },
        this.tally,
        this.live,
        h(
          'span',
          { class: 'trace-hints', 'aria-hidden': 'true' },
          ...['W', 'A', 'S', 'D'].map((key) => h('kbd', {}, key)),
          ' move ',
          h('kbd', {}, 'F'),
          ' fit ',
          h('kbd', {}, '?'),
          ' all keys',
        ),
      ),
      h('div', { class: 'trace-legend' }, this.legend, this.finding),
      this.drawer,
    );
    fill(this.drawer, this.areaPanel.element, this.eventTrouble, this.detail.element);
    this.drawer.before(
      grip({
        label: 'Height of the details',
        name: 'trace.drawer',
        smallest: 80,
        largest: () => this.stage.clientHeight - 260,
        initial: Math.round(this.stage.clientHeight * 0.4),
        set: (pixels) => {
          this.drawer.style.height = `${pixels}px`;
        },
      }),
    );
    // A link shows the part it was made of, wherever its selection is.
    this.reveal = this.url.get('from') === '' ? 'fit' : 'scroll';
    this.refresh();
    this.finding.hidden = true;
    if (server.early) this.askForRest(server);
  }

  private showFacts(trace: TraceInfo): void {
    if (this.timeline === null) return;
    const length = trace.duration_ps - trace.first_ps;
    const shorter = this.capturedMs * 1e9 > length * 1.01;
    fill(
      this.timeline.facts,
      h('b', { title: `${WORDS.timeline} ${WORDS.captured}` }, timeText(length)),
      h(
        'small',
        { title: [WORDS.recorded, WORDS.hidden, WORDS.derived].join(' ') },
        shorter
          ? `of ${joined(duration(this.capturedMs * 1000))} captured`
          : plural(trace.events, 'event'),
      ),
    );
  }

  /**
   * Steps and derived lines of a capture that holds neither take the server much longer than its
   * events.
   */
  private askForRest(server: TraceServer): void {
    const controller = new AbortController();
    this.completing = controller;
    this.finding.hidden = false;
    const sofar = h('span', {});
    fill(this.finding, 'finding steps and derived lines…', sofar);
    watchProgress(controller.signal, (progress) => {
      sofar.textContent = progress === null ? '' : ` ${progressText(progress)}`;
    });
    server.tracks(controller.signal).then(
      (trace) => {
        if (controller.signal.aborted) return;
        server.early = false;
        this.finding.hidden = true;
        this.complete(trace);
      },
      (error: unknown) => {
        if (controller.signal.aborted || isAbort(error)) return;
        fill(
          this.finding,
          `Steps and derived lines could not be found: ${error instanceof Error ? error.message : String(error)} `,
          h(
            'button',
            { type: 'button', class: 'linklike', on: { click: () => this.askForRest(server) } },
            'Try again',
          ),
        );
      },
    );
  }

  /** The same trace with steps and derived lines: they are added, and all else stays as it is. */
  private complete(trace: TraceInfo): void {
    const { timeline, event } = this;
    if (timeline === null) return;
    const known = event === null || this.processOf(event.track) !== undefined;
    this.trace = trace;
    this.rows = this.layout(trace);
    timeline.complete(trace, this.shown());
    this.showFacts(trace);
    const view = this.stepView(trace);
    // If the view was moved meanwhile, it stays there.
    if (
      this.awaitsStep &&
      view !== null &&
      this.timer === undefined &&
      this.url.get('from') === ''
    ) {
      timeline.motion.jump(view);
      // As if it had been there from the start: the user did not move it.
      window.clearTimeout(this.timer);
      this.timer = undefined;
    }
    this.awaitsStep = false;
    this.refresh();
    if (event === null) return;
    if (!known) this.showEvent(event);
    else this.detail.show(describe(event, this.tell));
  }

  /** Brings everything in line with the address. */
  private refresh(): void {
    const { trace, timeline, url } = this;
    if (trace === null || timeline === null) return;
    this.rows = this.layout(trace);
    timeline.set(this.shown());
    this.modes.show(this.mode);
    this.flows.show(url.get('flow') !== 'off');
    this.colourLabel.textContent = `Colour: ${this.colour()}`;
    const listed = url.get('view') === 'list';
    this.listButton.setAttribute('aria-pressed', String(listed));
    timeline.element.classList.toggle('away', listed);
    if (document.activeElement !== this.filter) this.filter.value = url.get('track');
    this.showLane();
    this.followSteps();
    this.followAddress();
    this.search?.update({
      q: url.get('q'),
      regex: url.get('re') === '1',
      inside: this.inside(),
      matchCase: url.get('case') === '1',
    });
    this.showSelection();
    this.list?.update(
      listed,
      timeline.motion.target,
      this.shownTracks(),
      this.allShown(),
      url.get('sel'),
    );
    this.showLegend();
  }

  private layout(trace: TraceInfo): Layout {
    return layout(trace, this.choices(), this.initially);
  }

  private choices(): Choices {
    const list = (key: string): string[] => readList(this.url.get(key));
    return {
      pin: list('pin'),
      hide: new Set(list('hide')),
      fold: new Set(list('fold')),
      open: new Set(list('open')),
      order: list('order'),
      filter: this.url.get('track'),
    };
  }

  private shown(): Shown {
    const { url } = this;
    const selection = readSelection(url.get('sel'));
    const measure = /^(-?[\d.]+)-(-?[\d.]+)$/.exec(url.get('measure'));
    const [from, to] = [fromNs(measure?.[1] ?? ''), fromNs(measure?.[2] ?? '')];
    return {
      layout: this.rows,
      colour: this.colour(),
      minPs: fromNs(url.get('min')) ?? 0,
      mode: this.mode,
      marks: this.marks(),
      area: selection?.kind === 'area' ? selection.area : null,
      measure: from === null || to === null ? null : { from, to },
      step: this.stepIndex(url.get('step')),
      flows: url.get('flow') !== 'off',
    };
  }

  private colour(): ColourMode {
    const wanted = this.url.get('color');
    return COLOURS.find(({ value }) => value === wanted)?.value ?? 'category';
  }

  private inside(): 'name' | 'args' | 'all' {
    const wanted = this.url.get('in');
    return wanted === 'args' || wanted === 'all' ? wanted : 'name';
  }

  private showCounts(counts: Counts): void {
    const { trace, timeline } = this;
    if (trace === null || timeline === null) return;
    const made = countsText(trace, count);
    this.tally.title = Object.values(WORDS).join('\n');
    // The list counts for itself.
    this.tally.textContent =
      this.url.get('view') === 'list'
        ? ''
        : `${count(counts.boxes)} drawn for ${count(counts.events)} in sight of ${plural(trace.events, 'event')}${made === '' ? '' : ` (${made})`} at ${joined(duration(counts.psPerPixel / 1e6))}/px` +
          `${counts.events > counts.boxes ? ' · hatched where several events share a pixel' : ''}${!counts.waiting ? '' : counts.error === null ? ' · loading…' : ' · parts are missing'}`;
    timeline.element.classList.toggle('waiting', counts.waiting && counts.error === null);
    timeline.element.setAttribute('aria-busy', String(counts.waiting && counts.error === null));
    this.trouble.hidden = counts.error === null;
    if (counts.error === null) this.trouble.replaceChildren();
    if (counts.error !== null && this.trouble.childElementCount === 0) {
      fill(
        this.trouble,
        h(
          'span',
          {},
          `A part of the timeline could not be loaded: ${counts.error instanceof Error ? counts.error.message : String(counts.error)}`,
        ),
        button('Try again', () => {
          timeline.store.again();
          this.trouble.replaceChildren();
          timeline.invalidate();
        }),
      );
    }
    this.showLegend();
  }

  private showLegend(): void {
    const { timeline } = this;
    if (timeline === null) return;
    const colour = this.colour();
    const seen = timeline.names.categories;
    const signature = `${colour}${[...seen].sort().join()}`;
    if (this.legend.dataset['for'] === signature) return;
    this.legend.dataset['for'] = signature;
    const key = (token: string): HTMLElement => {
      const mark = h('i', { class: 'key' });
      mark.style.setProperty('--key', `var(--${token})`);
      return mark;
    };
    if (colour === 'category')
      fill(
        this.legend,
        ...CATEGORIES.flatMap((category, index) =>
          seen.has(index) ? [h('span', {}, key(category.token), category.label)] : [],
        ),
      );
    else
      fill(
        this.legend,
        h(
          'span',
          {},
          colour === 'name'
            ? 'Each name has its colour, the same in every run.'
            : 'From 100 ns to 1 s: the longer, the stronger the colour.',
        ),
      );
  }

  // ---- view and address

  /**
   * Everything that is written goes through here, so that a view that is still moving is written
   * along.
   */
  private set(patch: Patch, how: 'push' | 'replace' = 'push'): void {
    window.clearTimeout(this.timer);
    this.timer = undefined;
    const view = this.viewPatch();
    this.written = JSON.stringify([view['from'] ?? '', view['to'] ?? '']);
    this.url.set({ ...view, ...patch }, how);
  }

  private viewPatch(): Record<string, string | null> {
    const { timeline, trace } = this;
    if (timeline === null || trace === null) return {};
    const { from, to } = timeline.motion.target;
    const all = this.all(trace);
    if (
      to - from > (all.to - all.from) * 0.999 &&
      Math.abs(from - all.from) < (all.to - all.from) * 0.001
    )
      return { from: null, to: null };
    // A tenth of a pixel is exact enough for any screen, and keeps the address short.
    const unit = Math.max(1, 10 ** Math.floor(Math.log10((to - from) / 2e4)));
    return { from: toNs(Math.round(from / unit) * unit), to: toNs(Math.round(to / unit) * unit) };
  }

  /** All that there is; hosts of a run need not begin at its zero. */
  private all(trace: TraceInfo): View {
    const part = whole(trace.duration_ps - trace.first_ps);
    return { from: part.from + trace.first_ps, to: part.to + trace.first_ps };
  }

  private viewKey(): string {
    return JSON.stringify([this.url.get('from'), this.url.get('to')]);
  }

  private viewMoved(): void {
    if (this.timeline === null) return;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.writeView(), WRITE_MS);
  }

  private writeView(): void {
    if (this.timer === undefined) return;
    this.set({}, 'replace');
    void this.search?.look();
  }

  private startView(trace: TraceInfo): View {
    const [from, to] = [fromNs(this.url.get('from')), fromNs(this.url.get('to'))];
    if (from !== null && to !== null && to > from) return { from, to };
    return this.stepView(trace) ?? this.all(trace);
  }

  /** Around the chosen step, or the chosen range of steps. */
  private stepView(trace: TraceInfo): View | null {
    const step = trace.steps[this.stepIndex(this.url.get('step'))];
    if (step !== undefined)
      return around(step.start_ps, step.start_ps + step.duration_ps, trace.duration_ps, 0.05);
    const range = parseRange(
      this.url.get('steps'),
      trace.steps.map((one) => one.name),
    );
    const [first, last] = [trace.steps[range?.from ?? -1], trace.steps[range?.to ?? -1]];
    return first === undefined || last === undefined
      ? null
      : around(first.start_ps, last.start_ps + last.duration_ps, trace.duration_ps, 0.02);
  }

  /** The address changed (Back, or edited by hand): the view follows. */
  private followAddress(): void {
    const { trace, timeline } = this;
    if (trace === null || timeline === null) return;
    const step = this.url.get('step');
    if (this.viewKey() !== this.written) {
      this.written = this.viewKey();
      this.reveal = 'scroll';
      timeline.motion.glide(this.startView(trace));
    } else if (step !== this.stepShown) {
      const view = this.stepView(trace);
      if (step !== '' && view !== null) timeline.motion.glide(view);
      this.awaitsStep = step !== '' && trace.complete === false;
    }
    this.stepShown = step;
  }

  private target(): View {
    return this.timeline?.motion.target ?? { from: 0, to: 1 };
  }

  private glide(view: View): void {
    this.timeline?.motion.glide(view);
  }

  private setMode(mode: Mode): void {
    this.mode = mode;
    this.refresh();
    this.context.say(`Mode: ${mode}`);
  }

  // ---- selection

  private showSelection(): void {
    const { url, timeline, trace } = this;
    if (timeline === null || trace === null) return;
    const selection = readSelection(url.get('sel'));
    const area = selection?.kind === 'area' ? selection.area : null;
    this.areaPanel?.show(
      area,
      area === null ? [] : area.tracks.length > 0 ? area.tracks : this.shownTracks(),
      this.allShown(),
    );
    this.stage.classList.toggle('with-drawer', selection !== null);
    const id = selection?.kind === 'event' ? selection.id : '';
    if (id !== this.asked) this.eventTrouble.replaceChildren();
    if (id === '') {
      this.asking?.abort();
      this.asked = '';
      this.event = null;
      timeline.select(null);
      this.detail.show(null);
      this.live.textContent = area === null ? '' : `Area of ${timeText(area.to - area.from)}`;
      return;
    }
    if (id === this.asked) return;
    this.asked = id;
    this.asking?.abort();
    const controller = new AbortController();
    this.asking = controller;
    this.server?.event(id, controller.signal).then(
      (event) => this.showEvent(event),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        this.event = null;
        timeline.select(null);
        this.detail.show(null);
        fill(
          this.eventTrouble,
          errorState(error, () => {
            this.asked = '';
            this.showSelection();
          }),
        );
      },
    );
  }

  private showEvent(event: EventInfo): void {
    const { timeline } = this;
    if (timeline === null || event.id !== this.asked) return;
    this.event = event;
    timeline.select(event);
    this.detail.show(describe(event, this.tell));
    this.live.textContent = spoken(event);
    this.list?.mark(event.id);
    // A derived line that is still to come is shown then.
    if (this.trace?.complete === false && this.processOf(event.track) === undefined) return;
    if (this.reveal !== 'none') {
      this.openTrack(event.track);
      timeline.reveal(
        event.track,
        event.start_ps,
        event.start_ps + event.duration_ps,
        event.depth,
        this.reveal,
      );
    }
    this.reveal = 'show';
  }

  private readonly tell: DetailTell = {
    go: (id) => this.go(id, 'show', 'push'),
    goStep: (event) => void this.goStepOf(event),
    find: (name) => this.set({ q: name, in: null, re: null }),
    area: (event) => this.areaOf(event),
    link: (tool, name) =>
      this.context.has(tool)
        ? this.context.link(
            tool,
            tool === 'kernel_stats'
              ? { 'f.kernel': `=${name}` }
              : { 'f.operation': `=${name}`, dev: 'all' },
          )
        : null,
    instruction: (programId, name) => instructionLinks(this.context, programId, name),
    instances: (event) =>
      event.kernel !== undefined && event.kernel !== '' && this.context.has('kernel_stats')
        ? {
            run: this.url.get('run'),
            tag: 'kernel_stats',
            host: this.view.query()['host'],
            kernel: event.kernel,
          }
        : null,
    memory: (event) => this.memoryAt(event.host, event.track, event.start_ps),
    hasSteps: () => (this.trace?.steps.length ?? 0) > 0,
  };

  /** The memory of a host at a time; of one allocator where the track is about that. */
  private memoryAt(host: string, track: string, ps: number): string | null {
    return memoryLink(
      this.context,
      (this.context.tool?.hosts ?? []).length > 1 ? host : '',
      Math.round(ps) / 1000,
      this.processOf(track)?.tracks.find((one) => one.id === track)?.allocator,
    );
  }

  private go(
    id: string,
    how: 'show' | 'see' | 'centre' | 'fit',
    history: 'push' | 'replace',
  ): void {
    this.reveal = how;
    this.set({ sel: id }, history);
  }

  private goHit(hit: Hit): void {
    const { event } = this;
    // Chosen already, and perhaps out of sight by now. What is chosen may not be here yet.
    if (event?.id === hit.id && this.url.get('sel') === hit.id)
      this.timeline?.reveal(
        event.track,
        event.start_ps,
        event.start_ps + event.duration_ps,
        event.depth,
        'see',
      );
    else this.go(hit.id, 'see', 'replace');
  }

  private processOf(track: string): TraceInfo['processes'][number] | undefined {
    return this.trace?.processes.find((one) =>
      one.tracks.some((candidate) => candidate.id === track),
    );
  }

  /** Unfolds and shows what would hide a track. */
  private openTrack(track: string): void {
    const { trace } = this;
    const process = this.processOf(track);
    if (trace === null || process === undefined) return;
    const choices = this.choices();
    const key = processKey(process);
    const patch: Patch = {};
    if (choices.hide.has(track) || choices.hide.has(key))
      patch['hide'] = [...choices.hide].filter((one) => one !== track && one !== key).join(',');
    if (!isOpen(key, choices, this.initially)) Object.assign(patch, this.openPatch(key, choices));
    if (choices.filter !== '' && !this.rows.rows.some((row) => row.key === track))
      patch['track'] = null;
    if (Object.keys(patch).length > 0) this.set(patch, 'replace');
  }

  private goTrack(track: string): void {
    this.openTrack(track);
    this.timeline?.reveal(track, this.target().from, this.target().to, 0, 'show');
  }

  private neighbour(direction: Direction): void {
    const { event, server, timeline } = this;
    if (timeline === null || server === null) return;
    if (event === null) {
      this.pickFirst();
      return;
    }
    const known = {
      next: event.next,
      previous: event.previous,
      parent: event.parent,
      child: event.first_child,
    }[direction as string];
    if (known !== undefined && known !== null) {
      this.go(known, 'show', 'replace');
    } else if (known === undefined) {
      void server.neighbour(event.id, direction).then(
        (found) =>
          found === null
            ? this.context.say('No other event has this name')
            : this.go(found.id, 'show', 'replace'),
        (error: unknown) =>
          this.context.say(error instanceof Error ? error.message : String(error), true),
      );
    } else if (direction === 'parent' || direction === 'child') {
      this.besideTrack(event, direction === 'child' ? 1 : -1);
    } else {
      this.context.say(
        direction === 'next'
          ? 'This is the last event of its row'
          : 'This is the first event of its row',
      );
    }
  }

  /** With nothing chosen, arrows begin at the first track in sight, in the middle of the view. */
  private pickFirst(): void {
    const { timeline } = this;
    const [row] = this.trackRows();
    if (timeline === null || row === undefined) return;
    for (const candidate of this.trackRows()) {
      const entry = timeline.nearest(candidate, (timeline.view.from + timeline.view.to) / 2);
      if (entry === null) continue;
      this.go(entry.id, 'show', 'replace');
      return;
    }
  }

  private trackRows(): TrackRow[] {
    return [
      ...this.rows.pinned,
      ...this.rows.rows.filter((row): row is TrackRow => row.kind === 'track'),
    ];
  }

  private besideTrack(event: EventInfo, by: number): void {
    const rows = this.trackRows();
    for (
      let at = rows.findIndex((row) => row.key === event.track) + by;
      at >= 0 && at < rows.length;
      at += by
    ) {
      const row = rows[at];
      const entry =
        row === undefined
          ? null
          : (this.timeline?.nearest(row, event.start_ps + event.duration_ps / 2) ?? null);
      if (entry === null) continue;
      this.go(entry.id, 'show', 'replace');
      return;
    }
    this.context.say('No more tracks');
  }

  private follow(direction: 'in' | 'out'): void {
    const link = this.event?.flows.find((one) => one.direction === direction);
    if (link === undefined)
      this.context.say(
        this.event === null
          ? 'Choose an event first'
          : direction === 'in'
            ? 'Nothing leads to it'
            : 'It leads to nothing',
        true,
      );
    else this.go(link.id, 'show', 'push');
  }

  private areaOf(event: EventInfo): void {
    this.set({
      sel: writeArea({ from: event.start_ps, to: event.start_ps + event.duration_ps, tracks: [] }),
    });
  }

  private fit(): void {
    const { timeline, event, trace } = this;
    if (timeline === null || trace === null) return;
    const selection = readSelection(this.url.get('sel'));
    const range =
      selection?.kind === 'area'
        ? selection.area
        : event === null
          ? null
          : { from: event.start_ps, to: event.start_ps + event.duration_ps };
    const now = performance.now();
    const twice = now - this.fitAt < TWICE_MS;
    this.fitAt = now;
    if (range === null) timeline.motion.glide(this.all(trace));
    else if (event !== null)
      timeline.reveal(event.track, range.from, range.to, event.depth, twice ? 'fit' : 'centre');
    else
      timeline.motion.glide(
        twice
          ? around(range.from, range.to, trace.duration_ps, 0.05)
          : centred(this.target(), (range.from + range.to) / 2, trace.duration_ps),
      );
  }

  // ---- steps and marks

  private stepIndex(wanted: string): number {
    return findStep(
      wanted,
      (this.trace?.steps ?? []).map((step) => step.name),
    );
  }

  /** Says whose steps these are; of several hosts one can be chosen. */
  private showLane(): void {
    const { trace, laneHost } = this;
    if (trace === null) return;
    this.lane.hidden = trace.steps_host === null;
    if (trace.steps_host === null) return;
    const hosts = trace.hosts.filter(({ problem }) => problem === undefined || problem === '');
    const shown = trace.hosts.find(({ index }) => index === trace.steps_host)?.host ?? '';
    if (hosts.length < 2) {
      fill(
        this.lane,
        h('span', { title: `The ${plural(trace.steps.length, 'step')} of ${shown}` }, 'Steps'),
      );
      return;
    }
    const signature = `${shown}/${hosts.length}`;
    if (laneHost.dataset['for'] === signature) return;
    laneHost.dataset['for'] = signature;
    fill(
      laneHost,
      ...hosts.map(({ host }) => h('option', { value: host, selected: host === shown }, host)),
    );
    fill(this.lane, h('label', {}, 'Steps of ', laneHost));
  }

  /** The steps of the host that the address names, once steps are known at all. */
  private followSteps(): void {
    const { trace, url } = this;
    const wanted = url.get('steps_of');
    if (
      trace === null ||
      trace.steps_host === null ||
      trace.complete === false ||
      wanted === this.stepsOf
    )
      return;
    const host = trace.hosts.find((one) => one.host === wanted) ?? null;
    if (host === null && wanted !== '') return;
    this.stepsOf = wanted;
    void this.loadSteps(host);
  }

  /**
   * Shows the steps of one host, or of the server's choice; false where that did not come about.
   */
  private async loadSteps(host: HostInfo | null): Promise<boolean> {
    const { server, timeline } = this;
    if (server === null || timeline === null) return false;
    this.askingSteps?.abort();
    const controller = new AbortController();
    this.askingSteps = controller;
    try {
      const answer = await server.steps(host?.host ?? null, controller.signal);
      if (controller.signal.aborted || this.trace === null) return false;
      // A host without steps is shown to have none.
      this.trace = {
        ...this.trace,
        steps: answer.steps,
        steps_host: host?.index ?? answer.steps_host,
      };
      timeline.setSteps(this.trace);
      if (host !== null)
        this.context.say(
          answer.steps.length === 0
            ? `No steps were found on ${host.host}`
            : `${plural(answer.steps.length, 'step')} of ${host.host}`,
          answer.steps.length === 0,
        );
      this.refresh();
      return true;
    } catch (error) {
      if (!isAbort(error) && !controller.signal.aborted)
        this.context.say(error instanceof Error ? error.message : String(error), true);
      return false;
    }
  }

  /** The step of an event, among those of its own host. */
  private async goStepOf(event: EventInfo): Promise<void> {
    const { trace } = this;
    const host = trace?.hosts.find(({ index }) => index === Number(event.track.split('.')[0]));
    if (
      trace !== null &&
      host !== undefined &&
      trace.hosts.length > 1 &&
      host.index !== trace.steps_host
    ) {
      this.stepsOf = host.host;
      this.set({ steps_of: host.host });
      if (!(await this.loadSteps(host))) return;
    }
    this.goStep(this.stepIndex(event.step_name ?? String(event.step ?? '')));
  }

  private goStep(index: number): void {
    const { trace } = this;
    const step = trace?.steps[index];
    if (trace === null || step === undefined) return;
    this.glide(around(step.start_ps, step.start_ps + step.duration_ps, trace.duration_ps, 0.05));
    this.stepShown = step.name;
    this.set({ step: step.name }, 'replace');
    this.context.say(
      `${/^\d+$/.test(step.name) ? `Step ${step.name}` : step.name}, ${timeText(step.duration_ps)}`,
    );
  }

  private stepBy(by: number): void {
    const { trace } = this;
    if (trace === null || trace.steps.length === 0) {
      this.context.say(
        trace?.complete === false
          ? 'Still looking for steps'
          : 'No steps were found in this capture',
        true,
      );
      return;
    }
    const at = this.stepIndex(this.url.get('step'));
    const { from, to } = this.target();
    const near = trace.steps.findIndex(
      (step) => step.start_ps + step.duration_ps > (from + to) / 2,
    );
    this.goStep(
      at < 0 ? Math.max(0, near) : Math.min(trace.steps.length - 1, Math.max(0, at + by)),
    );
  }

  private marks(): Mark[] {
    return readMarks(this.url.get('mark'));
  }

  private toggleMark(): void {
    const { timeline, event } = this;
    if (timeline === null) return;
    const ps = wholePs(
      timeline.hasPointer || event === null ? timeline.focusTime() : event.start_ps,
    );
    const reach = ((timeline.view.to - timeline.view.from) / timeline.width) * 6;
    const kept = this.marks().filter((mark) => Math.abs(mark.ps - ps) > reach);
    const removed = kept.length < this.marks().length;
    this.set({ mark: writeMarks(removed ? kept : [...kept, { ps, label: '' }]) });
    this.context.say(removed ? 'Mark removed' : `Mark at ${timeText(ps)}`);
  }

  // ---- tracks

  private shownTracks(): string[] {
    return this.rows.rows
      .flatMap((row) =>
        row.kind === 'track'
          ? [row.key]
          : row.open
            ? []
            : row.process.tracks.map((track) => track.id),
      )
      .concat(this.rows.pinned.map((row) => row.key));
  }

  private allShown(): boolean {
    const { hide, filter } = this.choices();
    return hide.size === 0 && filter === '';
  }

  /** An area over all tracks that are shown needs no list of them. */
  private tidy(area: Area): Area {
    return new Set(area.tracks).size >= new Set(this.shownTracks()).size
      ? { ...area, tracks: [] }
      : area;
  }

  private trackName(id: string): string {
    for (const process of this.trace?.processes ?? []) {
      const track = process.tracks.find((one) => one.id === id);
      if (track !== undefined && this.trace !== null)
        return `${trackTitle(track)} · ${processTitle(this.trace, process)}`;
    }
    return id;
  }

  private openPatch(key: string, choices: Choices): Patch {
    return this.initially.has(key) || choices.filter !== ''
      ? { fold: [...choices.fold].filter((one) => one !== key).join(',') }
      : { open: [...choices.open, key].join(',') };
  }

  private fold(row: Row): void {
    const choices = this.choices();
    if (row.kind === 'process' && !row.open) {
      this.set(this.openPatch(row.key, choices), 'replace');
    } else if (row.kind === 'process') {
      this.set(
        choices.open.has(row.key)
          ? { open: [...choices.open].filter((one) => one !== row.key).join(',') }
          : { fold: [...choices.fold, row.key].join(',') },
        'replace',
      );
    } else {
      this.set(
        {
          fold: (row.folded
            ? [...choices.fold].filter((one) => one !== row.key)
            : [...choices.fold, row.key]
          ).join(','),
        },
        'replace',
      );
    }
  }

  private foldAll(folded: boolean): void {
    const processes = (this.trace?.processes ?? []).map(processKey);
    const choices = this.choices();
    const tracks = [...choices.fold].filter((one) => !one.startsWith('p'));
    this.set(
      folded
        ? {
            open: null,
            fold: [...tracks, ...processes.filter((key) => this.initially.has(key))].join(','),
          }
        : {
            fold: tracks.join(','),
            open: processes.filter((key) => !this.initially.has(key)).join(','),
          },
    );
  }

  private pin(row: Row): void {
    const { pin } = this.choices();
    this.set({
      pin: (pin.includes(row.key) ? pin.filter((one) => one !== row.key) : [...pin, row.key]).join(
        ',',
      ),
    });
  }

  private hide(keys: readonly string[]): void {
    this.set({ hide: [...new Set([...this.choices().hide, ...keys])].join(',') });
    this.context.say('Hidden; “Tracks” brings it back', true);
  }

  private only(row: Row): void {
    const processes = this.trace?.processes ?? [];
    const others =
      row.kind === 'process'
        ? processes.map(processKey)
        : row.process.tracks
            .map((track) => track.id)
            .concat(processes.filter((one) => one !== row.process).map(processKey));
    this.hide(others.filter((key) => key !== row.key));
  }

  private move(row: Row, by: number): void {
    const { trace } = this;
    if (trace === null) return;
    const choices = this.choices();
    if (row.kind === 'track' && row.pinned) {
      const pins = moved(choices.pin, row.key, by, []);
      if (pins !== null)
        this.set({ pin: [...pins, ...choices.pin.filter((one) => !pins.includes(one))].join(',') });
      return;
    }
    const ids =
      row.kind === 'process'
        ? ordered(trace.processes, processKey, choices.order).map(processKey)
        : ordered(row.process.tracks, (track) => track.id, choices.order).map((track) => track.id);
    const order = moved(ids, row.key, by, choices.order);
    if (order !== null) this.set({ order: order.join(',') });
  }

  // ---- menus

  private buildColours(panel: HTMLElement): void {
    const pick = new Segmented('Colour by', COLOURS, (value) =>
      this.set({ color: value === 'category' ? null : value }),
    );
    pick.show(this.colour());
    panel.append(h('p', { class: 'soft' }, 'Colour by'), pick.element);
  }

  private buildTracks(panel: HTMLElement): void {
    const item = (label: string, run: () => void): HTMLElement =>
      h('button', { type: 'button', class: 'menu-item', on: { click: run } }, label);
    const choices = this.choices();
    const select = h(
      'select',
      {
        'aria-label': 'Shortest event drawn',
        on: { change: () => this.set({ min: select.value }) },
      },
      ...SHORTEST.map(([value, label]) =>
        h('option', { value, selected: value === this.url.get('min') }, label),
      ),
    );
    panel.append(
      item('Fold all processes', () => this.foldAll(true)),
      item('Unfold all processes', () => this.foldAll(false)),
      choices.hide.size > 0
        ? item(`Show what is hidden (${plural(this.rows.hidden, 'track')})`, () =>
            this.set({ hide: null }),
          )
        : h('p', { class: 'soft' }, 'No track is hidden.'),
    );
    if (choices.pin.length > 0) panel.append(item('Unpin all', () => this.set({ pin: null })));
    if (choices.order.length > 0)
      panel.append(item('Original order', () => this.set({ order: null })));
    panel.append(h('label', { class: 'trace-field' }, 'Shortest event drawn ', select));
  }

  private buildMarks(panel: HTMLElement): void {
    const marks = this.marks();
    panel.append(
      h(
        'button',
        { type: 'button', class: 'menu-item', on: { click: () => this.toggleMark() } },
        'Mark the chosen event, or the middle',
        h('kbd', {}, 'm'),
      ),
    );
    if (marks.length === 0)
      panel.append(h('p', { class: 'soft' }, 'No marks yet. Marks become part of the address.'));
    marks.forEach((mark, index) => {
      const put = (next: Mark[]): void => this.set({ mark: writeMarks(next) }, 'replace');
      const label = h('input', {
        type: 'text',
        class: 'option-input',
        value: mark.label,
        placeholder: `Mark ${index + 1}`,
        'aria-label': `Label of the mark at ${timeText(mark.ps)}`,
        on: {
          change: () =>
            put(
              this.marks().map((one, at) => (at === index ? { ...one, label: label.value } : one)),
            ),
        },
      });
      const line = h(
        'div',
        { class: 'trace-mark' },
        label,
        h(
          'button',
          {
            type: 'button',
            class: 'linklike',
            on: {
              click: () =>
                this.glide(centred(this.target(), mark.ps, this.trace?.duration_ps ?? 0)),
            },
          },
          timeText(mark.ps),
        ),
        iconButton('close', `Remove the mark at ${timeText(mark.ps)}`, () => {
          put(this.marks().filter((_one, at) => at !== index));
          line.remove();
        }),
      );
      panel.append(line);
    });
    if (this.url.get('measure') !== '')
      panel.append(
        h(
          'button',
          { type: 'button', class: 'menu-item', on: { click: () => this.set({ measure: null }) } },
          'Remove the measured time',
        ),
      );
  }

  private buildExport(panel: HTMLElement): void {
    const { from, to } = this.target();
    const query = { ...this.server?.query };
    const range = { from_ps: wholePs(from), to_ps: wholePs(to) };
    const link = (label: string, format: string, more: object): HTMLElement =>
      h(
        'a',
        { href: address('trace_viewer/export', { ...query, format, ...more }), download: true },
        label,
      );
    panel.append(
      h('p', { class: 'soft' }, 'The visible range'),
      link('Chrome trace (JSON, gzip)', 'chrome', range),
      link('Perfetto trace', 'perfetto', range),
      h('p', { class: 'soft' }, 'The whole trace'),
      link('Chrome trace (JSON, gzip)', 'chrome', {}),
      link('Perfetto trace', 'perfetto', {}),
    );
  }

  // ---- keys

  private addKeys(): void {
    const { keys } = this.context;
    const add = (
      key: string,
      what: string,
      run: () => void | boolean,
      more: { code?: string; group?: string } = {},
    ): void => {
      this.removers.push(
        keys.add({
          keys: key,
          what,
          group: more.group ?? 'On the timeline',
          ...(more.code === undefined ? {} : { code: more.code }),
          run: (event) => {
            if (this.timeline === null || run() === false) return;
            this.timeline.quiet();
            event.preventDefault();
          },
        }),
      );
    };
    const moves: [string, string, string, Held][] = [
      ['w', 'Zoom in', 'KeyW', 'in'],
      ['s', 'Zoom out', 'KeyS', 'out'],
      ['a', 'Move left', 'KeyA', 'left'],
      ['d', 'Move right', 'KeyD', 'right'],
    ];
    for (const [key, what, code, held] of moves)
      add(key, what, () => this.timeline?.motion.hold(held), { code });
    const release = (event: KeyboardEvent): void => {
      const move = moves.find(([, , code]) => code === event.code);
      if (move !== undefined) this.timeline?.motion.release(move[3]);
    };
    const releaseAll = (): void => this.timeline?.motion.release();
    document.addEventListener('keyup', release);
    window.addEventListener('blur', releaseAll);
    this.removers.push(() => {
      document.removeEventListener('keyup', release);
      window.removeEventListener('blur', releaseAll);
    });
    const zoom = (factor: number) => (): void =>
      this.glide(
        zoomAbout(
          this.target(),
          this.timeline?.focusTime() ?? 0,
          factor,
          this.trace?.duration_ps ?? 0,
        ),
      );
    add('+', 'Zoom in', zoom(0.6));
    add('=', 'Zoom in', zoom(0.6));
    add('-', 'Zoom out', zoom(1 / 0.6));
    add('f', 'Centre the selection; press twice to zoom to it', () => this.fit());
    add('0', 'The whole trace', () => {
      if (this.trace !== null) this.glide(this.all(this.trace));
    });
    add('m', 'Set or remove a mark', () => this.toggleMark());
    add('r', 'Selection becomes an area', () =>
      this.event === null ? false : this.areaOf(this.event),
    );
    add('.', 'Next event of the row', () => this.neighbour('next'));
    add(',', 'Previous event of the row', () => this.neighbour('previous'));
    add('>', 'Next event of the same name', () => this.neighbour('same_name_next'));
    add('<', 'Previous event of the same name', () => this.neighbour('same_name_previous'));
    add(']', 'Follow the link to what it leads to', () => this.follow('out'));
    add('[', 'Follow the link to where it comes from', () => this.follow('in'));
    add('N', 'Next event found', () => void this.search?.step(1));
    add('P', 'Previous event found', () => void this.search?.step(-1));
    MODES.forEach(({ value, label }, index) =>
      add(String(index + 1), `Mode: ${label.toLowerCase()}`, () => this.setMode(value)),
    );
    add('v', 'Timeline or list', () =>
      this.set({ view: this.url.get('view') === 'list' ? null : 'list' }),
    );
    add('n', 'Next step', () => this.stepBy(1), { group: 'Steps' });
    add('p', 'Previous step', () => this.stepBy(-1), { group: 'Steps' });
    const within: [string, string, () => void][] = [
      ['ArrowRight', 'Next event of the row', () => this.neighbour('next')],
      ['ArrowLeft', 'Previous event of the row', () => this.neighbour('previous')],
      ['ArrowDown', 'First event inside, else the track below', () => this.neighbour('child')],
      ['ArrowUp', 'The event around it, else the track above', () => this.neighbour('parent')],
      ['PageDown', 'Scroll down', () => this.timeline?.scrollBy(4 * SCROLL_PX)],
      ['PageUp', 'Scroll up', () => this.timeline?.scrollBy(-4 * SCROLL_PX)],
      ['Home', 'To the beginning', () => this.edge(0)],
      ['End', 'To the end', () => this.edge(this.trace?.duration_ps ?? 0)],
      ['Enter', 'Details of the chosen event', () => this.toDetails()],
    ];
    for (const [key, what, run] of within) {
      this.removers.push(
        keys.add({
          keys: key,
          what,
          group: 'With the timeline in focus',
          within: this.stage,
          run: (event) => {
            // Tables, menus and names beside the timeline have their own arrows.
            if (event.target !== this.timeline?.area) return;
            event.preventDefault();
            this.timeline.quiet();
            run();
          },
        }),
      );
    }
    this.removers.push(
      keys.add({
        keys: 'Escape',
        what: 'Cancel a drag, clear the measured time',
        group: 'On the timeline',
        run: (event) => {
          if (document.querySelector('dialog[open]') !== null) return;
          if (this.timeline?.cancelPointer() === true) event.preventDefault();
          else if (
            this.url.get('sel') === '' &&
            this.url.get('q') === '' &&
            this.url.get('measure') !== ''
          ) {
            this.set({ measure: null });
            event.preventDefault();
          }
        },
      }),
    );
    const find = (event: Event): void => {
      if (this.timeline === null) return;
      event.preventDefault();
      void this.search?.step((event as CustomEvent<number>).detail);
    };
    document.addEventListener('find', find);
    this.removers.push(() => document.removeEventListener('find', find));
  }

  private edge(ps: number): void {
    const size = this.target().to - this.target().from;
    this.glide(
      centred(
        this.target(),
        ps === 0 ? size * 0.48 : ps - size * 0.48,
        this.trace?.duration_ps ?? 0,
      ),
    );
  }

  private toDetails(): void {
    if (this.event === null) this.pickFirst();
    else this.detail.element.querySelector<HTMLElement>('button, a')?.focus();
  }
}

export const page: PageType = (context) => new TraceViewerPage(context);
