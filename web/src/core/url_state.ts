// SPDX-License-Identifier: Apache-2.0
// The address says what the page shows: `#/<tool>?run=..&host=..&<page keys>`.
// Unknown keys are kept, so that a link made by a newer page survives an older one.

export interface Place {
  tool: string;
  params: Readonly<Record<string, string>>;
}

const FIRST_KEYS = ['run', 'host', 'base'];

/**
 * Like encodeURIComponent, but leaves what may stand in a fragment, so that addresses can be read.
 */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(2F|3A|2C|40|3D|24|3B)/gi, (all) =>
    decodeURIComponent(all),
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parsePlace(hash: string): Place {
  const text = hash.replace(/^#?\/?/, '');
  const mark = text.indexOf('?');
  const tool = decode(mark < 0 ? text : text.slice(0, mark));
  const params: Record<string, string> = {};
  for (const pair of mark < 0 ? [] : text.slice(mark + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const key = decode(equals < 0 ? pair : pair.slice(0, equals));
    params[key] = equals < 0 ? '' : decode(pair.slice(equals + 1));
  }
  return { tool, params };
}

function rank(key: string): number {
  const index = FIRST_KEYS.indexOf(key);
  return index < 0 ? FIRST_KEYS.length : index;
}

export function formatPlace(place: Place): string {
  const keys = Object.keys(place.params).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const query = keys
    .map((key) => `${encode(key).replace(/=/g, '%3D')}=${encode(place.params[key] ?? '')}`)
    .join('&');
  return `#/${encode(place.tool)}${query === '' ? '' : `?${query}`}`;
}

/** A patch sets keys; null or '' removes one. */
export type Patch = Record<string, string | null>;

export function patched(
  params: Readonly<Record<string, string>>,
  patch: Patch,
): Record<string, string> {
  const next: Record<string, string> = { ...params };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === '') delete next[key];
    else next[key] = value;
  }
  return next;
}

/** Browsers refuse too many history writes; typing needs no more than this. */
const REPLACE_INTERVAL_MS = 250;

export class UrlState {
  private current: Place;
  private readonly listeners = new Set<() => void>();
  private timer: number | undefined;

  constructor() {
    this.current = parsePlace(location.hash);
    const onMove = (): void => {
      window.clearTimeout(this.timer);
      this.timer = undefined;
      this.current = parsePlace(location.hash);
      this.notify();
    };
    // Editing the address and going back both end here; a write of ours fires neither.
    window.addEventListener('popstate', onMove);
    window.addEventListener('pagehide', () => this.flush());
  }

  get place(): Place {
    return this.current;
  }

  get(key: string, fallback = ''): string {
    return this.current.params[key] ?? fallback;
  }

  /** Changes keys of this page: `push` for a choice, `replace` while typing or dragging. */
  set(patch: Patch, how: 'push' | 'replace' = 'push'): void {
    this.move({ tool: this.current.tool, params: patched(this.current.params, patch) }, how);
  }

  move(place: Place, how: 'push' | 'replace' = 'push'): void {
    if (formatPlace(place) === formatPlace(this.current)) return;
    if (how === 'push') {
      this.flush();
      this.current = place;
      history.pushState(null, '', formatPlace(place));
    } else {
      this.current = place;
      this.timer ??= window.setTimeout(() => this.flush(), REPLACE_INTERVAL_MS);
    }
    this.notify();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private flush(): void {
    if (this.timer === undefined) return;
    window.clearTimeout(this.timer);
    this.timer = undefined;
    history.replaceState(null, '', formatPlace(this.current));
  }

  private notify(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

/** The keys of an address that begin with a prefix, without it: for a second table on a page. */
export function prefixed(url: UrlState, prefix: string): Pick<UrlState, 'get' | 'set' | 'place'> {
  const own = (): Place => {
    const params: Record<string, string> = {};
    for (const [key, value] of Object.entries(url.place.params)) {
      if (key.startsWith(prefix)) params[key.slice(prefix.length)] = value;
    }
    return { tool: url.place.tool, params };
  };
  return {
    get place() {
      return own();
    },
    get: (key, fallback = '') => url.get(prefix + key, fallback),
    set: (patch, how) =>
      url.set(
        Object.fromEntries(Object.entries(patch).map(([key, value]) => [prefix + key, value])),
        how,
      ),
  };
}
