// SPDX-License-Identifier: Apache-2.0
// The cell of a tree table that has the name: indented, with a twist that opens what is below.

import { h, type Child } from '../core/dom';
import type { RowTree } from './data_table';

export function treeCell<R>(
  row: R,
  tree: RowTree<R>,
  name: string,
  title: string,
  ...behind: Child[]
): HTMLElement {
  const inner = tree.children(row).length > 0;
  const open = inner && tree.isOpen(row);
  const element = h(
    'span',
    { class: 'scope', title },
    inner &&
      h('button', {
        type: 'button',
        class: open ? 'twist open' : 'twist',
        tabindex: '-1',
        'aria-label': `${open ? 'Close' : 'Open'} ${name}`,
        on: { click: () => tree.toggle(row) },
      }),
    h('span', { class: inner ? 'scope-name' : 'scope-leaf' }, name),
    ...behind,
  );
  element.style.setProperty('--depth', String(tree.depth(row)));
  return element;
}
