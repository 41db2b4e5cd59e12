// SPDX-License-Identifier: Apache-2.0
// The iterators of one call as a graph: root on top, arrows in the direction of the data.

import { fill, h } from '../core/dom';
import { plural } from '../core/format';
import { nameLines, type Branch, type Role, type Use } from '../core/tf_data';
import { microseconds } from './charts';
import type { LayoutGraph, Point } from './graph_layout';
import { button } from './states';

declare global {
  interface Window {
    tfprofLayoutGraph?: LayoutGraph;
  }
}

/** More than this is no picture any more, and takes long to lay out. */
const MOST_BOXES = 600;
/** Height of the graph's window in the style sheet, without its border. */
const WHOLE_PX = 650;
const BOX_PX = 196;
const PAD_PX = 12;
const LINE_PX = 17;
const BAR_PX = 4;
const LETTERS = 19;

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  bottleneck: 'Bottleneck',
  waited: 'Waited for',
  ahead: 'Not waited for',
};

let loading: Promise<LayoutGraph> | null = null;

function loadLayout(): Promise<LayoutGraph> {
  loading ??= new Promise((done, failed) => {
    const script = h('script', { src: 'graph_layout.js' });
    script.addEventListener('load', () => {
      if (window.tfprofLayoutGraph === undefined)
        failed(new Error('The graph layout could not be started.'));
      else done(window.tfprofLayoutGraph);
    });
    script.addEventListener('error', () =>
      failed(new Error('The graph layout could not be loaded from the server.')),
    );
    document.head.append(script);
  });
  loading.catch(() => {
    loading = null;
  });
  return loading;
}

type Attributes = Readonly<Record<string, string | number>>;

function draw<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes,
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

interface Label {
  use: Use;
  input: string | null;
  lines: string[];
  width: number;
  height: number;
}

function label({ use, input }: Branch): Label {
  const lines = nameLines(use.name, LETTERS);
  return {
    use,
    input,
    lines,
    width: BOX_PX,
    height: PAD_PX + LINE_PX * (lines.length + 3) + BAR_PX + PAD_PX,
  };
}

function box({ use, input, lines, width, height }: Label, at: Point, longest: number): SVGGElement {
  const group = draw(
    'g',
    { class: `it ${use.role}`, 'data-id': use.id, transform: `translate(${at.x} ${at.y})` },
    draw('title', {}, `${use.longName}\n${ROLE_WORDS[use.role]}`),
    draw('rect', { class: 'ring', x: -5, y: -5, width: width + 10, height: height + 10, rx: 9 }),
    draw('rect', { class: 'box', width, height, rx: 6 }),
  );
  let y = PAD_PX + 11;
  const write = (kind: string, text: string): void => {
    group.append(draw('text', { class: kind, x: PAD_PX, y }, text));
    y += LINE_PX;
  };
  write('role', input === null ? ROLE_WORDS[use.role] : `${ROLE_WORDS[use.role]} · input ${input}`);
  for (const line of lines) write('name', line);
  write('own', `Self ${microseconds(use.self)}`);
  write('all', `Total ${microseconds(use.total)} · ${plural(use.calls, 'call')}`);
  const room = width - 2 * PAD_PX;
  group.append(
    draw('rect', {
      class: 'bar-ground',
      x: PAD_PX,
      y: height - PAD_PX - BAR_PX + 2,
      width: room,
      height: BAR_PX,
      rx: 2,
    }),
    draw('rect', {
      class: 'bar',
      x: PAD_PX,
      y: height - PAD_PX - BAR_PX + 2,
      width: longest > 0 ? (room * use.self) / longest : 0,
      height: BAR_PX,
      rx: 2,
    }),
  );
  return group;
}

/** Points come from the upper box; the data goes up. */
function arrow(points: readonly Point[], waited: boolean): SVGPathElement {
  const path = [...points]
    .reverse()
    .map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`)
    .join('');
  return draw('path', {
    class: waited ? 'arrow waited' : 'arrow',
    d: path,
    'marker-end': `url(#arrow-${waited ? 'waited' : 'ahead'})`,
  });
}

function head(kind: string): SVGMarkerElement {
  return draw(
    'marker',
    {
      id: `arrow-${kind}`,
      class: `arrow-head ${kind}`,
      viewBox: '0 0 8 8',
      refX: 7,
      refY: 4,
      markerWidth: 8,
      markerHeight: 8,
      markerUnits: 'userSpaceOnUse',
      orient: 'auto',
    },
    draw('path', { d: 'M0 0L8 4L0 8z' }),
  );
}

