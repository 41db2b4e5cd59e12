// SPDX-License-Identifier: Apache-2.0
// Pages and dialogs whose code is a file of its own, fetched when first wanted: what most visits do
// not need costs them nothing.

import { ApiError } from '../core/api';
import { connection } from '../core/connection';
import { fill, h } from '../core/dom';
import type { Page, PageContext, PageType } from '../core/page';
import { openDialog, type DialogBuilder } from './dialog';
import { errorState, skeleton } from './states';

/**
 * Browsers remember that a module failed, and a server of another version has other files, so only
 * a new document is
 * sure to help. It is asked for only if the server answers: what stands here is better than the
 * browser's own error.
 * All that is shown is in the address, so nothing is lost.
 */
async function reloadIfServed(): Promise<void> {
  const answer = await fetch('./', { cache: 'no-store' });
  if (!answer.ok) throw new Error('the server does not answer');
  location.reload();
}

/** Waits in `slot` for code; `wanted` says whether it is still needed. */
function awaitCode<T>(
  slot: HTMLElement,
  heights: readonly number[],
  load: () => Promise<T>,
  wanted: () => boolean,
  ready: (loaded: T) => void,
): void {
  const wait = (): void => {
    fill(slot, skeleton(...heights));
    slot.setAttribute('aria-busy', 'true');
  };
  const failed = (): void => {
    if (!wanted()) return;
    slot.removeAttribute('aria-busy');
    const again = (): void => {
      stop();
      wait();
      reloadIfServed().catch(failed);
    };
    // Code that a server does not have will not be there after a reload either.
    const stop = connection.onReturn((wasAway) => {
      if (!wanted()) stop();
      else if (wasAway) again();
      return wasAway && wanted();
    });
    connection.lost();
    fill(
      slot,
      errorState(
        new ApiError(
          'network',
          'The code of this part of the page could not be loaded from the server.',
          'Is tfprof-server still running, and is it the same version?',
        ),
        again,
      ),
    );
  };
  wait();
  load().then((loaded) => {
    if (!wanted()) return;
    slot.removeAttribute('aria-busy');
    ready(loaded);
  }, failed);
}

class LazyPage implements Page {
  readonly element: HTMLElement;
  private page: Page | null = null;
  private gone = false;

  constructor(context: PageContext, load: () => Promise<PageType>) {
    const heading = h('h1', { tabindex: '-1' }, context.tool?.title ?? '');
    const slot = h('div', {});
    this.element = h('div', { class: 'page' }, h('header', { class: 'head' }, heading), slot);
    awaitCode(
      slot,
      [78, 32, 372, 420],
      load,
      () => !this.gone,
      (create) => {
        const focused = document.activeElement === heading;
        this.page = create(context);
        this.element.replaceWith(this.page.element);
        this.page.update();
        if (focused)
          this.page.element.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
      },
    );
  }

  update(): void {
    this.page?.update();
  }

  destroy(): void {
    this.gone = true;
    this.page?.destroy();
  }
}

/** The page whose code `load` fetches. */
export function lazyPage(load: () => Promise<PageType>): PageType {
  return (context) => new LazyPage(context, load);
}

/** A dialog that opens at once and is filled when its code is there. */
export function lazyDialog(
  title: string,
  className: string,
  load: () => Promise<DialogBuilder>,
): void {
  openDialog(title, className, (body, close) => {
    let open = true;
    let ended: void | (() => void);
    awaitCode(
      body,
      [60, 180],
      load,
      () => open,
      (build) => {
        ended = build(body, close);
      },
    );
    return () => {
      open = false;
      ended?.();
    };
  });
}
