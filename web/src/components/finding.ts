// SPDX-License-Identifier: Apache-2.0
// The one line on top of a page: what is the matter, by which limits, and where to look.

import type { Verdict } from '../core/advice';
import { h, type Child } from '../core/dom';

export function finding(verdict: Verdict, ...links: Child[]): HTMLElement {
  return h(
    'div',
    { class: `verdict finding ${verdict.severity}` },
    h(
      'span',
      { class: 'finding-text' },
      h('b', {}, verdict.head),
      ' ',
      verdict.text,
      verdict.limits !== '' && h('small', { class: 'soft' }, ` ${verdict.limits}`),
    ),
    ...links,
  );
}
