// SPDX-License-Identifier: Apache-2.0
import { setTaste, taste } from './taste';

export type ThemeChoice = 'auto' | 'light' | 'dark';

const CHOICES: readonly ThemeChoice[] = ['auto', 'light', 'dark'];
const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

export function themeChoice(): ThemeChoice {
  return CHOICES.find((choice) => choice === taste('theme')) ?? 'auto';
}

function apply(): void {
  const choice = themeChoice();
  document.documentElement.dataset['theme'] =
    choice === 'auto' ? (dark.matches ? 'dark' : 'light') : choice;
  for (const listener of [...listeners]) listener();
}

export function setTheme(choice: ThemeChoice): void {
  setTaste('theme', choice === 'auto' ? null : choice);
  apply();
}

export function nextTheme(): ThemeChoice {
  const next = CHOICES[(CHOICES.indexOf(themeChoice()) + 1) % CHOICES.length] ?? 'auto';
  setTheme(next);
  return next;
}

/** Calls back when colours change, for what does not follow CSS by itself (canvases). */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function startTheme(): void {
  dark.addEventListener('change', apply);
  matchMedia('(forced-colors: active)').addEventListener('change', apply);
  apply();
}

/** The value of a design token such as `accent`, as CSS has it now. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
