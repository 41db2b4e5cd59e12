// SPDX-License-Identifier: Apache-2.0
// Profile: the views of TensorFlow's first profiler (scope, graph, op, code) on a capture, as a
// table and as a flame graph of one answer.

import { address, getJson, type Query } from '../core/api';
import { barCell } from '../components/columns';
import {
  compareColumns,
  compareNote,
  differenceFacts,
  timeMeasure,
} from '../components/compare_columns';
import type { RowTree } from '../components/data_table';
import type { Detail } from '../components/detail_panel';
import { FlameGraph } from '../components/flame_graph';
import { Menu } from '../components/menu';
import { nodeDetail } from '../components/profile_detail';
import { ProfileOptions } from '../components/profile_options';
import { RowDashboard } from '../components/row_dashboard';
import { Segmented } from '../components/segmented';
import { button, notRecorded } from '../components/states';
import { tiles, type Tile } from '../components/stat_tile';
import { ToolView } from '../components/tool_view';
import { treeCell } from '../components/tree_cell';
import { amount, exactAmount, quantity as shownAs } from '../core/amounts';
import { difference, type Difference } from '../core/compare';
import { fill, h, icon } from '../core/dom';
import { columnTextFilter, NameSearch, textFilter } from '../core/filter';
import { reduced, type FlameTree } from '../core/flame';
import {
  count,
  duration,
  inTimeUnit,
  joined,
  percent,
  plural,
  share,
  timeUnit,
} from '../core/format';
import { openRows, toggleRow } from '../core/open_rows';
import type { Page, PageContext, PageType } from '../core/page';
import {
  growsWithSteps,
  passWords,
  placeWords,
  Profile,
  profileScale,
  type NodeAnswer,
  type ProfileAnswer,
  type Quantity,
} from '../core/profile';
import type { Column } from '../core/table_view';
import { slowestLink } from '../core/trace_link';
import { trimRight } from '../core/names';

type View = 'scope' | 'graph' | 'op' | 'code';

const VIEWS: readonly { value: View; label: string; hint: string; root: string }[] = [
  { value: 'scope', label: 'Scope', hint: 'By the parts of names', root: 'All scopes' },
  {
    value: 'graph',
    label: 'Graph',
    hint: 'Programs, and in each its instructions by what they need',
    root: 'All programs',
  },
  { value: 'op', label: 'Operation', hint: 'By type or category', root: 'All types' },
  { value: 'code', label: 'Code', hint: 'By the calls that led there', root: 'All code' },
];

/** The words of `select`, and how the answer calls them. */
const WORDS: readonly { word: string; label: string; ids: readonly string[] }[] = [
  { word: 'micros', label: 'Total time', ids: ['micros'] },
  { word: 'accelerator_micros', label: 'Accelerator time', ids: ['accelerator_micros'] },
  { word: 'cpu_micros', label: 'CPU time', ids: ['cpu_micros'] },
  {
    word: 'occurrence',
    label: 'Runs and definitions',
    ids: ['occurrence_run', 'occurrence_defined'],
  },
  { word: 'float_ops', label: 'Flops', ids: ['float_ops'] },
  { word: 'model_flops', label: 'Model flops', ids: ['model_flops'] },
  { word: 'bytes_accessed', label: 'Bytes accessed', ids: ['bytes_accessed'] },
  { word: 'params', label: 'Parameters', ids: ['params'] },
  { word: 'bytes', label: 'Requested bytes', ids: ['bytes'] },
  { word: 'peak_bytes', label: 'Peak bytes', ids: ['peak_bytes'] },
  { word: 'residual_bytes', label: 'Residual bytes', ids: ['residual_bytes'] },
  { word: 'output_bytes', label: 'Output bytes', ids: ['output_bytes'] },
];
/** What columns are called; the answer's own words are longer. */
const SHORT: Readonly<Record<string, string>> = {
  micros: 'Time',
  accelerator_micros: 'Accelerator',
  cpu_micros: 'CPU',
  bytes: 'Requested',
  peak_bytes: 'Peak',
  residual_bytes: 'Residual',
  output_bytes: 'Output',
  bytes_accessed: 'Accessed',
};
const DEFAULT_SELECT = 'micros,accelerator_micros,cpu_micros,occurrence,float_ops';
/** Choices that make other trees: what was chosen, open or zoomed in the old one is not in these. */
const OTHER_TREE = { sel: null, zoom: null, open: null };
/** A time that is no whole number. */
const PART = 0.5;
/** Lines of the table; who wants others looks for them. */
const MOST_LINES = 5000;
/** Quantities of the whole above the picture. */
const MOST_TILES = 5;

