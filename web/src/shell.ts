// SPDX-License-Identifier: Apache-2.0
// The frame around every page: top bar, navigation, search, dialogs.

import type { RunSummary, Tool } from './core/api';
import { append, fill, h, icon } from './core/dom';
import { ago, bytes, joined, runTime } from './core/format';
import { setSingleKeys, singleKeysOn, type Keys } from './core/keys';
import { nearest, type Runs } from './core/runs';
import { nextTheme, themeChoice, type ThemeChoice } from './core/theme';
import { formatPlace, type Patch, type UrlState } from './core/url_state';
import { openDialog } from './components/dialog';
import { lazyDialog } from './components/lazy_page';
import { optionList, type Choice } from './components/option_list';
import { Picker } from './components/picker';
import { iconButton } from './components/states';

/**
 * Keys of the address that stay when another tool is opened; the rest belongs to the page that is
 * left.
 */
const SHARED_KEYS = [
  'run',
  'host',
  'base',
  't',
  'step_source',
  'peak_tflops',
  'peak_hbm_gbs',
  'peak_sram_gbs',
];

/** Pages that speak of steps keep the chosen ones among each other. */
const STEP_KEYS = ['step', 'steps'];

const THEME_ICON = { auto: 'theme', light: 'sun', dark: 'moon' } as const;
const THEME_WORD: Record<ThemeChoice, string> = {
  auto: 'same as the system',
  light: 'light',
  dark: 'dark',
};

export class Shell {
  readonly main = h('main', { id: 'main', tabindex: '-1' });
  private readonly nav = h('nav', { id: 'nav', 'aria-label': 'Tools' });
  private readonly search = h('input', {
    type: 'search',
    'aria-label': 'Filter',
    autocomplete: 'off',
    spellcheck: 'false',
    enterkeyhint: 'search',
  });
  private readonly regexButton = h(
    'button',
    {
      type: 'button',
      class: 'regex',
      'aria-pressed': 'false',
      'aria-label': 'Regular expression',
      title: 'Read the filter as a regular expression',
    },
    '.*',
  );
  private readonly runPicker: Picker;
  private readonly basePicker: Picker;
  private readonly hostPicker: Picker;
  private readonly swap: HTMLButtonElement;
  private readonly clearBase: HTMLButtonElement;
  private readonly themeButton: HTMLButtonElement;
  private readonly menuButton: HTMLButtonElement;
  private readonly toast = h('div', { class: 'toast', role: 'status', 'aria-live': 'polite' });
  private readonly trouble = h('div', { class: 'trouble', role: 'alert', hidden: true });
  private tools: readonly Tool[] = [];
  private toolKeys: (() => void)[] = [];
  private toastTimer: number | undefined;

