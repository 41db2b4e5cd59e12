// SPDX-License-Identifier: Apache-2.0
// One event in words: what the details panel shows of it.

import type { Detail } from '../components/detail_panel';
import { copyButton } from '../components/states';
import type { Query } from '../core/api';
import { h, type Child, scrolls } from '../core/dom';
import { count, exact } from '../core/format';
import type { InstructionLink } from '../core/hlo';
import { eventLabel, trimRight } from '../core/names';
import { CATEGORIES } from '../core/steps';
import type { EventInfo } from './answers';
import { timeText } from './overlay';
import { tickLabel } from './viewport';

export interface DetailTell {
  go(id: string): void;
  goStep(event: EventInfo): void;
  find(name: string): void;
  area(event: EventInfo): void;
  /** Page and keys of the table that counts this kernel or op; null where there is none. */
  link(tool: 'kernel_stats' | 'framework_op_stats', name: string): string | null;
  /** Pages that show an instruction of a compiled program. */
  instruction(programId: string, name: string): InstructionLink[];
  instances(event: EventInfo): Query | null;
  /** What the host's memory was when the event began; null where that is not told. */
  memory(event: EventInfo): string | null;
  hasSteps(): boolean;
}

const CATEGORY_WORDS: Record<string, [string, string]> = {
  gpu_launch: ['Launched by', 'Launches'],
};

/** The rest of a longer name is in the details. */
const MOST_SPOKEN = 70;
/** More than this are counted, not listed. */
const MOST_LINKS = 40;

function act(label: Child, run: () => void): HTMLElement {
  return h('button', { type: 'button', class: 'linklike', on: { click: run } }, label);
}

/** Times with all their digits, in nanoseconds. */
function exactNs(ps: number): string {
  return `${exact(ps / 1000)} ns`;
}

/** With as many digits as tell the start from the end; late in a long trace four say nothing. */
function startText(event: EventInfo): string {
  return event.start_ps === 0
    ? timeText(0)
    : tickLabel(event.start_ps, Math.max(1, Math.min(event.duration_ps, event.start_ps / 1000)));
}

export function describe(event: EventInfo, tell: DetailTell): Detail {
  const category = CATEGORIES[event.category];
  const step = event.step_name ?? (event.step === null ? null : String(event.step));
  const facts = [
    { label: 'Start', text: startText(event), exact: exactNs(event.start_ps) },
    { label: 'Duration', text: timeText(event.duration_ps), exact: exactNs(event.duration_ps) },
    { label: 'Self', text: timeText(event.self_ps), exact: exactNs(event.self_ps) },
    { label: 'Track', text: `${event.track_name} · ${event.process}` },
    ...(category === undefined ? [] : [{ label: 'Category', text: category.label }]),
    ...(step === null ? [] : [{ label: 'Step', text: step }]),
  ];
  const links = h('dl', { class: 'facts' });
  for (const flow of event.flows.slice(0, MOST_LINKS)) {
    const [incoming, outgoing] = CATEGORY_WORDS[flow.category] ?? ['Comes from', 'Leads to'];
    const apart =
      flow.direction === 'in' ? event.start_ps - flow.start_ps : flow.start_ps - event.start_ps;
    links.append(
      h('dt', {}, flow.direction === 'in' ? incoming : outgoing),
      h(
        'dd',
        {},
        act(eventLabel(flow.name), () => tell.go(flow.id)),
        h(
          'small',
          { class: 'soft' },
          ` ${timeText(Math.abs(apart))} ${apart >= 0 === (flow.direction === 'in') ? 'before' : 'after'}`,
        ),
      ),
    );
  }
  const more = Math.max(event.flows_total ?? 0, event.flows.length) - MOST_LINKS;
  if (more > 0) links.append(h('dt', {}, 'And'), h('dd', {}, `${count(more)} more`));
  if (event.parent !== null)
    links.append(
      h('dt', {}, 'Inside'),
      h(
        'dd',
        {},
        act('the enclosing event', () => tell.go(event.parent ?? '')),
      ),
    );
  if (event.first_child !== null)
    links.append(
      h('dt', {}, 'Contains'),
      h(
        'dd',
        {},
        act(`${count(event.children)} ${event.children === 1 ? 'event' : 'events'}`, () =>
          tell.go(event.first_child ?? ''),
        ),
      ),
    );
  if (event.previous !== null || event.next !== null) {
    links.append(
      h('dt', {}, 'Beside it'),
      h(
        'dd',
        { class: 'beside' },
        event.previous !== null && act('previous', () => tell.go(event.previous ?? '')),
        event.next !== null && act('next', () => tell.go(event.next ?? '')),
      ),
    );
  }
  const pages = h(
    'p',
    { class: 'acts' },
    copyButton('Copy name', () => event.name),
    h(
      'button',
      { type: 'button', class: 'button', on: { click: () => tell.find(event.name) } },
      'Find all with this name',
    ),
    h(
      'button',
      { type: 'button', class: 'button', on: { click: () => tell.area(event) } },
      'Select its time',
    ),
    step !== null &&
      tell.hasSteps() &&
      h(
        'button',
        { type: 'button', class: 'button', on: { click: () => tell.goStep(event) } },
        'Show the step',
      ),
    pageLink(event.kernel, 'kernel_stats', 'Kernel stats', tell),
    pageLink(event.op, 'framework_op_stats', 'TF stats', tell),
    ...instructionPages(event, tell),
    memoryLink(event, tell),
  );
  const args = h('dl', { class: 'facts' });
  for (const { name, value } of event.args) {
    const text = typeof value === 'number' ? exact(value) : argument(name, String(value ?? ''));
    args.append(
      h('dt', {}, name),
      h('dd', {}, text.length > 2000 ? `${text.slice(0, 2000)}…` : text),
    );
  }
  return {
    // Steps may come later than the event.
    key: `trace ${event.id} ${tell.hasSteps()}`,
    title: eventLabel(event.name) || '(no name)',
    full: event.long_name ?? event.name,
    facts,
    query: tell.instances(event),
    extra: h(
      'div',
      { class: 'trace-extra' },
      pages,
      links.childElementCount > 0 && h('section', {}, h('h3', {}, 'Linked'), links),
      event.args.length > 0 &&
        h(
          'section',
          {},
          h('h3', {}, 'Arguments'),
          scrolls(h('div', { class: 'trace-args' }, args), 'Arguments'),
        ),
    ),
  };
}