/** Files of the same tree; the server names them. */
const OUTPUTS: readonly { output: string; label: string; hint: string }[] = [
  { output: 'pprof', label: 'pprof', hint: 'For go tool pprof and speedscope' },
  { output: 'folded', label: 'Folded stacks', hint: 'For flamegraph.pl and speedscope' },
  { output: 'csv', label: 'CSV', hint: 'A line for each node, with every quantity' },
  { output: 'json', label: 'JSON', hint: 'What this page is made of' },
  { output: 'text', label: 'Text', hint: 'As TensorFlow’s tfprof prints it' },
];

/** A line of the table; made when it comes into sight. */
class Line {
  readonly depth: number;
  private path: string | null = null;
  private made: Difference | undefined;

  constructor(
    readonly profile: Profile,
    readonly node: number,
    private readonly quantity: string,
  ) {
    this.depth = (profile.depth[node] ?? 1) - 1;
  }

  get key(): string {
    this.path ??= this.profile.key(this.node);
    return this.path;
  }

  get name(): string {
    return this.profile.name(this.node);
  }

  total(quantity: string): number | null {
    return known(this.profile.total(quantity)[this.node]);
  }

  self(quantity: string): number | null {
    return known(this.profile.self(quantity)[this.node]);
  }

  get difference(): Difference | undefined {
    const { profile, node, quantity } = this;
    const bases = profile.baseTotal(quantity);
    if (bases === null) return undefined;
    this.made ??= differenceOf(
      this.total(quantity),
      known(bases[node]),
      profile.isNew(node),
      profile.isGone(node),
      profile.baseName(node),
    );
    return this.made;
  }
}

function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}

function differenceOf(
  now: number | null,
  base: number | null,
  isNew: boolean,
  isGone: boolean,
  baseName: string | null,
): Difference {
  if (isNew) return difference(now, null);
  if (isGone) return { ...difference(null, base ?? 0), base };
  const both =
    now === null || base === null
      ? { base, delta: null, ratio: null, state: 'both' as const }
      : difference(now, base);
  return baseName === null ? both : { ...both, baseName };
}

interface Made {
  key: string;
  profile: Profile;
  quantity: Quantity;
  lines: (Line | undefined)[];
  below: (Line[] | undefined)[];
  flame: FlameTree;
  singles: ReadonlySet<number>;
  /** How the runs were matched; made once. */
  note?: HTMLElement | null;
}

class ProfilePage implements Page {
  readonly element: HTMLElement;
  private readonly view: ToolView<ProfileAnswer>;
  private readonly dashboard: RowDashboard<Line>;
  private readonly views: Segmented;
  private readonly options: ProfileOptions;
  private readonly order = h('select', {});
  private readonly steps = h('select', {});
  private readonly depth = h('input', {
    type: 'text',
    inputmode: 'numeric',
    placeholder: 'any',
    size: '4',
    autocomplete: 'off',
  });
  private readonly quantities = h('select', { 'aria-label': 'Quantity of the picture' });
  private readonly widths: Segmented;
  private readonly focus: HTMLInputElement;
  private readonly hide: HTMLInputElement;
  private readonly outputs: { element: HTMLAnchorElement; output: string }[];
  private readonly flame: FlameGraph;
  private readonly found = h('small', { role: 'status' });
  private readonly title = h('h2', {}, 'Flame graph');
  private readonly hint = h('p', { class: 'soft' });
  private readonly remarks = h('div', { class: 'remarks', hidden: true });
  private readonly search = new NameSearch();
  private answer: ProfileAnswer | null = null;
  private base: ProfileAnswer | null = null;
  private profile: Profile | null = null;
  private made: Made | null = null;
  private lastShape = '';

