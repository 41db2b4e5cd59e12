// SPDX-License-Identifier: Apache-2.0
// The frame of a tool's page: head, verdict, and loading of the run and its base.

import { getJson, type Diagnostics, type Query, type RunInfo } from '../core/api';
import type { StepCounts } from '../core/compare';
import { fill, h } from '../core/dom';
import { bytes, duration, joined, plural } from '../core/format';
import type { PageContext } from '../core/page';
import { WORDS } from '../core/words';
import { copyButton, Loader, skeleton } from './states';
import { getLoose } from './step_page';
import { verdictBar } from './verdict';

export interface ToolSpec<D> {
  title: string;
  tool: string;
  fetch: (query: Query, signal: AbortSignal) => Promise<D>;
  /** Built once; shown when data is there. */
  content: HTMLElement;
  /** `steps` is null where one of the runs has none, or where `perStep` does not ask. */
  ready: (data: D, base: D | null, steps: StepCounts | null) => void;
  changed: () => void;
  /** What is asked besides, from the address. */
  parameters?: () => Query;
  /** Above the content, and there also while it is not. */
  controls?: HTMLElement | null;
  /** Sums over a whole run: to be compared with another's it matters how many steps each has. */
  perStep?: boolean;
  /** What is known of the run's files, once it is. */
  facts?: (info: RunInfo | null, diagnostics: Diagnostics | null) => void;
}

interface Loaded<D> {
  data: D;
  base: D | null;
  baseError: string | null;
  steps: StepCounts | null;
}

async function stepCount(query: Query, signal: AbortSignal): Promise<number> {
  // An overview that cannot be had only means that no steps are known.
  const tables = await getLoose({ ...query, tag: 'overview_page' }, signal).catch(() => []);
  return tables[1]?.rows.length ?? 0;
}

export class ToolView<D> {
  readonly element: HTMLElement;
  private readonly shareTitle = h('p', { class: 'share-title' });
  private readonly facts = h('p', { class: 'head-facts' });
  private readonly verdicts = h('div', {});
  private readonly notice = h('div', {});
  private readonly loader = new Loader();
  private side: AbortController | null = null;
  private loadedKey = '';
  private isReady = false;

  constructor(
    private readonly context: PageContext,
    private readonly spec: ToolSpec<D>,
  ) {
    this.element = h(
      'div',
      { class: 'page' },
      h(
        'header',
        { class: 'head' },
        h('h1', { tabindex: '-1' }, spec.title),
        this.shareTitle,
        this.facts,
        h(
          'div',
          { class: 'acts' },
          copyButton('Copy link', () => location.href),
        ),
      ),
      this.verdicts,
      this.notice,
      ...(spec.controls ? [spec.controls] : []),
      this.loader.element,
    );
  }

  /** Query of the shown run and host, for requests of the page's own. */
  query(): Query {
    const { url } = this.context;
    const host = url.get('host', '*');
    return {
      run: url.get('run'),
      tag: this.spec.tool,
      host: host === '*' ? null : host,
      step_source: url.get('step_source'),
      ...this.spec.parameters?.(),
    };
  }

  update(): void {
    const { url } = this.context;
    this.shareTitle.textContent = url.get('t');
    this.shareTitle.hidden = url.get('t') === '';
    const key = JSON.stringify([
      url.get('run'),
      url.get('host', '*'),
      url.get('base'),
      url.get('step_source'),
      this.spec.parameters?.(),
    ]);
    if (key !== this.loadedKey) {
      this.loadedKey = key;
      this.isReady = false;
      this.loadFacts();
      this.loadData();
    } else if (this.isReady) {
      this.spec.changed();
    }
  }

  destroy(): void {
    this.loader.cancel();
    this.side?.abort();
  }

  private loadData(): void {
    const query = this.query();
    const base = this.context.url.get('base');
    const { spec } = this;
    const fetcher = async (signal: AbortSignal): Promise<Loaded<D>> => {
      let baseError: string | null = null;
      const counts = base !== '' && spec.perStep === true;
      const [data, baseData, now, then] = await Promise.all([
        spec.fetch(query, signal),
        base === ''
          ? null
          : spec.fetch(this.baseQuery(base), signal).catch((error: unknown) => {
              baseError = error instanceof Error ? error.message : String(error);
              return null;
            }),
        counts ? stepCount(query, signal) : 0,
        counts ? stepCount(this.baseQuery(base), signal) : 0,
      ]);
      return {
        data,
        base: baseData,
        baseError,
        steps: now > 0 && then > 0 ? { now, base: then } : null,
      };
    };
    this.loader.load(
      fetcher,
      (loaded) => {
        this.isReady = true;
        fill(
          this.notice,
          loaded.baseError !== null &&
            h(
              'div',
              { class: 'verdict warning' },
              h('b', {}, 'No comparison'),
              h('span', {}, `The base run ${base} could not be read: ${loaded.baseError}`),
            ),
        );
        // Charts and grids measure themselves, so they draw once the content is in the document.
        queueMicrotask(() => spec.ready(loaded.data, loaded.base, loaded.steps));
        return spec.content;
      },
      () => skeleton(78, 32, 372, 420),
    );
  }

  /** The base run may have other hosts; a host it does not have is not asked for. */
  private baseQuery(base: string): Query {
    const host = this.context.url.get('host', '*');
    const known = this.context.runs.list?.runs.find((run) => run.run === base)?.hosts;
    const same = host !== '*' && (known === undefined || known.includes(host));
    return {
      run: base,
      tag: this.spec.tool,
      host: same ? host : null,
      step_source: this.context.url.get('step_source'),
      ...this.spec.parameters?.(),
    };
  }

  private loadFacts(): void {
    this.side?.abort();
    const side = new AbortController();
    this.side = side;
    const { run, host } = this.query();
    const info = getJson<RunInfo>('run_info', { run }, side.signal).catch(() => null);
    const diagnostics = getJson<Diagnostics>('diagnostics', { run, host }, side.signal).catch(
      () => null,
    );
    void Promise.all([info, diagnostics]).then(([runInfo, found]) => {
      if (side.signal.aborted) return;
      const parts: string[] = [];
      const captures = found?.captures ?? [];
      // The number of devices is that of the whole run.
      const allHosts =
        host === null ||
        host === undefined ||
        (this.context.runs.list?.runs.find((one) => one.run === run)?.hosts.length ?? 0) < 2;
      if (captures.length > 0) parts.push(plural(captures.length, 'host'));
      if (
        runInfo?.device_type !== null &&
        runInfo?.device_type !== undefined &&
        runInfo.device_type !== ''
      ) {
        parts.push(
          allHosts && (runInfo.device_count ?? 0) > 1
            ? `${runInfo.device_count} × ${runInfo.device_type}`
            : runInfo.device_type,
        );
      }
      if (captures.length > 0) {
        const events = captures.reduce((sum, capture) => sum + capture.events, 0);
        const longest = Math.max(...captures.map((capture) => capture.duration_ms));
        parts.push(
          `${plural(events, 'event')} recorded`,
          `${joined(duration(longest * 1000))} captured`,
          joined(bytes(captures.reduce((sum, capture) => sum + capture.bytes, 0))),
        );
      }
      this.facts.textContent = parts.join(' · ');
      if (captures.length > 0) this.facts.title = `${WORDS.recorded} ${WORDS.captured}`;
      fill(this.verdicts, verdictBar(found?.entries ?? []));
      this.spec.facts?.(runInfo, found);
    });
  }
}