function pageLink(
  name: string | undefined,
  tool: 'kernel_stats' | 'framework_op_stats',
  label: string,
  tell: DetailTell,
): HTMLElement | null {
  const href = name === undefined || name === '' ? null : tell.link(tool, name);
  return href === null ? null : h('a', { class: 'button', href }, label);
}

/** The instruction that an event ran: on GPUs an argument names it, on TPUs the event is its text. */
export function instructionOf(event: EventInfo): { programId: string; name: string } | null {
  const argument = (name: string): string => {
    const value = event.args.find((one) => one.name === name)?.value ?? '';
    // A number that lost digits on its way is another program's.
    return typeof value === 'number' && !Number.isSafeInteger(value) ? '' : String(value);
  };
  const long = event.long_name ?? event.name;
  // Lines that we derive have the program's number in front.
  const [, number, derived] = /^(\d+)\/(.+)$/.exec(long) ?? [];
  if (number !== undefined && derived === event.name) return { programId: number, name: derived };
  const text = /^%?([^\s%=(]+) = /.exec(long)?.[1] ?? '';
  const name = argument('hlo_op') === '' ? text : argument('hlo_op');
  return name === '' ? null : { programId: argument('program_id'), name };
}

function instructionPages(event: EventInfo, tell: DetailTell): HTMLElement[] {
  const found = instructionOf(event);
  return found === null
    ? []
    : tell
        .instruction(found.programId, found.name)
        .map(({ label, href }) => h('a', { class: 'button', href }, label));
}

/** TensorFlow marks a context's number with `$$`, which is a sign to its own page. */
function argument(name: string, text: string): string {
  return name === 'context_id' ? text.replace(/^\$\$(?=\d+$)/, '') : text;
}

function memoryLink(event: EventInfo, tell: DetailTell): HTMLElement | null {
  const href = tell.memory(event);
  return href === null
    ? null
    : h(
        'a',
        { class: 'button', href, title: 'What was in use when this event began' },
        'Memory at its start',
      );
}

/** The line that says what is chosen: name, duration, track, step. */
export function spoken(event: EventInfo): string {
  const step = event.step_name ?? (event.step === null ? null : String(event.step));
  return [
    trimRight(eventLabel(event.name), MOST_SPOKEN) || 'no name',
    timeText(event.duration_ps),
    event.track_name,
    step === null ? '' : /^\d+$/.test(step) ? `step ${step}` : step,
  ]
    .filter((part) => part !== '')
    .join(', ');
}