  constructor(private readonly context: PageContext) {
    const { url, say, tool } = context;
    this.views = new Segmented('View', VIEWS, (value) =>
      url.set({ view: value === 'scope' ? null : value, ...OTHER_TREE }),
    );
    this.options = new ProfileOptions(url, tool);
    this.widths = new Segmented(
      'Boxes are as wide as',
      [
        { value: 'now', label: 'This run' },
        { value: 'base', label: 'Base run' },
      ],
      (value) => url.set({ width: value === 'now' ? null : value }),
    );
    this.focus = this.reducing('focus', 'Focus', 'Only what is in, above or below such names');
    this.hide = this.reducing('drop', 'Hide', 'Without such names and all below them');
    this.order.addEventListener('change', () =>
      url.set({ order_by: this.order.value === 'micros' ? null : this.order.value }),
    );
    this.steps.addEventListener('change', () =>
      url.set({ in_step: this.steps.value === 'all' ? null : this.steps.value }),
    );
    this.depth.addEventListener('change', () => {
      const text = this.depth.value.trim();
      const wrong = !/^\d*$/.test(text);
      this.depth.setAttribute('aria-invalid', String(wrong));
      if (!wrong) url.set({ max_depth: text === '' ? null : text });
    });
    this.quantities.addEventListener('change', () =>
      url.set({
        by: this.quantities.value === this.firstQuantity() ? null : this.quantities.value,
      }),
    );
    this.outputs = OUTPUTS.map(({ output, label, hint }) => ({
      output,
      element: h(
        'a',
        { class: 'button', download: `profile.${output}`, title: hint },
        icon('download'),
        label,
      ),
    }));
    this.flame = new FlameGraph({
      zoom: (key) => url.set({ zoom: key === '' ? null : key }),
      choose: (key) => url.set({ sel: key === '' ? null : key }),
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
        this.title,
        this.found,
        h(
          'div',
          { class: 'acts' },
          this.widths.element,
          field('Focus', this.focus),
          field('Hide', this.hide),
          h('label', { class: 'parameter' }, h('span', {}, 'Quantity'), this.quantities),
        ),
      ),
      this.hint,
      this.flame.element,
    );
    this.dashboard = new RowDashboard<Line>(context, {
      title: 'Profile',
      name: 'tfprof',
      controls: [],
      chart: { element: card, destroy: () => this.flame.destroy() },
      query: () => this.view.query(),
      show: () => undefined,
    });
    this.dashboard.table.element.after(this.remarks);
    this.view = new ToolView<ProfileAnswer>(context, {
      title: tool?.title ?? 'Profile',
      tool: 'tfprof',
      content: this.dashboard.element,
      controls: this.controls(),
      parameters: () => this.parameters(),
      fetch: (query, signal) => getJson<ProfileAnswer>('data', query, signal),
      ready: (answer, base) => {
        this.answer = answer;
        this.base = base;
        this.profile = new Profile(
          answer,
          base,
          base === null ? 1 : profileScale(answer, base),
          VIEWS.find(({ value }) => value === answer.view)?.root ?? 'All',
        );
        this.made = null;
        this.lastShape = '';
        this.refresh();
      },
      changed: () => this.refresh(),
    });
    this.element = this.view.element;
  }

  update(): void {
    this.showControls();
    this.view.update();
  }

  destroy(): void {
    this.view.destroy();
    this.dashboard.destroy();
  }

  /* ---- controls ---- */

  private reducing(key: string, label: string, hint: string): HTMLInputElement {
    const { url } = this.context;
    const input = h('input', {
      type: 'text',
      'aria-label': `${label} (picture)`,
      title: `${hint}: a part of the name, =exactly, or /expression/`,
      placeholder: 'name',
      autocomplete: 'off',
      spellcheck: 'false',
      size: '10',
      on: { input: () => url.set({ [key]: input.value === '' ? null : input.value }, 'replace') },
    });
    return input;
  }

