// SPDX-License-Identifier: Apache-2.0
// Preferences, kept in the browser: looks and habits, never content. Storage may be forbidden.

const PREFIX = 'tfprof.';

export function taste(key: string): string | null {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

export function setTaste(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}
