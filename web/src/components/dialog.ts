import { freshId, h } from '../core/dom';
import { iconButton } from './states';

/** A native modal dialog, gone from the document once closed. */
export function openDialog(title: string, className: string, build: (body: HTMLElement, close: () => void) => void): void {
  // One at a time: opening another would stack two modal layers.
  if (document.querySelector('dialog[open]') !== null) return;
  const id = freshId('dialog');
  const dialog = h('dialog', { class: className, 'aria-labelledby': id });
  const close = (): void => dialog.close();
  const body = h('div', { class: 'dialog-body' });
  dialog.append(h('header', {}, h('h2', { id }, title), iconButton('close', 'Close', close)), body);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) close();
  });
  document.body.append(dialog);
  build(body, close);
  dialog.showModal();
  body.querySelector<HTMLElement>('input[type=text], input[type=search]')?.focus();
}