  private controls(): HTMLElement {
    const { url } = this.context;
    const menu = new Menu('Quantities', (panel) => {
      panel.append(h('p', { class: 'soft' }, 'Quantities in the table'));
      const chosen = new Set(this.selected());
      for (const { word, label } of WORDS) {
        const input = h('input', {
          type: 'checkbox',
          on: {
            change: () => {
              if (input.checked) chosen.add(word);
              else chosen.delete(word);
              // None at all would be a table without numbers.
              if (chosen.size === 0) chosen.add('micros');
              const text = WORDS.filter((one) => chosen.has(one.word))
                .map((one) => one.word)
                .join(',');
              url.set({ select: text === DEFAULT_SELECT ? null : text });
            },
          },
        });
        input.checked = chosen.has(word);
        panel.append(h('label', { class: 'check' }, input, h('span', {}, label)));
      }
    });
    fill(
      this.order,
      ...WORDS.map(({ word, label }) =>
        h('option', { value: word }, word === 'occurrence' ? 'Runs' : label),
      ),
      h('option', { value: 'name' }, 'Name'),
    );
    return h(
      'div',
      { class: 'profile-controls' },
      h(
        'div',
        { class: 'controls' },
        this.views.element,
        menu.element,
        h('label', { class: 'parameter' }, h('span', {}, 'Order'), this.order),
        h('label', { class: 'parameter' }, h('span', {}, 'Steps'), this.steps),
        h('label', { class: 'parameter' }, h('span', {}, 'Depth'), this.depth),
      ),
      h(
        'div',
        { class: 'profile-bar' },
        this.options.element,
        h(
          'div',
          { class: 'acts outputs', role: 'group', 'aria-label': 'Save as' },
          ...this.outputs.map(({ element }) => element),
        ),
      ),
      this.options.chips,
    );
  }

  private viewOf(): View {
    const wanted = this.context.url.get('view', 'scope');
    return VIEWS.find(({ value }) => value === wanted)?.value ?? 'scope';
  }

  private selected(): string[] {
    return this.context.url
      .get('select', DEFAULT_SELECT)
      .split(',')
      .filter((word) => WORDS.some((one) => one.word === word));
  }

  /** The first of the chosen quantities is what the picture is of, unless another is chosen. */
  private firstQuantity(): string {
    const selected = this.selected();
    return WORDS.find(({ word }) => selected.includes(word))?.ids[0] ?? 'micros';
  }

  private wanted(): string {
    const by = this.context.url.get('by');
    return WORDS.some(({ ids }) => ids.includes(by)) ? by : this.firstQuantity();
  }

  private orderBy(): string {
    const wanted = this.context.url.get('order_by', 'micros');
    return wanted === 'name' || WORDS.some(({ word }) => word === wanted) ? wanted : 'micros';
  }

  private parameters(): Query {
    const { url } = this.context;
    const own = WORDS.find(({ ids }) => ids.includes(this.wanted()))?.word ?? 'micros';
    const words = WORDS.map(({ word }) => word).filter(
      (word) => word === own || this.selected().includes(word),
    );
    const [view, order, select] = [this.viewOf(), this.orderBy(), words.join(',')];
    return {
      view: view === 'scope' ? null : view,
      select: select === DEFAULT_SELECT ? null : select,
      order_by: order === 'micros' ? null : order,
      max_depth: url.get('max_depth') || null,
      step: url.get('in_step') || null,
      ...this.options.query(),
    };
  }

  private showControls(): void {
    const { url } = this.context;
    this.views.show(this.viewOf());
    this.order.value = this.orderBy();
    this.showSteps();
    this.options.show();
    for (const [input, value] of [
      [this.depth, url.get('max_depth')],
      [this.focus, url.get('focus')],
      [this.hide, url.get('drop')],
    ] as const)
      if (document.activeElement !== input) input.value = value;
    const query = this.view.query();
    for (const { element, output } of this.outputs)
      element.href = address('data', {
        ...query,
        ...(output === 'json' ? {} : { output }),
        ...(output === 'pprof' || output === 'folded'
          ? {
              output_quantity:
                this.wanted() === 'occurrence_run' || this.wanted() === 'occurrence_defined'
                  ? 'occurrence'
                  : this.wanted(),
            }
          : {}),
      });
  }