export class IteratorGraph {
  readonly element = h('div', {
    class: 'it-graph',
    tabindex: '0',
    role: 'group',
    'aria-label': 'Graph of iterators',
  });
  private drawn: readonly Branch[] | null = null;
  private wanted: readonly Branch[] = [];
  private selected = '';
  private summary = '';
  private picture: { width: number; height: number } | null = null;
  private whole = false;

  constructor(private readonly pick: (id: string) => void) {
    this.element.addEventListener('click', (event) => {
      const group = event.target instanceof Element ? event.target.closest('g[data-id]') : null;
      if (group !== null) this.pick(group.getAttribute('data-id') ?? '');
    });
  }

  set(list: readonly Branch[], selected: string, summary: string): void {
    this.wanted = list;
    this.selected = selected;
    this.summary = summary;
    if (list === this.drawn) {
      this.mark();
      return;
    }
    this.drawn = null;
    if (list.length > MOST_BOXES) {
      this.drawn = list;
      fill(
        this.element,
        h(
          'p',
          { class: 'soft' },
          `${plural(list.length, 'iterator')} are too many to draw; the table below lists them all.`,
        ),
      );
      return;
    }
    loadLayout().then(
      (layout) => this.show(layout, list),
      (error: unknown) => {
        if (list !== this.wanted) return;
        fill(
          this.element,
          h(
            'p',
            { class: 'soft' },
            `${error instanceof Error ? error.message : String(error)} The table below has the same data.`,
          ),
          h(
            'p',
            { class: 'acts' },
            button('Try again', () => this.set(this.wanted, this.selected, this.summary)),
          ),
        );
      },
    );
  }

  private show(layout: LayoutGraph, list: readonly Branch[]): void {
    if (list !== this.wanted || list === this.drawn) return;
    const labels = list.map(label);
    const joined = list.filter(
      (branch): branch is Branch & { parent: Use } => branch.parent !== null,
    );
    const picture = layout(
      labels.map(({ use, width, height }) => ({ id: use.id, width, height })),
      joined.map(({ use, parent }) => ({ from: parent.id, to: use.id })),
    );
    const longest = list.reduce((most, { use }) => Math.max(most, use.self), 0);
    const svg = draw(
      'svg',
      {
        role: 'img',
        'aria-label': this.summary,
        width: picture.width,
        height: picture.height,
        viewBox: `0 0 ${picture.width} ${picture.height}`,
      },
      draw('defs', {}, head('waited'), head('ahead')),
      ...joined.map(({ use, parent }, index) =>
        arrow(picture.arrows[index] ?? [], use.role !== 'ahead' && parent.role !== 'ahead'),
      ),
      ...labels.map((one, index) => box(one, picture.boxes[index] ?? { x: 0, y: 0 }, longest)),
    );
    this.drawn = list;
    this.picture = picture;
    fill(this.element, svg);
    this.scale();
    // Wide graphs begin in the middle, where the root is.
    this.element.scrollLeft = (this.element.scrollWidth - this.element.clientWidth) / 2;
    this.element.scrollTop = 0;
    this.mark();
  }

  /** Whether all of the graph is in sight, however small, or what fits at its own size. */
  showWhole(whole: boolean): void {
    if (whole === this.whole) return;
    this.whole = whole;
    this.scale();
    this.mark();
  }

  private scale(): void {
    const svg = this.element.querySelector('svg');
    const { picture } = this;
    if (svg === null || picture === null) return;
    const room = { width: this.element.clientWidth - 2, height: WHOLE_PX };
    const factor = this.whole
      ? Math.min(1, room.width / picture.width, room.height / picture.height)
      : 1;
    svg.setAttribute('width', String(picture.width * factor));
    svg.setAttribute('height', String(picture.height * factor));
  }

  private mark(): void {
    this.element.querySelector('svg')?.setAttribute('aria-label', this.summary);
    for (const group of this.element.querySelectorAll('g[data-id]')) {
      const chosen = group.getAttribute('data-id') === this.selected;
      group.classList.toggle('chosen', chosen);
      if (!chosen) continue;
      const [outer, inner] = [this.element.getBoundingClientRect(), group.getBoundingClientRect()];
      if (inner.top < outer.top || inner.bottom > outer.bottom)
        this.element.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
      if (inner.left < outer.left || inner.right > outer.right)
        this.element.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
    }
  }
}
