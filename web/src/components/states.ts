// SPDX-License-Identifier: Apache-2.0
// The states every page has besides showing data: waiting, failed, and three kinds of nothing.

import { ApiError } from '../core/api';
import { fill, h, icon, type Child } from '../core/dom';
import { sentence } from '../core/format';
import { ProgressBar } from './progress_bar';

export function iconButton(
  glyph: Parameters<typeof icon>[0],
  label: string,
  onClick: () => void,
): HTMLButtonElement {
  return h(
    'button',
    { class: 'icon', type: 'button', 'aria-label': label, title: label, on: { click: onClick } },
    icon(glyph),
  );
}

export function button(
  label: string,
  onClick: () => void,
  glyph?: Parameters<typeof icon>[0],
): HTMLButtonElement {
  return h(
    'button',
    { class: 'button', type: 'button', on: { click: onClick } },
    glyph !== undefined && icon(glyph),
    label,
  );
}

/** Writes to the clipboard; says whether it worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without a secure context there is no clipboard API; a selection still copies.
    const area = h('textarea', { class: 'offscreen', readonly: true, 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const mark = h('span', {}, label);
  const element = h('button', { class: 'button', type: 'button' }, icon('copy'), mark);
  element.addEventListener('click', () => {
    void copyText(text()).then((done) => {
      mark.textContent = done ? 'Copied' : 'Copying is not allowed';
      setTimeout(() => {
        mark.textContent = label;
      }, 1500);
    });
  });
  return element;
}

/** Grey boxes in the size of what will come, so that nothing jumps. */
export function skeleton(...heights: number[]): HTMLElement {
  const element = h('div', { class: 'skeleton', 'aria-hidden': 'true' });
  for (const height of heights) {
    const box = h('div');
    box.style.height = `${height}px`;
    element.append(box);
  }
  return element;
}

export function errorState(error: unknown, retry: () => void): HTMLElement {
  const known =
    error instanceof ApiError
      ? error
      : new ApiError('internal', error instanceof Error ? error.message : String(error));
  const facts: [string, string][] = [['Code', known.code]];
  if (known.file !== null) facts.push(['File', known.file]);
  if (known.offset !== null) facts.push(['Byte', known.offset.toLocaleString('en-US')]);
  if (known.address !== '') facts.push(['Request', known.address]);
  const details = [
    known.message,
    known.hint ?? '',
    ...facts.map(([key, value]) => `${key}: ${value}`),
  ]
    .filter((line) => line !== '')
    .join('\n');
  const list = h('dl', { class: 'facts' });
  for (const [key, value] of facts) list.append(h('dt', {}, key), h('dd', {}, value));
  return h(
    'div',
    { class: 'state failed', role: 'alert' },
    h('h2', {}, 'This could not be shown'),
    h('p', {}, sentence(known.message)),
    known.hint !== null && h('p', { class: 'soft' }, sentence(known.hint)),
    list,
    h(
      'p',
      { class: 'acts' },
      button('Try again', retry),
      copyButton('Copy details', () => details),
    ),
  );
}

/** The server was restarted with a new token: nothing on the page works until it is entered. */
export function signedOutState(): HTMLElement {
  return h(
    'div',
    { class: 'state failed', role: 'alert' },
    h('h2', {}, 'The server asks for its token'),
    h(
      'p',
      {},
      'It was probably restarted, and sessions end with the server. Nothing is lost: this view opens again after you sign in.',
    ),
    h('p', { class: 'soft' }, 'The server prints an address with the token when it starts.'),
    h(
      'p',
      { class: 'acts' },
      button('Enter the token', () => window.location.reload()),
    ),
  );
}

/** Nothing was recorded: says so, and how to record it. */
export function notRecorded(title: string, ...how: Child[]): HTMLElement {
  return h('div', { class: 'state' }, h('h2', {}, title), ...how);
}