  private showSteps(): void {
    const wanted = this.context.url.get('in_step', 'all');
    const steps = this.answer?.steps ?? [];
    const options = [
      h('option', { value: 'all' }, 'all together'),
      ...(steps.length > 0 ? [h('option', { value: 'mean' }, 'mean of one')] : []),
      ...steps.map(({ id, name }) => h('option', { value: String(id) }, name)),
    ];
    // What the address asks for can be seen before the answer is there.
    if (!options.some(({ value }) => value === wanted))
      options.push(h('option', { value: wanted }, wanted));
    fill(this.steps, ...options);
    this.steps.value = wanted;
  }

  /* ---- what is shown ---- */

  private refresh(): void {
    const { answer, profile } = this;
    if (answer === null || profile === null) return;
    this.showControls();
    const nothing = profile.size <= 1;
    this.dashboard.nothing(nothing);
    fill(this.dashboard.notice, nothing ? this.nothing(answer) : this.notices(answer));
    if (nothing) return;
    const made = this.make(profile, answer);
    const { quantity } = made;
    const { url } = this.context;
    fill(
      this.quantities,
      ...answer.quantities.map(({ id, label }) => h('option', { value: id }, label)),
    );
    this.quantities.value = quantity.id;
    this.widths.show(url.get('width', 'now') === 'base' ? 'base' : 'now');
    this.widths.element.hidden = this.base === null;
    this.hint.textContent = `A click chooses, a double click zooms. The search above marks what it finds.${this.base === null ? '' : ' Red is more than in the base run, green is less; what half as much more or less has the full colour.'}`;
    this.title.textContent = `Flame graph: ${quantity.label.toLowerCase()}`;
    fill(this.dashboard.tileSlot, tiles(this.tiles(answer, profile)));
    if (made.note === undefined) made.note = this.comparison(made);
    if (this.dashboard.compareSlot.firstChild !== made.note)
      fill(this.dashboard.compareSlot, made.note);
    this.showRemarks(answer);
    const shape = [url.get('open'), url.get('cols'), quantity.id].join('|');
    if (shape === this.lastShape) this.dashboard.table.update();
    else {
      this.lastShape = shape;
      this.dashboard.table.set({
        rows: this.below(made, 0),
        columns: this.columns(made, answer),
        noun: 'lines',
        tree: this.rowTree(made),
      });
    }
    this.flame.set({
      tree: made.flame,
      measure: quantity.label,
      format: amount(quantity.unit),
      compare: this.base !== null,
      byBase: this.base !== null && url.get('width') === 'base',
      zoom: url.get('zoom'),
      selected: url.get('sel'),
      search: this.search.find(url.get('q'), url.get('re') === '1'),
      summary: this.summary(made),
    });
    this.showDetail(made);
  }

  private summary({ profile, quantity }: Made): string {
    const [first] = profile.below(0);
    const total = profile.total(quantity.id);
    return first === undefined
      ? 'There is nothing in it.'
      : `${count(profile.below(0).length)} at the top, of ${plural(profile.size, 'node')}; the first is ${profile.name(first)} with ${percent(share(total[first] ?? 0, total[0] ?? 0))}. The table below has the same tree.`;
  }

  /** Made anew for another answer, quantity, focus or hiding. */
  private make(profile: Profile, answer: ProfileAnswer): Made {
    const { url } = this.context;
    const wanted = this.wanted();
    const quantity = answer.quantities.find(({ id }) => id === wanted) ??
      answer.quantities[0] ?? { id: wanted, label: 'Amount', unit: 'count' };
    const key = JSON.stringify([quantity.id, url.get('focus'), url.get('drop')]);
    if (this.made?.key === key && this.made.profile === profile) return this.made;
    const same = this.made?.profile === profile && this.made.quantity.id === quantity.id;
    const test = (text: string): ((name: string) => boolean) | null => {
      const filter = columnTextFilter(text);
      return text.trim() === '' || filter.problem !== null ? null : filter.test;
    };
    const [focus, hide] = [test(url.get('focus')), test(url.get('drop'))];
    this.made = {
      key,
      profile,
      quantity,
      lines: same && this.made !== null ? this.made.lines : [],
      below: same && this.made !== null ? this.made.below : [],
      singles: profile.singles(),
      flame: reduced(
        {
          parent: profile.parent,
          value: profile.total(quantity.id),
          base: profile.baseTotal(quantity.id),
          name: (node) => profile.name(node),
          key: (node) => profile.key(node),
          find: (text) => profile.find(text),
        },
        focus,
        hide,
      ),
    };
    return this.made;
  }

