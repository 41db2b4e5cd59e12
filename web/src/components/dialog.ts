// SPDX-License-Identifier: Apache-2.0
import { freshId, h } from '../core/dom';
import { iconButton } from './states';

/** Fills a dialog; what it returns is called once the dialog is gone. */
export type DialogBuilder = (body: HTMLElement, close: () => void) => void | (() => void);

/**
 * A native modal dialog, gone from the document once closed; then also calls what `build` returned.
 */
export function openDialog(title: string, className: string, build: DialogBuilder): void {
  // One at a time: opening another would stack two modal layers.
  if (document.querySelector('dialog[open]') !== null) return;
  const id = freshId('dialog');
  const dialog = h('dialog', { class: className, 'aria-labelledby': id });
  const close = (): void => dialog.close();
  const body = h('div', { class: 'dialog-body' });
  dialog.append(h('header', {}, h('h2', { id }, title), iconButton('close', 'Close', close)), body);
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) close();
  });
  document.body.append(dialog);
  const ended = build(body, close);
  dialog.addEventListener('close', () => {
    dialog.remove();
    ended?.();
  });
  dialog.showModal();
  body.querySelector<HTMLElement>('input[type=text], input[type=search]')?.focus();
}
