// SPDX-License-Identifier: Apache-2.0
// The names beside the tracks: fold, pin, hide and reorder. Only rows in sight are in the document.

import { Menu } from '../components/menu';
import { iconButton } from '../components/states';
import { fill, h, icon } from '../core/dom';
import { count, plural } from '../core/format';
import { mostText, peakText } from './counters';
import type { Row } from './model';

export interface TrackActions {
  fold(row: Row): void;
  pin(row: Row): void;
  hide(row: Row): void;
  /** Hides all others of its kind. */
  only(row: Row): void;
  move(row: Row, by: number): void;
}

interface Line {
  element: HTMLElement;
  signature: string;
  /** Another one once more is known of the trace; what the line says and does is about this one. */
  process: Row['process'];
}

const LONG_TITLE = 18;

function noun(row: Row): string {
  // Of a counter it matters what its full height stands for.
  if (row.kind === 'track') return mostText(row.track) || count(row.track.events);
  const { tracks, kind } = row.process;
  // With the host in front of it a name needs the room; its end is what tells devices apart.
  return row.title.length > LONG_TITLE
    ? count(tracks.length)
    : plural(tracks.length, kind === 'host' ? 'thread' : 'line');
}

export class TrackNames {
  readonly element = h('div', { class: 'trace-names', role: 'group', 'aria-label': 'Tracks' });
  private readonly lines = new Map<string, Line>();
  private dragged: { y: number; moved: number } | null = null;

  constructor(private readonly actions: TrackActions) {}

  /** Rows and where each is from the top of the element. */
  show(rows: readonly { row: Row; top: number; over: boolean }[]): void {
    const seen = new Set<string>();
    for (const { row, top, over } of rows) {
      const id = `${row.kind === 'track' && row.pinned ? 'pin:' : ''}${row.key}`;
      seen.add(id);
      const signature = `${row.title}/${row.kind === 'track' ? row.folded : row.open}/${row.height}`;
      let line = this.lines.get(id);
      if (line === undefined || line.signature !== signature || line.process !== row.process) {
        const focused =
          line?.element.contains(document.activeElement) === true
            ? (document.activeElement as HTMLElement).dataset['act']
            : undefined;
        const element = this.line(row);
        if (line === undefined) this.element.append(element);
        else line.element.replaceWith(element);
        line = { element, signature, process: row.process };
        this.lines.set(id, line);
        if (focused !== undefined)
          element
            .querySelector<HTMLElement>(`[data-act=${focused}]`)
            ?.focus({ preventScroll: true });
      }
      line.element.style.transform = `translateY(${top}px)`;
      line.element.classList.toggle('over', over);
    }
    for (const [id, line] of this.lines) {
      if (seen.has(id)) continue;
      line.element.remove();
      this.lines.delete(id);
    }
    this.order(rows);
  }

  /** Tab follows what is seen, also after rows came in from above. */
  private order(rows: readonly { row: Row }[]): void {
    let before: Element | null = null;
    for (const { row } of rows) {
      const element = this.lines.get(
        `${row.kind === 'track' && row.pinned ? 'pin:' : ''}${row.key}`,
      )?.element;
      if (element === undefined) continue;
      const place: Element | null =
        before === null ? this.element.firstElementChild : before.nextElementSibling;
      // Moving an element takes the focus from it.
      if (place !== element && !element.contains(document.activeElement))
        this.element.insertBefore(element, place);
      before = element;
    }
  }