  private line(made: Made, node: number): Line {
    return (made.lines[node] ??= new Line(made.profile, node, made.quantity.id));
  }

  private below(made: Made, node: number): Line[] {
    return (made.below[node] ??= Array.from(made.profile.below(node), (child) =>
      this.line(made, child),
    ));
  }

  private rowTree(made: Made): RowTree<Line> {
    const { url } = this.context;
    const open = openRows(url);
    return {
      children: (line) => this.below(made, line.node),
      most: MOST_LINES,
      kept: ({ q, regex, where }) => {
        const filter = textFilter(q, regex);
        if (Object.keys(where).length > 0 || filter.problem !== null) return null;
        const kept = made.profile.kept(filter.test);
        return (line) => kept[line.node] === 1;
      },
      depth: (line) => line.depth,
      // As long as there is but one way there is nothing to see until it is open.
      isOpen: (line) =>
        made.profile.below(line.node).length > 0 &&
        open.has(line.key) !== made.singles.has(line.node),
      toggle: (line) => toggleRow(url, line.key),
    };
  }

  private nothing(answer: ProfileAnswer): HTMLElement {
    const filtered = this.options.isSet();
    return notRecorded(
      filtered ? 'Nothing is left of the profile' : 'There is nothing to divide in this capture',
      ...(filtered
        ? [
            h('p', {}, 'Thresholds and expressions hide every node.'),
            h(
              'p',
              { class: 'acts' },
              button('Show everything', () => this.options.clear()),
            ),
          ]
        : [
            h('p', {}, 'No operation was recorded, on the host or on a device.'),
            ...(answer.notes ?? []).map((note) => h('p', { class: 'soft' }, note)),
          ]),
    );
  }

  private notices(answer: ProfileAnswer): HTMLElement {
    const { url } = this.context;
    const said = (title: string, ...text: (string | HTMLElement)[]): HTMLElement =>
      h('div', { class: 'verdict info' }, h('b', {}, title), h('span', {}, ...text));
    const { left_out: left, cut_count: cut, shown_count: shown } = answer;
    return h(
      'div',
      {},
      left.ops > 0 &&
        said(
          'Left out',
          `${plural(left.ops, 'kernel or copy', 'kernels and copies')} with ${joined(duration(left.micros))} belong to no operation. `,
          button('Show them', () => url.set({ others: 'true' })),
        ),
      cut > 0 &&
        said(
          'Cut',
          `Of ${count(shown)} nodes the ${count(shown - cut)} largest are here. Totals count all of them.`,
        ),
    );
  }

  /** What is to be known of the numbers, below them. */
  private showRemarks(answer: ProfileAnswer): void {
    const params =
      answer.params_rule !== undefined && answer.quantities.some(({ id }) => id === 'params');
    const notes = [
      ...(answer.steps_by_module === true
        ? ['Nobody marked steps: executions of a program are taken for them.']
        : []),
      ...(answer.notes ?? []),
    ];
    this.remarks.hidden = notes.length === 0 && !params;
    fill(
      this.remarks,
      ...notes.map((note) => h('p', { class: 'soft' }, note)),
      params &&
        h(
          'p',
          { class: 'soft' },
          'Parameters are entry parameters of programs whose names match ',
          h('code', {}, answer.params_rule ?? ''),
          `: ${plural(answer.params_found ?? 0, 'parameter')}. Another rule can be set with the thresholds.`,
        ),
    );
  }

