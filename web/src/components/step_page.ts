// SPDX-License-Identifier: Apache-2.0
// The common parts of the pages about steps: keys, and the notes above everything.

import { getJson, type Query } from '../core/api';
import { records, text, type GvizTable } from '../core/gviz';
import { h } from '../core/dom';
import { duration, plural } from '../core/format';
import type { PageContext } from '../core/page';
import { headline, sourceText, stepsOf, within, type Range, type Steps } from '../core/steps';
import { tracePlace } from '../core/trace_link';
import { microseconds } from './charts';
import { csvButton, plainTable, section, type PlainTableOptions } from './plain_table';
import type { Tile } from './stat_tile';
import { choiceOf, neighbour, type Choice } from './step_chart';
import { stepBars, stepTable } from './step_table';
import { verdictBar } from './verdict';

/**
 * Answers of these tools hold an empty object where a table is not used. Of several hosts they show
 * the slowest.
 */
export async function getLoose(
  query: Query,
  signal?: AbortSignal,
): Promise<(GvizTable | undefined)[]> {
  const body = await getJson<(Partial<GvizTable> | null)[]>(
    'data',
    { ...query, limit: 0, steps_of: 'slowest' },
    signal,
  );
  return (Array.isArray(body) ? body : [body]).map((table) =>
    Array.isArray(table?.cols) && Array.isArray(table?.rows) ? (table as GvizTable) : undefined,
  );
}

/** n and p for the steps of a page; the returned function takes the keys back. */
export function stepKeys(context: PageContext, data: () => Steps | null): () => void {
  const { url, keys } = context;
  const move =
    (by: number) =>
    (event: KeyboardEvent): void => {
      const steps = data();
      const name = steps === null ? null : neighbour(steps, choiceOf(url, steps), by);
      if (name === null) return;
      event.preventDefault();
      url.set({ step: name }, 'replace');
      context.say(`Step ${name}`);
    };
  const removers = [
    keys.add({ keys: 'n', what: 'Next step', group: 'Steps', run: move(1) }),
    keys.add({ keys: 'p', what: 'Previous step', group: 'Steps', run: move(-1) }),
    keys.add({
      keys: 'Escape',
      what: 'Clear the chosen step, then the range',
      group: 'Steps',
      run: (event) => {
        if (document.querySelector('dialog[open]') !== null || url.get('sel') !== '') return;
        const key = ['step', 'steps'].find((one) => url.get(one) !== '');
        if (key === undefined) return;
        url.set({ [key]: null });
        event.preventDefault();
      },
    }),
  ];
  return () => removers.forEach((remove) => remove());
}

/**
 * Messages of the analysis itself. That steps are missing is shown at length elsewhere, and `said`
 * is above already.
 */
export function analysisMessages(
  table: GvizTable | undefined,
  stepsMissing: boolean,
  said: readonly string[] = [],
): HTMLElement | null {
  if (table === undefined) return null;
  const entries = records(table)
    .map((record) => {
      const word = text(record, 'severity').toLowerCase();
      return {
        severity:
          word === 'error'
            ? ('error' as const)
            : word === 'warning'
              ? ('warning' as const)
              : ('info' as const),
        message: text(record, 'message'),
      };
    })
    .filter(
      ({ message }) =>
        message !== '' &&
        !said.includes(message) &&
        !(stepsMissing && /step marker|no step was marked/i.test(message)),
    );
  return entries.length === 0 ? null : verdictBar(entries);
}

/**
 * The note where steps are not those that the program marked: once, above everything, with the way
 * back.
 */
export function sourceNote(
  context: PageContext,
  found: Readonly<Record<string, string>>,
): HTMLElement | null {
  const text = sourceText(found, 400);
  if (text === '' && context.url.get('step_source') !== 'module') return null;
  return h(
    'div',
    { class: 'compare-bar step-source' },
    h(
      'span',
      {},
      text === ''
        ? 'No module in this capture runs more than once, so no executions can be used as steps.'
        : `These are not marked steps: ${text}. Each step lasts until the next execution begins.`,
    ),
    h(
      'button',
      {
        type: 'button',
        class: 'linklike',
        on: { click: () => context.url.set({ step_source: null, step: null, steps: null }) },
      },
      'Only marked steps',
    ),
  );
}

/** The average of the steps that are shown, of which there is at least one. */
export function averageTile(steps: Steps, range: Range | null, base: Steps | null): Tile {
  const now = headline(steps, range);
  const shown = within(steps.steps, range).length;
  const whose = now.ofSlowest ? 'slowest core' : stepsOf(steps.properties);
  return {
    label: 'Average step',
    hint: 'Mean time of a step and how much it varies; lower is better',
    value: now.mean,
    format: duration,
    exact: `${now.mean.toFixed(3)} µs`,
    better: 'lower',
    note: `${shown === 1 ? 'one step' : `σ ${microseconds(now.sd)}, ${plural(shown, 'step')}`}${whose === '' ? '' : `; ${whose}`}`,
    base: base !== null && base.steps.length > 0 ? headline(base, null).mean : null,
  };
}

/** How many hosts an answer adds up. */
export function hostsShown(context: PageContext): number {
  const host = context.url.get('host', '*');
  return host === '*'
    ? Math.max(1, (context.tool?.hosts ?? []).filter((one) => one !== 'ALL_HOSTS').length)
    : 1;
}

export interface StepSection {
  title: string;
  note: string;
  /** What hosts are compared by. */
  compare?: Record<string, string>;
  /** With the fastest and the slowest step. */
  extremes: boolean;
}

/** How the chosen step and the average one are spent, as bars and as a table. */
export function stepSection(
  context: PageContext,
  steps: Steps,
  base: Steps | null,
  choice: Choice,
  { title, note, compare, extremes }: StepSection,
): HTMLElement {
  const table = (): PlainTableOptions<never> =>
    stepTable(steps, base, choice, extremes) as unknown as PlainTableOptions<never>;
  const step = steps.steps[choice.step];
  return section(
    title,
    note,
    [
      ...((context.tool?.hosts ?? []).length > 1 && context.has('pod_viewer')
        ? [h('a', { class: 'button', href: context.link('pod_viewer', compare) }, 'Compare hosts')]
        : []),
      ...(step !== undefined && sourceText(steps.properties) === '' && context.has('trace_viewer')
        ? [
            h(
              'a',
              {
                class: 'button',
                href: context.link('trace_viewer', tracePlace({ step: step.name })),
              },
              'Show in the trace',
            ),
          ]
        : []),
      csvButton('step_categories', table),
    ],
    stepBars(steps, base, choice),
    plainTable(table()),
  );
}
