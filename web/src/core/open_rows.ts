// SPDX-License-Identifier: Apache-2.0
// Which rows of a tree are open, as the address keeps it: their keys with commas between.

import type { UrlState } from './url_state';

const KEY = 'open';

export function openRows(url: Pick<UrlState, 'get'>): Set<string> {
  return new Set(
    url
      .get(KEY)
      .split(',')
      .filter((key) => key !== '')
      .map((key) => key.replace(/%2C/g, ',')),
  );
}

/** Opens what is closed, and closes what is open. */
export function toggleRow(url: Pick<UrlState, 'get' | 'set'>, key: string): void {
  const next = openRows(url);
  if (!next.delete(key)) next.add(key);
  url.set({
    [KEY]: [...next]
      .sort()
      .map((one) => one.replace(/,/g, '%2C'))
      .join(','),
  });
}