  private comparison(made: Made): HTMLElement | null {
    const { answer, base } = this;
    if (answer === null || base === null) return null;
    const { profile } = made;
    const lines: Line[] = [];
    for (let node = 1; node < profile.size; node += 1) lines.push(this.line(made, node));
    return compareNote<Line>(
      lines,
      (line) => line.difference,
      (line) => line.name,
      ['node', 'nodes'],
      growsWithSteps(made.quantity.id) && profile.scale !== 1
        ? { now: answer.steps_total, base: base.steps_total }
        : null,
    );
  }

  private tiles(answer: ProfileAnswer, profile: Profile): Tile[] {
    return answer.quantities.slice(0, MOST_TILES).map(({ id, label, unit }) => {
      const value = known(profile.total(id)[0]);
      const base = known(profile.baseTotal(id)?.[0]);
      const partial = profile.isPartial(id, 0);
      return {
        label,
        hint: `${label} of all that is shown${partial ? '; a part of it is unknown' : ''}`,
        value,
        format: shownAs(unit),
        ...(value === null ? {} : { exact: exactAmount(unit, value) }),
        ...(partial ? { note: 'at least: a part is unknown' } : {}),
        ...(this.base === null ? {} : { base }),
        // Counts are neither good nor bad.
        ...(unit === 'us' || unit === 'bytes' ? { better: 'lower' as const } : {}),
      };
    });
  }

  private columns(made: Made, answer: ProfileAnswer): Column<Line>[] {
    const { profile, quantity } = made;
    const compare = this.base !== null;
    const main = profile.total(quantity.id);
    const amountColumn = (
      { id, label, unit }: Quantity,
      own: boolean,
      extra: Partial<Column<Line>>,
    ): Column<Line> => {
      const values = own ? profile.self(id) : profile.total(id);
      const largest = values.reduce((most, one) => (one > most ? one : most), 0);
      // Parts of whole numbers need not be whole.
      const time = timeUnit([largest, PART]);
      const inUnit = unit === 'us' ? ` (${time.name})` : '';
      const short = SHORT[id] ?? label;
      // The chosen quantity's own part stands beside its total.
      const title = !own ? short : id === quantity.id ? 'Own' : `Own ${short.toLowerCase()}`;
      const show = amount(unit);
      return {
        id: own ? `${id}_self` : id,
        title: `${title}${inUnit}`,
        ...(unit === 'us' ? { time: true, unit: time.name, csvTitle: `${title} (µs)` } : {}),
        hint: own ? `${label} of the node itself` : `${label} of the node and all below it`,
        kind: 'number',
        width: 104,
        value: (line) => (own ? line.self(id) : line.total(id)),
        text: (cell, line) =>
          typeof cell !== 'number'
            ? '–'
            : `${!own && profile.isPartial(id, line.node) ? '≥ ' : ''}${unit === 'us' ? inTimeUnit(cell, time) : show(cell).replace(/FLOP$/, '').trim()}`,
        ...extra,
      };
    };
    const passes = (profile.flags(0) & 7) !== 0;
    return [
      {
        id: 'name',
        title: 'Name',
        kind: 'text',
        grow: true,
        narrow: true,
        width: 300,
        value: (line) => line.name,
        node: (line) => this.nameCell(made, line),
        hint: 'Scope, instruction, type or line of code',
      },
      amountColumn(quantity, false, { narrow: true }),
      ...(compare
        ? compareColumns<Line>(
            quantity.label,
            (line) => line.difference,
            quantity.unit === 'us'
              ? timeMeasure([known(main[0]), PART])
              : { unit: '', time: false, show: amount(quantity.unit) },
          )
        : []),
      {
        id: 'share',
        title: 'Share',
        kind: 'number',
        scale: 0.01,
        width: 112,
        narrow: !compare,
        hint: `Share of all: ${quantity.label.toLowerCase()}`,
        value: (line) => {
          const value = line.total(quantity.id);
          return value === null ? null : share(value, main[0] ?? 0);
        },
        node: (_line, value) =>
          typeof value === 'number'
            ? barCell(value, 'device-compute')
            : h('span', { class: 'soft' }, '–'),
      },
      amountColumn(quantity, true, { hidden: compare }),
      ...answer.quantities
        .filter(({ id }) => id !== quantity.id)
        .flatMap((one) => [
          amountColumn(one, false, { hidden: one.id === 'occurrence_defined' }),
          amountColumn(one, true, { hidden: true }),
        ]),
      {
        id: 'pass',
        title: 'Pass',
        kind: 'text',
        quiet: true,
        hidden: !passes,
        width: 150,
        hint: 'Forward, backward, or computed once more to spare memory',
        value: (line) => passWords(profile.flags(line.node)).join(', ') || null,
      },
      {
        id: 'where',
        title: 'Where',
        kind: 'text',
        quiet: true,
        hidden: true,
        width: 110,
        hint: 'Whether it ran on a device or on the host',
        value: (line) => placeWords(profile.flags(line.node)).join(', ') || null,
      },
    ];
  }

