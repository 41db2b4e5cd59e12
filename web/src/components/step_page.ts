// What the pages about steps have in common: keys, and what is said above everything.

import { getJson } from '../core/api';
import type { GvizTable } from '../core/gviz';
import { records, text } from '../core/gviz';
import { h } from '../core/dom';
import type { PageContext } from '../core/page';
import type { Query } from '../core/api';
import { choiceOf, neighbour } from './step_chart';
import { sourceText } from '../core/steps';
import type { Steps } from '../core/steps';
import { verdictBar } from './verdict';

/** Answers of these tools hold an empty object where a table is not used. */
export async function getLoose(query: Query, signal?: AbortSignal): Promise<(GvizTable | undefined)[]> {
  const body = await getJson<(Partial<GvizTable> | null)[]>('data', { ...query, limit: 0 }, signal);
  return (Array.isArray(body) ? body : [body]).map((table) => (Array.isArray(table?.cols) && Array.isArray(table?.rows) ? table as GvizTable : undefined));
}

/** n and p for the steps of a page; the returned function takes the keys back. */
export function stepKeys(context: PageContext, data: () => Steps | null): () => void {
  const { url, keys } = context;
  const move = (by: number) => (event: KeyboardEvent): void => {
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
      keys: 'Escape', what: 'Let go of the chosen step, then of the range', group: 'Steps',
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

/** Messages of the analysis itself. That steps are missing is shown at length elsewhere. */
export function analysisMessages(table: GvizTable | undefined, stepsMissing: boolean): HTMLElement | null {
  if (table === undefined) return null;
  const entries = records(table).map((record) => {
    const word = text(record, 'severity').toLowerCase();
    return { severity: word === 'error' ? 'error' as const : word === 'warning' ? 'warning' as const : 'info' as const, message: text(record, 'message') };
  }).filter(({ message }) => message !== '' && !(stepsMissing && /step marker|no step was marked/i.test(message)));
  return entries.length === 0 ? null : verdictBar(entries);
}

/** Where steps are not what somebody marked: said once above everything, with the way back. */
export function sourceNote(context: PageContext, found: Readonly<Record<string, string>>): HTMLElement | null {
  const text = sourceText(found, 400);
  if (text === '' && context.url.get('step_source') !== 'module') return null;
  return h('div', { class: 'compare-bar step-source' }, h('span', {}, text === '' ? 'No module of this capture runs twice, so there are no executions to take for steps.' : `These are not marked steps: ${text}, each up to the begin of the next.`),
    h('button', { type: 'button', class: 'linklike', on: { click: () => context.url.set({ step_source: null, step: null, steps: null }) } }, 'Only marked steps'));
}