  private line(row: Row): HTMLElement {
    const { actions } = this;
    const open = row.kind === 'process' ? row.open : !row.folded;
    const foldable = row.kind === 'process' || row.track.depth > 1;
    const label = h('span', { class: 'trace-name' }, row.title);
    const fold = foldable
      ? h(
          'button',
          {
            type: 'button',
            class: `trace-fold${open ? ' open' : ''}`,
            'data-act': 'fold',
            'aria-expanded': String(open),
            title: row.title,
            on: { click: () => actions.fold(row) },
          },
          label,
        )
      : h('span', { class: 'trace-fold flat', title: row.title }, label);
    const pinned = row.kind === 'track' && row.pinned;
    const menu = new Menu(
      h('span', { class: 'offscreen' }, `Actions for ${row.title}`),
      (panel) => this.actionsMenu(panel, row, menu),
      { class: 'icon trace-more' },
    );
    menu.button.dataset['act'] = 'more';
    menu.button.title = 'Pin, hide, move';
    fill(menu.button, icon('more'), h('span', { class: 'offscreen' }, `Actions for ${row.title}`));
    const pin =
      row.kind === 'track'
        ? iconButton('pin', pinned ? `Unpin ${row.title}` : `Pin ${row.title} to the top`, () =>
            actions.pin(row),
          )
        : null;
    if (pin !== null) {
      pin.dataset['act'] = 'pin';
      pin.classList.toggle('on', pinned);
      pin.setAttribute('aria-pressed', String(pinned));
    }
    const element = h(
      'div',
      { class: `trace-row ${row.kind}${pinned ? ' pinned' : ''}` },
      fold,
      h(
        'small',
        {
          title:
            row.kind === 'track'
              ? [plural(row.track.events, 'event'), peakText(row.track)]
                  .filter((part) => part !== '')
                  .join(', ')
              : plural(row.process.tracks.length, 'track'),
        },
        noun(row),
      ),
      h('span', { class: 'trace-acts' }, pin, menu.element),
    );
    element.style.height = `${row.height}px`;
    this.dragging(element, row);
    return element;
  }

  private actionsMenu(panel: HTMLElement, row: Row, menu: Menu): void {
    const { actions } = this;
    const item = (label: string, act: () => void): HTMLElement =>
      h(
        'button',
        {
          type: 'button',
          class: 'menu-item',
          on: {
            click: () => {
              menu.close();
              menu.button.focus({ preventScroll: true });
              act();
            },
          },
        },
        label,
      );
    // The column cuts what leaves it; a fixed panel is not cut.
    const place = menu.button.getBoundingClientRect();
    panel.style.position = 'fixed';
    panel.style.left = `${Math.max(8, place.left)}px`;
    panel.style.top = `${Math.min(window.innerHeight - 230, place.bottom + 2)}px`;
    const what = row.kind === 'process' ? 'process' : 'track';
    if (row.kind === 'process' || row.track.depth > 1)
      panel.append(
        item(
          row.kind === 'process' ? (row.open ? 'Fold' : 'Unfold') : row.folded ? 'Unfold' : 'Fold',
          () => actions.fold(row),
        ),
      );
    if (row.kind === 'track')
      panel.append(item(row.pinned ? 'Unpin' : 'Pin to the top', () => actions.pin(row)));
    panel.append(
      item(`Hide this ${what}`, () => actions.hide(row)),
      item(`Hide all other ${row.kind === 'process' ? 'processes' : 'tracks'}`, () =>
        actions.only(row),
      ),
      item('Move up', () => actions.move(row, -1)),
      item('Move down', () => actions.move(row, 1)),
      item('Move to the top', () => actions.move(row, -1e6)),
    );
  }

  /** Dragging a name up or down moves the track past its neighbours. */
  private dragging(element: HTMLElement, row: Row): void {
    element.addEventListener('pointerdown', (event) => {
      if (
        event.button !== 0 ||
        event.pointerType !== 'mouse' ||
        (event.target instanceof Element && event.target.closest('.trace-acts') !== null)
      )
        return;
      this.dragged = { y: event.clientY, moved: 0 };
      const move = (next: PointerEvent): void => {
        if (this.dragged === null) return;
        this.dragged.moved = next.clientY - this.dragged.y;
        element.classList.toggle('dragged', Math.abs(this.dragged.moved) > 8);
      };
      const end = (): void => {
        document.removeEventListener('pointermove', move);
        document.removeEventListener('pointerup', end);
        element.classList.remove('dragged');
        const { dragged } = this;
        this.dragged = null;
        if (dragged === null || Math.abs(dragged.moved) <= 8) return;
        // The click that ends a drag must not fold.
        element.addEventListener(
          'click',
          (click) => {
            click.stopPropagation();
            click.preventDefault();
          },
          { capture: true, once: true },
        );
        const by =
          Math.sign(dragged.moved) *
          Math.max(1, Math.round(Math.abs(dragged.moved) / Math.max(24, row.height)));
        setTimeout(() => this.actions.move(row, by));
      };
      document.addEventListener('pointermove', move);
      document.addEventListener('pointerup', end);
    });
  }
}