  private nameCell(made: Made, line: Line): HTMLElement {
    const cut = made.profile.cut(line.node);
    return treeCell(
      line,
      this.rowTree(made),
      line.name,
      line.name,
      cut > 0 && h('small', { class: 'soft' }, ` ${count(cut)} cut`),
    );
  }

  /* ---- a node ---- */

  private showDetail(made: Made): void {
    const node = made.profile.find(this.context.url.get('sel'));
    this.dashboard.choose(node < 0 ? null : this.describe(made, node));
  }

  private describe(made: Made, node: number): Detail {
    const { profile, quantity } = made;
    const line = this.line(made, node);
    const path = profile.path(node);
    const name = profile.name(node);
    const show = amount(quantity.unit);
    const [total, whole] = [line.total(quantity.id), known(profile.total(quantity.id)[0])];
    const gone = profile.isGone(node);
    const difference = node === 0 ? undefined : line.difference;
    const query: Query = { ...this.view.query(), node: JSON.stringify(path) };
    return {
      key: JSON.stringify([query, quantity.id, this.context.url.get('zoom'), this.base === null]),
      title: trimRight(name, 120),
      full: path.length === 0 ? name : path.join('/'),
      facts: [
        ...(total === null
          ? []
          : [
              {
                label: quantity.label,
                text: show(total),
                exact: exactAmount(quantity.unit, total),
              },
              ...(whole === null || node === 0
                ? []
                : [{ label: 'Share of all', text: percent(share(total, whole)) }]),
            ]),
        ...[
          { label: 'Pass', text: passWords(profile.flags(node)).join(', ') },
          { label: 'Ran on', text: placeWords(profile.flags(node)).join(', ') },
        ].filter(({ text }) => text !== ''),
        ...(profile.below(node).length > 0
          ? [{ label: 'In it', text: count(profile.below(node).length) }]
          : []),
        ...differenceFacts(difference, show),
      ],
      query: null,
      slowest: slowestLink(this.context),
      extra: this.acts(made, node),
      ...(gone
        ? {}
        : {
            late: async (signal) => {
              const answer = await getJson<NodeAnswer>('data', query, signal);
              const [instances] = answer.links.instances;
              return {
                element: nodeDetail(answer, this.context),
                query:
                  instances === undefined || answer.children > 0
                    ? null
                    : { run: query['run'], host: query['host'], ...instances },
              };
            },
          }),
    };
  }

  /** What can be done with a node in the picture. */
  private acts(made: Made, node: number): HTMLElement {
    const { url } = this.context;
    const { profile } = made;
    const key = profile.key(node);
    const name = profile.name(node);
    const zoomed = url.get('zoom') === key;
    if (node === 0) return h('div', {});
    return h(
      'p',
      { class: 'acts' },
      profile.below(node).length > 0 &&
        button(zoomed ? 'Show all' : 'Zoom in', () => url.set({ zoom: zoomed ? null : key })),
      button('Focus on the name', () => url.set({ focus: `=${name}`, zoom: null })),
      button('Hide the name', () => url.set({ drop: `=${name}`, zoom: null })),
    );
  }
}

function field(label: string, input: HTMLInputElement): HTMLElement {
  return h('label', { class: 'parameter' }, h('span', {}, label), input);
}

export const page: PageType = (context) => new ProfilePage(context);