/** A filter leaves nothing over: offers to clear it. */
export function nothingMatches(what: string, clear: () => void): HTMLElement {
  return h(
    'div',
    { class: 'state matches-none' },
    h('p', {}, `No ${what} match the filter.`),
    h('p', { class: 'acts' }, button('Clear filter', clear)),
  );
}

const PATIENCE_MS = 30_000;
/** How often a file that is still being written is looked at again. */
const COMPLETE_MS = 5_000;

/** A file of the run is not complete: no failure, and nothing that the user has to do. */
function unfinishedState(error: ApiError, now: () => void): HTMLElement {
  return h(
    'div',
    { class: 'state', role: 'status' },
    h('h2', {}, 'Still being written'),
    h('p', {}, sentence(error.message)),
    error.hint !== null && h('p', { class: 'soft' }, sentence(error.hint)),
    h('p', { class: 'soft' }, `This page checks again every ${COMPLETE_MS / 1000} seconds.`),
    h('p', { class: 'acts' }, button('Check now', now)),
  );
}

/**
 * A place for something that is loaded. The old content stays, dimmed by a thin bar, until the new
 * is here;
 * a request that is no longer wanted is aborted; nothing waits for ever without saying so.
 */
export class Loader {
  readonly element = h('div', { class: 'loader' });
  private readonly bar = h('div', { class: 'thin-bar', hidden: true });
  private readonly progress = new ProgressBar();
  private readonly slow = h('div', { class: 'slow', role: 'status', hidden: true });
  private readonly slot = h('div', { class: 'slot' });
  private controller: AbortController | null = null;
  private timer: number | undefined;
  private shown = false;
  /** What is said of files that are not complete; '' when nothing is. */
  private unfinished = '';

  constructor() {
    this.element.append(this.bar, this.progress.element, this.slow, this.slot);
  }

  load<T>(
    fetcher: (signal: AbortSignal) => Promise<T>,
    render: (value: T) => Node,
    waiting: () => Node,
  ): void {
    this.unfinished = '';
    this.attempt(fetcher, render, waiting);
  }

  private attempt<T>(
    fetcher: (signal: AbortSignal) => Promise<T>,
    render: (value: T) => Node,
    waiting: () => Node,
  ): void {
    this.cancel();
    const controller = new AbortController();
    this.controller = controller;
    const again = (): void => this.load(fetcher, render, waiting);
    this.element.setAttribute('aria-busy', 'true');
    if (this.shown || this.unfinished !== '') this.bar.hidden = false;
    else fill(this.slot, waiting());
    this.progress.start(controller.signal);
    this.timer = window.setTimeout(() => {
      // Where it is known how far the server is, that says more.
      if (this.progress.isKnown) return;
      fill(
        this.slow,
        h('span', {}, 'No answer for 30 seconds; the server may be reading a large capture.'),
        button('Ask again', again),
      );
      this.slow.hidden = false;
    }, PATIENCE_MS);
    fetcher(controller.signal).then(
      (value) => {
        if (controller.signal.aborted) return;
        this.settle();
        this.shown = true;
        this.unfinished = '';
        fill(this.slot, render(value));
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        this.settle();
        this.shown = false;
        if (error instanceof ApiError && error.code === 'changing') {
          // The words stay as they are while they are true: nothing flickers, nothing is read out
          // again.
          const words = `${error.message}\n${error.hint ?? ''}`;
          if (words !== this.unfinished) fill(this.slot, unfinishedState(error, again));
          this.unfinished = words;
          this.timer = window.setTimeout(() => this.attempt(fetcher, render, waiting), COMPLETE_MS);
          return;
        }
        this.unfinished = '';
        fill(this.slot, errorState(error, again));
      },
    );
  }

  cancel(): void {
    this.controller?.abort();
    this.controller = null;
    this.settle();
  }

  private settle(): void {
    window.clearTimeout(this.timer);
    this.bar.hidden = true;
    this.progress.stop();
    this.slow.hidden = true;
    this.element.removeAttribute('aria-busy');
  }
}
