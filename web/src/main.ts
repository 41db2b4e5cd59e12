// From the address to a page.

import { ApiError, getJson, isAbort, onMissing, onSignedOut, type Tool } from './core/api';
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
import { frameworkOpStats } from './pages/framework_op_stats';
import { inputPipeline } from './pages/input_pipeline_analyzer';
import { kernelStats } from './pages/kernel_stats';
import { otherTool } from './pages/other';
import { overviewPage } from './pages/overview_page';
import { podViewer } from './pages/pod_viewer';
import { runsPage } from './pages/runs';
import { Shell } from './shell';

/** What is large and not seen at first is fetched when it is wanted. */
const PAGES: Record<string, PageType> = {
  overview_page: overviewPage,
  input_pipeline_analyzer: inputPipeline,
  framework_op_stats: frameworkOpStats,
  memory_profile: lazyPage('Filter ops, regions, types and shapes', async () => (await import('./pages/memory_profile')).memoryProfile),
  pod_viewer: podViewer,
  kernel_stats: kernelStats,
  trace_viewer: lazyPage('Find events in the whole trace', async () => (await import('./pages/trace_viewer')).traceViewer),
  tf_data_bottleneck_analysis: lazyPage('Filter pipelines', async () => (await import('./pages/tf_data_bottleneck_analysis')).tfDataBottleneck),
};

/** Of a page that does not show the list of runs; it is asked at once when something is not there. */
const PACE = 3;

/** Names older links and other programs use. */
const ALIASES: Record<string, string> = { tf_stats: 'framework_op_stats', tensorflow_stats: 'framework_op_stats', overview: 'overview_page', input_pipeline: 'input_pipeline_analyzer', tf_data_bottleneck: 'tf_data_bottleneck_analysis', tf_data: 'tf_data_bottleneck_analysis', 'trace_viewer@': 'trace_viewer' };

class App {
  private readonly url = new UrlState();
  private readonly keys = new Keys();
  private readonly runs = new Runs();
  private readonly shell = new Shell(this.url, this.runs, this.keys);
  private page: { name: string; page: Page } | null = null;
  private tools: { run: string; list: Tool[] } | null = null;
  private toolsRequest: AbortController | null = null;
  /** Only who came without a wish is sent on to the one run there is. */
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
    if (trouble?.kind === 'silent') this.shell.showTrouble('The server does not answer', 'This page may be out of date. It updates by itself as soon as the server is back.', again);
    else if (trouble !== null) this.shell.showTrouble('The server cannot do its work', `${sentence(trouble.error.message)} This page may be out of date. It updates by itself as soon as the problem is fixed.`, again);
    else if (this.gone) {
      this.shell.showTrouble('This run is gone', 'It was deleted, moved or renamed. This page was loaded earlier; it updates by itself if the run comes back.', h('a', { href: '#/' }, 'All runs'));
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
    fill(this.shell.main, h('div', { class: 'page' }, h('h1', { tabindex: '-1' }, 'Signed out'), signedOutState()));
  }

  private route(): void {
    if (this.signedOut) return;
    const { tool, params } = this.url.place;
    const run = params['run'] ?? '';
    this.lookForRun();
    const alias = ALIASES[tool];
    if (alias !== undefined) {
      this.url.move({ tool: alias, params }, 'replace');
      return;
    }
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
      // Whether there is only one run is not known yet; nothing is built that would be torn down at once.
      this.shell.show([], null, runsPage.filters);
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
    this.shell.show([], null, runsPage.filters);
    this.open('runs', runsPage, null);
  }

  private loadTools(run: string): void {
    this.toolsRequest?.abort();
    const request = new AbortController();
    this.toolsRequest = request;
    this.shell.show(this.tools?.list ?? [], null, 'Filter');
    getJson<Tool[]>('tools', { run }, request.signal).then((list) => {
      this.tools = { run, list };
      this.route();
    }, (error: unknown) => {
      if (isAbort(error) || request.signal.aborted) return;
      this.close();
      fill(this.shell.main, h('div', { class: 'page' }, h('h1', {}, run), errorState(error, () => this.loadTools(run))));
    });
  }

  private showTool(name: string, tools: Tool[]): void {
    const tool = tools.find((candidate) => candidate.name === name);
    if (name === '') {
      const first = tools.find((candidate) => candidate.available !== false && PAGES[candidate.name] !== undefined) ?? tools.find((candidate) => candidate.available !== false);
      if (first !== undefined) {
        this.url.move({ tool: first.name, params: this.url.place.params }, 'replace');
        return;
      }
      this.shell.show(tools, null, 'Filter');
      this.message('Nothing to show for this run', ...tools.map((one) => h('p', {}, h('b', {}, `${one.title}: `), one.reason ?? 'not available')));
      return;
    }
    if (tool === undefined) {
      this.shell.show(tools, null, 'Filter');
      this.close();
      fill(this.shell.main, h('div', { class: 'page' }, h('h1', {}, name),
        errorState(new ApiError('not_found', `There is no tool “${name}”.`, 'Choose one from the navigation.'), () => this.route())));
      return;
    }
    const type = PAGES[name] ?? otherTool;
    this.shell.show(tools, tool, type.filters);
    if (tool.available === false) {
      this.message(tool.title, h('p', {}, tool.reason ?? 'This tool has nothing to show for this run.'));
      return;
    }
    this.open(name, type, tool);
  }

  private open(name: string, type: PageType, tool: Tool | null): void {
    if (this.page?.name === name) {
      this.page.page.update();
      return;
    }
    const first = this.page === null;
    this.close();
    const page = type.create({ url: this.url, keys: this.keys, runs: this.runs, tool, has: (other) => this.has(other), link: (other, params) => this.shell.placeOf(other, params), capture: () => this.shell.capture(), say: (text, show) => this.shell.say(text, show) });
    this.page = { name, page };
    fill(this.shell.main, page.element);
    page.update();
    window.scrollTo(0, 0);
    // A reader of the new page starts at its heading; on arrival the browser's own start is right.
    if (!first) page.element.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }

  private has(name: string): boolean {
    return PAGES[name] !== undefined && (this.tools?.list ?? []).some((tool) => tool.name === name && tool.available !== false);
  }

  private message(title: string, ...children: Node[]): void {
    this.close();
    fill(this.shell.main, h('div', { class: 'page' }, h('h1', { tabindex: '-1' }, title), notRecorded('Not recorded in this run', ...children)));
  }

  private close(): void {
    this.page?.page.destroy();
    this.page = null;
  }
}

startTheme();
new App().start();