  constructor(
    private readonly url: UrlState,
    private readonly runs: Runs,
    private readonly keys: Keys,
  ) {
    this.runPicker = new Picker({
      label: 'run',
      placeholder: 'Find a run',
      choices: () => this.runChoices((run) => this.chooseRun(run), url.get('run')),
    });
    this.basePicker = new Picker({
      label: 'vs',
      placeholder: 'Find a run to compare with',
      choices: () => [
        ...(url.get('base') === ''
          ? []
          : [{ label: 'No comparison', pick: () => this.setBase(null) }]),
        ...this.runChoices(
          (run) => this.setBase(run),
          url.get('base'),
          nearest(this.runs.list?.runs ?? [], url.get('run')),
        ),
      ],
    });
    this.hostPicker = new Picker({
      label: 'host',
      placeholder: 'Find a host',
      choices: () => this.hostChoices(),
    });
    this.swap = iconButton('swap', 'Swap run and base', () =>
      url.set({ run: url.get('base'), base: url.get('run'), sel: null }),
    );
    this.clearBase = iconButton('close', 'Stop comparing', () => this.setBase(null));
    this.themeButton = iconButton('theme', 'Theme', () => {
      nextTheme();
      this.showTheme();
      this.say(`Theme: ${THEME_WORD[themeChoice()]}`, true);
    });
    this.menuButton = iconButton('menu', 'Tools', () => this.toggleNav());
    this.menuButton.classList.add('nav-button');
    this.menuButton.setAttribute('aria-controls', 'nav');
    this.wireSearch();
    this.addKeys();
    const kbd = h('kbd', { 'aria-hidden': 'true' }, '/');
    append(document.body, [
      h(
        'a',
        {
          class: 'skip',
          href: '#main',
          on: {
            click: (event) => {
              event.preventDefault();
              this.main.focus();
            },
          },
        },
        'Skip to content',
      ),
      h(
        'div',
        { class: 'shell' },
        h(
          'header',
          { class: 'top' },
          this.menuButton,
          h(
            'a',
            {
              class: 'brand',
              href: '#/',
              'aria-label': 'tfprof, list of runs',
              title: 'List of runs',
            },
            'tf',
            h('i', {}, 'prof'),
          ),
          h(
            'div',
            { class: 'picks' },
            this.runPicker.element,
            this.basePicker.element,
            this.swap,
            this.clearBase,
            this.hostPicker.element,
          ),
          h(
            'div',
            { class: 'find', role: 'search' },
            icon('search'),
            this.search,
            this.regexButton,
            kbd,
          ),
          h(
            'div',
            { class: 'tools' },
            this.captureButton(),
            this.themeButton,
            iconButton('help', 'Help and keys', () => this.help()),
          ),
        ),
        this.nav,
        h('div', { class: 'body' }, this.trouble, this.main),
      ),
      this.toast,
    ]);
    this.showTheme();
  }

  /** Brings the bars in line with the address and the tools of its run. */
  show(tools: readonly Tool[], current: Tool | null, filters: string): void {
    const { url } = this;
    const run = url.get('run');
    const base = url.get('base');
    this.tools = tools;
    const inRun = run !== '';
    this.runPicker.show(run || 'choose a run', !inRun);
    this.basePicker.show(base || 'none', base === '');
    this.basePicker.hidden = !inRun;
    this.swap.hidden = base === '';
    this.clearBase.hidden = base === '';
    const hosts = this.hosts(current);
    const host = url.get('host', '*');
    this.hostPicker.hidden = !inRun || hosts.length === 0;
    this.hostPicker.show(
      host === '*'
        ? hosts.length === 1 || !this.combines(current)
          ? (hosts[0] ?? '')
          : `all ${hosts.length}`
        : host,
    );
    this.search.placeholder = filters;
    this.search.setAttribute('aria-label', filters);
    this.showSearch();
    this.showNav(current);
    this.closeNav();
    document.title = [url.get('t') || (current?.title ?? 'Runs'), run, 'tfprof']
      .filter((part) => part !== '')
      .join(' · ');
  }

  showSearch(): void {
    const query = this.url.get('q');
    if (document.activeElement !== this.search || query === '') this.search.value = query;
    const regex = this.url.get('re') === '1';
    this.regexButton.setAttribute('aria-pressed', String(regex));
    let broken = false;
    try {
      if (regex) RegExp(query);
    } catch {
      broken = true;
    }
    this.search.setAttribute('aria-invalid', String(broken));
  }

  /** Tells a screen reader; with `show`, everybody. */
  say(text: string, show = false): void {
    this.toast.textContent = text;
    this.toast.classList.toggle('shown', show);
    window.clearTimeout(this.toastTimer);
    this.toastTimer = window.setTimeout(() => {
      this.toast.classList.remove('shown');
      this.toast.textContent = '';
    }, 2500);
  }

  /**
   * What keeps the page as a whole from going on, above everything that it still shows; null for
   * nothing.
   */
  showTrouble(title: string | null, text = '', act?: HTMLElement): void {
    this.trouble.hidden = title === null;
    fill(this.trouble, title !== null && h('b', {}, title), h('span', {}, text), act);
  }

