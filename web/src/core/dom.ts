// SPDX-License-Identifier: Apache-2.0
// Building elements. Strings become text nodes, so a name from a capture can never turn into
// markup.

export type Child = Node | string | null | undefined | false;

type Attribute = string | number | boolean | null | undefined;

export interface Props {
  class?: string | undefined;
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void } | undefined;
  [attribute: string]: Attribute | Props['on'];
}

function applyProps(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (name === 'on') {
      for (const [type, listener] of Object.entries(value as Record<string, EventListener>)) {
        element.addEventListener(type, listener);
      }
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  applyProps(element, props);
  append(element, children);
  return element;
}

export function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      parent.appendChild(typeof child === 'string' ? document.createTextNode(child) : child);
    }
  }
}

export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

/**
 * Lets the keyboard scroll what is longer than its box. Not a landmark: those name parts of a page.
 */
export function scrolls<E extends HTMLElement>(element: E, label: string): E {
  new ResizeObserver(() => {
    const more =
      element.scrollHeight > element.clientHeight + 1 ||
      element.scrollWidth > element.clientWidth + 1;
    for (const [name, value] of [
      ['tabindex', '0'],
      ['role', 'group'],
      ['aria-label', label],
    ] as const) {
      if (more) element.setAttribute(name, value);
      else element.removeAttribute(name);
    }
  }).observe(element);
  return element;
}

const ICONS = {
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.3 10.3 14 14',
  theme: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 2v12',
  sun: 'M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8 13 13M3 13l1.2-1.2M11.8 4.2 13 3',
  moon: 'M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3z',
  help: 'M6 6a2 2 0 1 1 2.8 1.9c-.6.3-.8.7-.8 1.4v.4M8 12.2v.1',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  close: 'M4 4l8 8M12 4l-8 8',
  swap: 'M3 5.5h9M9.5 3 12 5.5 9.5 8M13 10.5H4M6.5 8 4 10.5 6.5 13',
  copy: 'M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3',
  down: 'M4 6l4 4 4-4',
  columns: 'M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10',
  filter: 'M2.5 3.5h11L9.3 8.4V13l-2.6-1.4V8.4z',
  chart: 'M3 13V8M6.5 13V3M10 13V6M13.5 13v-3',
  table: 'M2.5 3h11v10h-11zM2.5 6.5h11M6.5 6.5V13',
  download: 'M8 2.5v7M5 7l3 3 3-3M3 13h10',
  previous: 'M10.5 3.5 5 8l5.5 4.5z',
  next: 'M5.5 3.5 11 8l-5.5 4.5z',
  record: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  pin: 'M6 2.5h4M6.5 2.5v4L4.5 9h7l-2-2.5v-4M8 9v4.5',
  flag: 'M4 14V2.5h8L9.8 5.2 12 8H4',
  link: 'M6.5 9.5l3-3M7 4.8l1.3-1.3a2.8 2.8 0 0 1 4 4L11 8.8M9 11.2l-1.3 1.3a2.8 2.8 0 0 1-4-4L5 7.2',
} as const;

export type IconName = keyof typeof ICONS;

/** A decorative line drawing; the button around it carries the name. */
export function icon(name: IconName): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', 'glyph');
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.appendChild(path);
  return svg;
}

let lastId = 0;

export function freshId(prefix: string): string {
  lastId += 1;
  return `${prefix}-${lastId}`;
}
