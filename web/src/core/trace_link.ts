// SPDX-License-Identifier: Apache-2.0
// Where in the trace something is: every link to the timeline is made here, so that its keys are
// known in one place.

import type { Slowest } from './api';
import type { PageContext } from './page';

/**
 * One of: a step by its name, a stretch of time in nanoseconds from the run's zero, perhaps with a
 * moment marked, all events of a name, all that name an op, or all of an instruction of XLA's.
 */
export type TraceTarget =
  | { step: string }
  | { fromNs: number; toNs: number; event?: string; markNs?: number; label?: string }
  | { name: string }
  | { op: string }
  | { instruction: string };

/** Keys of the trace viewer's address. */
export function tracePlace(target: TraceTarget): Record<string, string> {
  if ('step' in target) return { step: target.step };
  if ('name' in target) return { q: target.name };
  // An op is the name of some events and an argument of others.
  if ('op' in target) return { q: target.op, in: 'all' };
  // As much, but exact, and with or without the text behind it: fusion.1 is not fusion.12.
  if ('instruction' in target)
    return {
      q: `^%?${target.instruction.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}( =|$)`,
      re: '1',
      in: 'all',
    };
  return {
    from: String(target.fromNs),
    to: String(target.toNs),
    ...(target.event === undefined ? {} : { sel: target.event }),
    ...(target.markNs === undefined
      ? {}
      : { mark: `${target.markNs}${target.label === undefined ? '' : `~${target.label}`}` }),
  };
}

/**
 * Where one of the slowest events is on the timeline of its host, chosen and with room around it;
 * null where it is not.
 */
export function slowestLink(context: PageContext): (one: Slowest) => string | null {
  return (one) => {
    if (one.event === undefined || !context.has('trace_viewer')) return null;
    const [start, length] = [one.start_us * 1000, Math.max(one.duration_us * 1000, 10)];
    return context.link('trace_viewer', {
      ...tracePlace({
        fromNs: Math.max(0, Math.floor(start - 2 * length)),
        toNs: Math.ceil(start + 3 * length),
        event: one.event,
      }),
      ...((context.tool?.hosts ?? []).length > 1 ? { host: one.host } : {}),
    });
  };
}

/**
 * The memory profile of a host at a moment of the trace, which counts from the same zero, perhaps
 * of one allocator; null where there is none.
 */
export function memoryLink(
  context: PageContext,
  host: string,
  ns: number,
  allocator?: string,
): string | null {
  return context.has('memory_profile')
    ? context.link('memory_profile', {
        at: String(ns),
        ...(allocator === undefined ? {} : { mem: allocator }),
        ...(host === '' ? {} : { host }),
      })
    : null;
}