  /** Opens a tool of the run in sight. */
  placeOf(tool: string, own: Readonly<Record<string, string>> = {}): string {
    const params: Record<string, string> = {};
    const showsSteps = (name: string): boolean =>
      this.tools.some((one) => one.name === name && one.shows_steps === true);
    const steps = showsSteps(tool) && showsSteps(this.url.place.tool);
    for (const key of steps ? [...SHARED_KEYS, ...STEP_KEYS] : SHARED_KEYS) {
      const value = this.url.get(key);
      if (value !== '') params[key] = value;
    }
    return formatPlace({ tool, params: { ...params, ...own } });
  }

  private wireSearch(): void {
    this.search.addEventListener('input', () => this.url.set({ q: this.search.value }, 'replace'));
    this.search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === 'ArrowDown') {
        event.preventDefault();
        // A page that searches goes to what it found; others go on to their table.
        const find = new CustomEvent('find', {
          bubbles: true,
          cancelable: true,
          detail: event.key === 'Enter' && event.shiftKey ? -1 : 1,
        });
        if (this.main.dispatchEvent(find))
          this.main.querySelector<HTMLElement>('.tabulator-tableholder')?.focus();
      } else if (event.key === 'Escape') {
        event.preventDefault();
        if (this.search.value === '') this.search.blur();
        this.search.value = '';
        this.url.set({ q: null }, 'replace');
      }
    });
    this.regexButton.addEventListener('click', () =>
      this.url.set({ re: this.url.get('re') === '1' ? null : '1' }),
    );
  }

  private addKeys(): void {
    this.keys.add({
      keys: '?',
      what: 'Help',
      group: 'Everywhere',
      run: (event) => {
        event.preventDefault();
        this.help();
      },
    });
    this.keys.add({
      keys: '/',
      what: 'Filter this page',
      group: 'Everywhere',
      run: (event) => {
        event.preventDefault();
        this.search.focus();
        this.search.select();
      },
    });
    this.keys.add({
      keys: 'mod+k',
      what: 'Find a page, run or host',
      group: 'Everywhere',
      run: (event) => {
        event.preventDefault();
        this.palette();
      },
    });
    this.keys.add({
      keys: 'Escape',
      what: 'Close details, then clear the filter',
      group: 'Everywhere',
      run: (event) => {
        if (document.querySelector('dialog[open]') !== null) return;
        if (this.url.get('sel') !== '') this.url.set({ sel: null });
        else if (this.url.get('q') !== '') this.url.set({ q: null });
        else return;
        event.preventDefault();
      },
    });
    this.keys.add({
      keys: 'g c',
      what: 'Capture from a running program',
      group: 'Go to',
      run: (event) => {
        event.preventDefault();
        this.capture();
      },
    });
    this.keys.add({
      keys: 'g r',
      what: 'Go to the list of runs',
      group: 'Go to',
      run: (event) => {
        event.preventDefault();
        location.hash = '#/';
      },
    });
  }

  private showNav(current: Tool | null): void {
    for (const remove of this.toolKeys) remove();
    this.toolKeys = [];
    const list = h('ul', {});
    for (const tool of this.tools) {
      if (tool.available === false) {
        list.append(
          h(
            'li',
            {},
            h(
              'a',
              {
                class: 'off',
                role: 'link',
                'aria-disabled': 'true',
                tabindex: '0',
                title: tool.reason ?? undefined,
              },
              tool.title,
              h(
                'span',
                { class: 'offscreen' },
                `, not available: ${tool.reason ?? 'no reason given'}`,
              ),
            ),
          ),
        );
        continue;
      }
      list.append(
        h(
          'li',
          {},
          h(
            'a',
            {
              href: this.placeOf(tool.name),
              'aria-current': tool.name === current?.name ? 'page' : undefined,
              title: tool.summary,
            },
            tool.title,
          ),
        ),
      );
      if (typeof tool.key === 'string') {
        this.toolKeys.push(
          this.keys.add({
            keys: `g ${tool.key}`,
            what: `Go to ${tool.title}`,
            group: 'Go to',
            run: (event) => {
              event.preventDefault();
              location.hash = this.placeOf(tool.name);
            },
          }),
        );
      }
    }
    const runsLink = h(
      'a',
      {
        href: '#/',
        'aria-current': current === null && this.url.get('run') === '' ? 'page' : undefined,
      },
      'All runs',
    );
    fill(
      this.nav,
      h(
        'div',
        { class: 'nav-lists' },
        this.tools.length > 0 && this.url.get('run') !== '' ? list : null,
        h('ul', { class: 'nav-end' }, h('li', {}, runsLink)),
      ),
    );
  }

  /** Asks running programs for a profile, and shows the new run. */
  capture(): void {
    const options = {
      say: (text: string, show?: boolean) => this.say(text, show),
      openRun: (run: string) =>
        void this.runs.refresh().then(() => this.url.move({ tool: '', params: { run } })),
    };
    lazyDialog('Capture from a running program', 'capture', async () => {
      const { captureDialog } = await import('./components/capture_dialog');
      return (body, close) => captureDialog(body, close, options);
    });
  }

  private captureButton(): HTMLButtonElement {
    const name = 'Capture from a running program';
    return h(
      'button',
      {
        class: 'button capture-button',
        type: 'button',
        'aria-label': name,
        title: name,
        on: { click: () => this.capture() },
      },
      icon('record'),
      h('span', { class: 'capture-label' }, 'Capture'),
    );
  }

  private toggleNav(): void {
    const open = document.body.classList.toggle('nav-open');
    this.menuButton.setAttribute('aria-expanded', String(open));
    if (open) this.nav.querySelector<HTMLElement>('a')?.focus();
  }

  private closeNav(): void {
    document.body.classList.remove('nav-open');
    this.menuButton.setAttribute('aria-expanded', 'false');
  }

  private showTheme(): void {
    const choice = themeChoice();
    fill(this.themeButton, icon(THEME_ICON[choice]));
    this.themeButton.setAttribute('aria-label', `Theme: ${THEME_WORD[choice]}`);
    this.themeButton.title = `Theme: ${THEME_WORD[choice]}`;
  }

  private hosts(current: Tool | null): string[] {
    const listed = (current?.hosts ?? []).filter((host) => host !== 'ALL_HOSTS');
    if (listed.length > 0) return listed;
    return this.runs.list?.runs.find((run) => run.run === this.url.get('run'))?.hosts ?? [];
  }

  /** Whether the tool can show all hosts together. */
  private combines(current: Tool | null): boolean {
    return current?.hosts === undefined || current.hosts.includes('ALL_HOSTS');
  }

  private runChoices(
    pick: (run: string) => void,
    current: string,
    runs: readonly RunSummary[] = this.runs.list?.runs ?? [],
  ): Choice[] {
    const now = new Date();
    // The list may be minutes old on a page that does not poll.
    void this.runs.refresh();
    return runs.map((run) => ({
      label: run.run,
      note: `${ago(runTime(run), now)} · ${joined(bytes(run.bytes))}`,
      current: run.run === current,
      pick: () => pick(run.run),
    }));
  }

  private chooseRun(run: string): void {
    const { url } = this;
    if (url.get('run') === '') {
      url.move({ tool: '', params: { run } });
      return;
    }
    const hosts = this.runs.list?.runs.find((one) => one.run === run)?.hosts ?? [];
    const patch: Patch = { run, sel: null };
    if (!hosts.includes(url.get('host'))) patch['host'] = null;
    if (url.get('base') === run) patch['base'] = null;
    url.set(patch);
  }

  private setBase(base: string | null): void {
    // Columns of the comparison cannot order a table that no longer has them.
    const sort = this.url.get('sort').replace(/^-/, '');
    this.url.set({
      base,
      ...(base === null && ['base', 'delta', 'delta_percent'].includes(sort) ? { sort: null } : {}),
    });
  }

  private hostChoices(): Choice[] {
    const { url } = this;
    const current = this.tools.find((tool) => tool.name === url.place.tool) ?? null;
    const hosts = this.hosts(current);
    const all = hosts.length > 1 && this.combines(current);
    const host = url.get('host', all ? '*' : hosts[0]);
    return [
      ...(all
        ? [
            {
              label: `All ${hosts.length} hosts`,
              current: host === '*',
              pick: () => url.set({ host: null }),
            },
          ]
        : []),
      ...hosts.map((name) => ({
        label: name,
        current: host === name,
        pick: () => url.set({ host: hosts.length > 1 ? name : null }),
      })),
    ];
  }

  private palette(): void {
    openDialog('Find', 'palette', (body, close) => {
      const choices: Choice[] = [
        ...this.tools
          .filter((tool) => tool.available !== false && this.url.get('run') !== '')
          .map((tool) => ({
            label: tool.title,
            group: 'Pages',
            current: tool.name === this.url.place.tool,
            pick: () => {
              location.hash = this.placeOf(tool.name);
            },
          })),
        { label: 'Capture from a running program', group: 'Pages', pick: () => this.capture() },
        {
          label: 'All runs',
          group: 'Pages',
          pick: () => {
            location.hash = '#/';
          },
        },
        ...this.hostChoices()
          .map((choice) => ({ ...choice, group: 'Hosts' }))
          .filter(() => this.url.get('run') !== ''),
        ...this.runChoices((run) => this.chooseRun(run), this.url.get('run')).map((choice) => ({
          ...choice,
          group: 'Runs',
        })),
      ];
      body.append(
        optionList('Find a page, run or host', 'Find a page, run or host', choices, close),
      );
    });
  }

  private help(): void {
    openDialog('Help', 'help', (body) => {
      const version = this.runs.list?.version;
      const groups = new Map<string, [string, string][]>();
      for (const command of this.keys.all()) {
        const group = groups.get(command.group) ?? [];
        group.push([command.keys, command.what]);
        groups.set(command.group, group);
      }
      groups.set('In a table', [
        ['↑ ↓', 'Row above or below'],
        ['← →', 'Cell to the left or right; in a tree, close or open'],
        ['PageUp PageDown', 'A screen up or down'],
        ['Home End', 'First or last row'],
        ['Enter', 'Details of the row'],
        ['mod+c', 'Copy the cell, exactly'],
      ]);
      groups.set('In filter boxes', [
        ['one two', 'Text: both words, upper or lower case'],
        ['=name', 'Text column: exactly this'],
        ['!name', 'Text column: does not contain this'],
        ['/a|b/', 'Text column: regular expression'],
        ['>100', 'Number: more than; also >= < <= ='],
        ['10..20', 'Number: from and to'],
        ['2ms', 'Times may have a unit: ns, us, ms, s'],
      ]);
      const box = h('div', { class: 'key-groups' });
      const mac = /Mac|iP(hone|ad)/.test(navigator.platform);
      for (const [title, entries] of groups) {
        const list = h('dl', {});
        for (const [keys, what] of entries) {
          const caps = keys.split(' ').flatMap((part) => [
            h(
              'kbd',
              {},
              part
                .replace('mod+', mac ? '⌘ ' : 'Ctrl ')
                .replace('Escape', 'Esc')
                .replace('ArrowLeft', '←')
                .replace('ArrowRight', '→')
                .replace('ArrowUp', '↑')
                .replace('ArrowDown', '↓'),
            ),
            ' ',
          ]);
          list.append(h('dt', {}, ...caps), h('dd', {}, what));
        }
        box.append(h('section', {}, h('h3', {}, title), list));
      }
      const input = h('input', {
        type: 'checkbox',
        on: { change: () => setSingleKeys(input.checked) },
      });
      input.checked = singleKeysOn();
      body.append(
        box,
        h('label', { class: 'check' }, input, h('span', {}, 'Use shortcuts of a single key')),
        h(
          'p',
          { class: 'soft' },
          'The address always describes what is shown: copy it to share this view.',
          version === undefined ? '' : ` tfprof-server ${version}.`,
          ' ',
          h('a', { href: 'licenses', target: '_blank', rel: 'noopener' }, 'Licences'),
        ),
      );
    });
  }
}
