// SPDX-License-Identifier: Apache-2.0
// What is known of an HLO instruction besides its numbers: its text, and the line of source that it
// comes from.

import { h, scrolls } from '../core/dom';
import { percent } from '../core/format';
import { shortPlace, type InstructionLink, type Source } from '../core/hlo';
import type { UrlState } from '../core/url_state';
import { Toggle } from './segmented';
import { copyButton } from './states';

/** Longer texts are cut in the page; copying gives all of it. */
const MOST_TEXT = 6000;

export function expressionBlock(expression: string): HTMLElement | null {
  if (expression === '') return null;
  const cut = expression.length > MOST_TEXT;
  return h(
    'section',
    { class: 'hlo-text' },
    h(
      'div',
      { class: 'hlo-head' },
      h('h3', {}, 'HLO'),
      copyButton('Copy', () => expression),
    ),
    scrolls(
      h('pre', { class: 'code' }, cut ? `${expression.slice(0, MOST_TEXT)}…` : expression),
      'HLO',
    ),
    cut &&
      h(
        'p',
        { class: 'soft' },
        `${expression.length.toLocaleString('en-US')} letters; Copy gives all of them.`,
      ),
  );
}

export function sourceBlock(source: Source | null): HTMLElement | null {
  if (source === null) return null;
  const frames = source.stack.length > 1 ? source.stack : [];
  return h(
    'section',
    { class: 'hlo-source' },
    h(
      'div',
      { class: 'hlo-head' },
      h('h3', {}, 'Source'),
      copyButton('Copy', () => (frames.length > 0 ? frames.join('\n') : source.place)),
    ),
    h('p', { class: 'code', title: source.place }, shortPlace(source.place)),
    frames.length > 0 &&
      h(
        'details',
        {},
        h('summary', {}, `${frames.length} calls led here`),
        h(
          'ol',
          { class: 'code' },
          ...frames.map((frame) => h('li', { title: frame }, shortPlace(frame))),
        ),
      ),
  );
}

/** Where else the chosen one is shown, and what can be done with it here. */
export function linksBlock(
  links: readonly InstructionLink[],
  ...acts: (HTMLElement | null)[]
): HTMLElement | null {
  const here = acts.filter((act) => act !== null);
  if (links.length + here.length === 0) return null;
  return h(
    'div',
    { class: 'detail-links', role: 'group', 'aria-label': 'Shown also on' },
    ...here,
    ...links.map(({ label, href }) => h('a', { class: 'button', href }, label)),
  );
}

export function sections(...parts: (HTMLElement | null)[]): HTMLElement {
  return h('div', { class: 'hlo-detail' }, ...parts);
}

/** Whether what belongs to no known program is listed, too, by kernel or framework operation. */
export function othersToggle(url: UrlState): Toggle {
  return new Toggle(
    'Without HLO',
    'List also what belongs to no known program: kernels and framework operations',
    (on) => url.set({ others: on ? 'in' : null, sel: null }),
  );
}

/** What the answer does not know, said before its numbers. */
export function unknownTime(
  { noHlo, noCost: all }: { noHlo: number; noCost: number },
  listed: boolean,
): HTMLElement | null {
  // What belongs to no instruction has no cost either, and is said already.
  const noCost = Math.max(0, all - noHlo);
  const parts = [
    ...(noHlo >= 0.005
      ? [
          `${percent(noHlo)} of the devices’ busy time belongs to no known HLO instruction${listed ? ': it is listed by kernel or framework operation' : ''}.`,
        ]
      : []),
    ...(noCost >= 0.005
      ? [
          `Instructions with ${percent(noCost)} of the ${noHlo >= 0.005 ? 'time' : 'devices’ busy time'} have no known cost, and count as neither arithmetic nor memory traffic.`,
        ]
      : []),
  ];
  return parts.length === 0
    ? null
    : h('div', { class: 'verdict info' }, h('b', {}, 'Not known'), h('span', {}, parts.join(' ')));
}

export function costRules(source: string): string {
  return (
    { XLA: 'XLA’s rules', ours: 'our rules: XLA knows none', unknown: 'unknown' }[source] ?? source
  );
}

/** What the colours of categoryToken stand for. */
export const HLO_KINDS = [
  { label: 'Fusions', token: 'device-compute' },
  { label: 'Library calls, dot, convolution', token: 'kernel-launch' },
  { label: 'Moving data', token: 'host-compute' },
  { label: 'Collectives', token: 'collectives' },
  { label: 'Loops and calls', token: 'compilation' },
  { label: 'Infeed', token: 'input' },
  { label: 'Outfeed', token: 'output' },
  { label: 'Other', token: 'device-to-device' },
  { label: 'Idle', token: 'all-others' },
];
