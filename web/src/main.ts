// SPDX-License-Identifier: Apache-2.0
// From the address to a page.

import {
  ApiError,
  findTool,
  getJson,
  isAbort,
  onMissing,
  onSignedOut,
  type Tool,
} from './core/api';
import { connection } from './core/connection';
import { fill, h } from './core/dom';
import { sentence } from './core/format';
import { Keys } from './core/keys';
import type { Page, PageType } from './core/page';
import { Runs } from './core/runs';
import { startTheme } from './core/theme';
import { UrlState } from './core/url_state';
import { lazyPage } from './components/lazy_page';
import { button, errorState, notRecorded, signedOutState, skeleton } from './components/states';
import { PAGES } from './pages';
import { runsPage } from './pages/runs';
import { Shell } from './shell';

/**
 * Of a page that does not show the list of runs; it is asked at once when something is not there.
 */
const PACE = 3;

/** The page of a tool: its own, or for one that brings none its tables. */
function pageOf(name: string): PageType {
  const own = PAGES[name];
  return lazyPage(async () =>
    own === undefined ? (await import('./pages/tables')).tables : (await own()).page,
  );
}

class App {
  private readonly url = new UrlState();
  private readonly keys = new Keys();
  private readonly runs = new Runs();
  private readonly shell = new Shell(this.url, this.runs, this.keys);
  private page: { name: string; page: Page } | null = null;
  private tools: { run: string; list: Tool[] } | null = null;
  private toolsRequest: AbortController | null = null;
  /** Only a visit without an address of its own is sent on to the one run there is. */
  private entering = true;
  private signedOut = false;
  /** The run in sight, once it was in the list: what never was there was not deleted. */
  private listed = '';
  private gone = false;

  start(): void {
    onSignedOut(() => this.signOut());
    this.url.subscribe(() => this.route());
    this.runs.subscribe(() => {
      this.lookForRun();
      if (this.entering || this.url.get('run') !== '') this.route();
    });
    this.runs.watch(PACE);
    onMissing(() => void this.runs.refresh());
    connection.subscribe(() => this.showTrouble());
    connection.onReturn(() => {
      void this.runs.refresh();
      this.reopen();
      return true;
    });
    connection.start();
    // The code of the page that the address names is fetched while the lists are: what fails is
    // told when it is opened.
    PAGES[this.url.place.tool]?.().catch(() => undefined);
    fill(this.shell.main, skeleton(40, 420));
    void this.runs.refresh();
    this.route();
  }

  /** Whether the run in sight was deleted, or is there again. */
  private lookForRun(): void {
    const run = this.url.get('run');
    const { list, error } = this.runs;
    if (list === null || error !== null) return;
    const isThere = list.runs.some((one) => one.run === run);
    const [was, same] = [this.gone, this.listed === run];
    if (isThere) this.listed = run;
    this.gone = !isThere && this.listed === run && run !== '';
    if (was !== this.gone) this.showTrouble();
    if (was && isThere && same) this.reopen();
  }

  private showTrouble(): void {
    if (this.signedOut) return;
    const { trouble } = connection;
    const again = button('Check now', () => {
      void connection.look();
      void this.runs.refresh();
    });
    if (trouble?.kind === 'silent')
      this.shell.showTrouble(
        'The server does not answer',
        'This page may be out of date. It updates by itself as soon as the server is back.',
        again,
      );
    else if (trouble !== null)
      this.shell.showTrouble(
        'The server cannot do its work',
        `${sentence(trouble.error.message)} This page may be out of date. It updates by itself as soon as the problem is fixed.`,
        again,
      );
    else if (this.gone) {
      this.shell.showTrouble(
        'This run is gone',
        'It was deleted, moved or renamed. This page was loaded earlier; it updates by itself if the run comes back.',
        h('a', { href: '#/' }, 'All runs'),
      );
    } else this.shell.showTrouble(null);
  }

  /** Begins the page anew, as its address has it: nothing that failed stays failed. */
  private reopen(): void {
    if (this.signedOut) return;
    this.close();
    if (this.tools !== null) this.tools.run = '';
    this.route();
  }

  private signOut(): void {
    this.signedOut = true;
    this.shell.showTrouble(null);
    this.toolsRequest?.abort();
    this.close();
    fill(
      this.shell.main,
      h('div', { class: 'page' }, h('h1', { tabindex: '-1' }, 'Signed out'), signedOutState()),
    );
  }

