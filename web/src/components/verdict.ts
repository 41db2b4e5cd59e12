// SPDX-License-Identifier: Apache-2.0
// The server's findings about the captures, above every page.

import type { Diagnostic } from '../core/api';
import { h } from '../core/dom';
import { exact, plural, sentence } from '../core/format';

const ORDER = { error: 0, warning: 1, info: 2 } as const;
const WORD = { error: 'Error', warning: 'Warning', info: 'Note' } as const;

function entry(diagnostic: Diagnostic): HTMLElement {
  const { host, hint, offset, message } = diagnostic;
  // Some profilers begin their own messages with the host's name.
  const prefix =
    host !== null && host !== undefined && host !== '' && !message.startsWith(`${host}:`)
      ? `${host}: `
      : '';
  return h(
    'div',
    { class: `verdict ${diagnostic.severity}` },
    h('b', {}, WORD[diagnostic.severity]),
    h(
      'span',
      {},
      prefix !== '' && h('code', {}, prefix),
      message,
      /[.!?)]$/.test(message) ? '' : '.',
      offset !== null &&
        offset !== undefined &&
        h('span', { class: 'soft' }, ` Byte ${exact(offset)}.`),
      hint !== null && hint !== undefined && h('span', { class: 'soft' }, ` ${sentence(hint)}`),
    ),
  );
}

/** Two are shown as they are; more fold into one line under the worst of them. */
export function verdictBar(entries: readonly Diagnostic[]): HTMLElement {
  const sorted = [...entries].sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
  const element = h('div', { class: 'verdicts' });
  const [worst, ...others] = sorted;
  if (worst === undefined) return element;
  if (sorted.length <= 2) {
    element.append(...sorted.map(entry));
    return element;
  }
  const words = (['error', 'warning', 'info'] as const)
    .map(
      (severity) => [others.filter((item) => item.severity === severity).length, severity] as const,
    )
    .filter(([n]) => n > 0)
    .map(([n, severity]) => plural(n, WORD[severity].toLowerCase()));
  element.append(
    entry(worst),
    h('details', {}, h('summary', {}, `${words.join(', ')} more`), ...others.map(entry)),
  );
  return element;
}
