// SPDX-License-Identifier: Apache-2.0
// Names of the counts and times of a capture, and their meanings: the same words on every page.

export const WORDS = {
  recorded: 'Recorded: the events in the files.',
  hidden:
    'Not shown on the timeline: bookkeeping events of allocators and tf.data (MemoryAllocation, PrefetchProduce and the like), and sums that have no time.',
  derived:
    'Derived: events computed from the recorded ones, such as steps and operations on a device.',
  drawn: 'Drawn: the boxes in view. One box can stand for several events.',
  captured:
    'Captured: from the first recorded event to the last, in the plane that spans the longest time.',
  timeline: 'Timeline: from the first event shown to the last.',
} as const;

export interface EventCounts {
  /** On the timeline: recorded, without the hidden, with the derived. */
  events: number;
  /** Absent from servers that do not count them. */
  recorded?: number;
  hidden?: number;
  derived?: number;
}

/**
 * `880 recorded, 200 of them not shown, 12 derived`; '' where the number on the timeline needs no
 * word.
 */
export function countsText(
  { events, recorded, hidden = 0, derived = 0 }: EventCounts,
  count: (value: number) => string,
): string {
  if (recorded === undefined || (recorded === events && hidden === 0 && derived === 0)) return '';
  return [
    `${count(recorded)} recorded`,
    ...(hidden > 0 ? [`${count(hidden)} of them not shown`] : []),
    ...(derived > 0 ? [`${count(derived)} derived`] : []),
  ].join(', ');
}
