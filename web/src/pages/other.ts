// A tool the server has and this page does not show yet: its data is still a link away.

import { address } from '../core/api';
import { h } from '../core/dom';
import type { PageType } from '../core/page';

export const otherTool: PageType = {
  filters: 'Filter',
  create: ({ tool, url }) => {
    const body = h('div', { class: 'state' });
    const update = (): void => {
      const { run, host } = { run: url.get('run'), host: url.get('host') };
      body.replaceChildren(
        h('p', {}, 'There is no page for this tool in this version. Its data can be read as JSON:'),
        h('p', {}, h('a', { href: address('data', { run, tag: tool?.name, host }) }, `${tool?.title ?? 'Tool'} as JSON`)));
    };
    update();
    return { element: h('div', { class: 'page' }, h('header', { class: 'head' }, h('h1', { tabindex: '-1' }, tool?.title ?? 'Tool')), body), update, destroy: () => undefined };
  },
};