  private route(): void {
    if (this.signedOut) return;
    const { tool, params } = this.url.place;
    const run = params['run'] ?? '';
    this.lookForRun();
    if (run === '') {
      this.routeWithoutRun(tool);
      return;
    }
    this.entering = false;
    if (this.tools?.run !== run) {
      this.loadTools(run);
      return;
    }
    this.showTool(tool, this.tools.list);
  }

  private routeWithoutRun(tool: string): void {
    const list = this.runs.list?.runs;
    const [newest] = list ?? [];
    if (this.entering && list === undefined && this.runs.error === null) {
      // Whether there is only one run is not known yet; nothing is built that would be torn down at
      // once.
      this.shell.show([], null, 'Filter runs');
      return;
    }
    const only = list?.length === 1;
    if (newest !== undefined && (tool !== '' || (this.entering && only))) {
      this.entering = false;
      this.url.move({ tool, params: { ...this.url.place.params, run: newest.run } }, 'replace');
      return;
    }
    this.entering = false;
    this.toolsRequest?.abort();
    this.shell.show([], null, 'Filter runs');
    this.open('runs', runsPage, null);
  }

  private loadTools(run: string): void {
    this.toolsRequest?.abort();
    const request = new AbortController();
    this.toolsRequest = request;
    this.shell.show(this.tools?.list ?? [], null, 'Filter');
    getJson<Tool[]>('tools', { run }, request.signal).then(
      (list) => {
        this.tools = { run, list };
        this.route();
      },
      (error: unknown) => {
        if (isAbort(error) || request.signal.aborted) return;
        this.close();
        fill(
          this.shell.main,
          h(
            'div',
            { class: 'page' },
            h('h1', {}, run),
            errorState(error, () => this.loadTools(run)),
          ),
        );
      },
    );
  }

  private showTool(name: string, tools: Tool[]): void {
    const tool = findTool(tools, name);
    if (tool !== undefined && tool.name !== name) {
      this.url.move({ tool: tool.name, params: this.url.place.params }, 'replace');
      return;
    }
    if (name === '') {
      const first = tools.find((candidate) => candidate.available !== false);
      if (first !== undefined) {
        this.url.move({ tool: first.name, params: this.url.place.params }, 'replace');
        return;
      }
      this.shell.show(tools, null, 'Filter');
      this.message(
        'Nothing to show for this run',
        ...tools.map((one) =>
          h('p', {}, h('b', {}, `${one.title}: `), one.reason ?? 'not available'),
        ),
      );
      return;
    }
    if (tool === undefined) {
      this.shell.show(tools, null, 'Filter');
      this.close();
      fill(
        this.shell.main,
        h(
          'div',
          { class: 'page' },
          h('h1', {}, name),
          errorState(
            new ApiError(
              'not_found',
              `There is no tool “${name}”.`,
              'Choose one from the navigation.',
            ),
            () => this.route(),
          ),
        ),
      );
      return;
    }
    this.shell.show(tools, tool, tool.filter ?? 'Filter');
    if (tool.available === false) {
      this.message(
        tool.title,
        h('p', {}, tool.reason ?? 'This tool has nothing to show for this run.'),
      );
      return;
    }
    this.open(name, pageOf(name), tool);
  }

  private open(name: string, type: PageType, tool: Tool | null): void {
    if (this.page?.name === name) {
      this.page.page.update();
      return;
    }
    const first = this.page === null;
    this.close();
    const page = type({
      url: this.url,
      keys: this.keys,
      runs: this.runs,
      tool,
      has: (other) => this.has(other),
      named: (other) => findTool(this.tools?.list ?? [], other)?.name ?? null,
      link: (other, params) => this.shell.placeOf(other, params),
      capture: () => this.shell.capture(),
      say: (text, show) => this.shell.say(text, show),
    });
    this.page = { name, page };
    fill(this.shell.main, page.element);
    page.update();
    window.scrollTo(0, 0);
    // A reader of the new page starts at its heading; on arrival the browser's own start is right.
    if (!first) page.element.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }

  private has(name: string): boolean {
    return (this.tools?.list ?? []).some((tool) => tool.name === name && tool.available !== false);
  }

  private message(title: string, ...children: Node[]): void {
    this.close();
    fill(
      this.shell.main,
      h(
        'div',
        { class: 'page' },
        h('h1', { tabindex: '-1' }, title),
        notRecorded('Not recorded in this run', ...children),
      ),
    );
  }

  private close(): void {
    this.page?.page.destroy();
    this.page = null;
  }
}

startTheme();
new App().start();
