// SPDX-License-Identifier: Apache-2.0
// Selection, area and marks as they stand in the address. Pure. Times there are nanoseconds from
// the trace's begin.

export interface Area {
  from: number;
  to: number;
  tracks: string[];
}

export type Selection = { kind: 'event'; id: string } | { kind: 'area'; area: Area } | null;

export interface Mark {
  ps: number;
  label: string;
}

/** Picoseconds as nanoseconds with at most three decimals: exact, and short. */
export function toNs(ps: number): string {
  return String(Math.round(ps) / 1000);
}

export function fromNs(text: string): number | null {
  const value = Number(text);
  return text.trim() === '' || !Number.isFinite(value) ? null : Math.round(value * 1000);
}

/** Names an event: host, track, event. */
const EVENT = /^\d+\.\d+\.\d+$/;

export function readSelection(text: string): Selection {
  if (EVENT.test(text)) return { kind: 'event', id: text };
  const area = /^area:(-?[\d.]+)-(-?[\d.]+)(?::([\d.,]*))?$/.exec(text);
  const [from, to] = [fromNs(area?.[1] ?? ''), fromNs(area?.[2] ?? '')];
  if (from === null || to === null || to < from) return null;
  return {
    kind: 'area',
    area: { from, to, tracks: (area?.[3] ?? '').split(',').filter((one) => one !== '') },
  };
}

export function writeArea(area: Area): string {
  return `area:${toNs(Math.max(0, area.from))}-${toNs(Math.max(0, area.to))}${area.tracks.length === 0 ? '' : `:${area.tracks.join(',')}`}`;
}

/** `1200.5,8000~end of warm-up` */
export function readMarks(text: string): Mark[] {
  return text
    .split(',')
    .flatMap((part): Mark[] => {
      const mark = part.indexOf('~');
      const ps = fromNs(mark < 0 ? part : part.slice(0, mark));
      return ps === null
        ? []
        : [{ ps, label: mark < 0 ? '' : part.slice(mark + 1).replace(/%2C/g, ',') }];
    })
    .sort((a, b) => a.ps - b.ps);
}

export function writeMarks(marks: readonly Mark[]): string {
  return marks
    .map(({ ps, label }) => `${toNs(ps)}${label === '' ? '' : `~${label.replace(/,/g, '%2C')}`}`)
    .join(',');
}
