// SPDX-License-Identifier: Apache-2.0
// The server's statements for a reader: a heading, the thresholds behind it, and where the evidence
// is.

export interface Verdict {
  severity: 'info' | 'warning' | 'error';
  head: string;
  text: string;
  /** The limits the words stand for. */
  limits: string;
}

/** Percent of step time; the profilers' own limits. */
export const LIMITS = {
  input: { moderate: 5, high: 20 },
  other: { moderate: 3, high: 15 },
  eager: 10,
  precision: 10,
  functions: 20,
  outside: 5,
  mostly: 50,
} as const;

function firstPercent(statement: string): string | null {
  return /([\d.]+)\s*%/.exec(statement)?.[1] ?? null;
}

/**
 * Links of the profilers' own documentation stay readable; nothing in a statement is ever markup.
 * Written as the page's own words.
 */
export function plain(statement: string): string {
  const text = statement
    .replace(/<a\s+href="[^"]*"[^>]*>([^<]*)<\/a>/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  return text.replace(/(\d)%/g, '$1\u00a0%').replace(/"([^"]*)"/g, '“$1”');
}

/**
 * How much a program is bound by its input: the first such word, because others may follow that are
 * of other hosts.
 */
export function inputWord(statement: string): string {
  return /\b(HIGHLY|MODERATELY|POTENTIALLY|NOT)\b/.exec(statement)?.[1] ?? '';
}

/**
 * `hosts` is the part of the statement that says which hosts it is of and for which others it
 * holds.
 */
export function inputVerdict(statement: string, hosts = ''): Verdict | null {
  const own = plain(statement);
  if (own === '') return null;
  const verdict = verdictOfOne(own);
  // In a sentence the words need not be shouted.
  const spoken = plain(hosts).replace(
    /\b(is|are) (HIGHLY|MODERATELY|POTENTIALLY|NOT) input-bound/g,
    (all) => all.toLowerCase(),
  );
  return hosts === '' || own === verdict.text
    ? verdict
    : { ...verdict, text: `${verdict.text} ${spoken}` };
}

function verdictOfOne(own: string): Verdict {
  const percent = firstPercent(own);
  const { moderate, high } = LIMITS.input;
  const limits = `Moderately: ${moderate}\u00a0% of the step time or more. Highly: ${high}\u00a0% or more.`;
  const waits = `${percent ?? '?'} % of the step time is spent waiting for input.`;
  const word = percent === null ? '' : inputWord(own);
  if (word === 'HIGHLY')
    return {
      severity: 'error',
      head: 'Highly input-bound.',
      text: `${waits} Reduce the input time first.`,
      limits,
    };
  if (word === 'MODERATELY')
    return {
      severity: 'warning',
      head: 'Moderately input-bound.',
      text: `${waits} Reduce both the input time and the rest.`,
      limits,
    };
  if (word === 'POTENTIALLY') {
    return {
      severity: 'warning',
      head: 'Potentially input-bound.',
      text: `${percent} % of the step time is in “All others”, which may be I/O, Python code, or both.`,
      limits: `Potentially: at least ${LIMITS.other.moderate}\u00a0% in “All others”, and less than ${moderate}\u00a0% waiting for input.`,
    };
  }
  if (word === 'NOT')
    return {
      severity: 'info',
      head: 'Not input-bound.',
      text: `${Number(percent) === 0 ? 'Less than 0.1' : `Only ${percent}`}\u00a0% of the step time is spent waiting for input; look at the rest of the step.`,
      limits,
    };
  return { severity: 'info', head: 'Input', text: own, limits: '' };
}

/**
 * The work of the devices. It comes first where there are no steps, because nothing else shows it
 * then.
 */
export function deviceVerdict(found: Readonly<Record<string, string>>): Verdict | null {
  const text = plain(found['device_statement'] ?? '');
  if (text === '') return null;
  switch (found['device_state']) {
    case 'not_recorded':
      return { severity: 'error', head: 'No device activity was recorded.', text, limits: '' };
    case 'idle':
      return {
        severity: 'warning',
        head: 'The device is mostly idle.',
        text,
        limits: `Shown when the device is idle for at least ${LIMITS.mostly}\u00a0% of the time.`,
      };
    case 'waiting':
      return {
        severity: 'warning',
        head: 'The device mostly waits.',
        text,
        limits: `Shown when waiting takes at least ${LIMITS.mostly}\u00a0% of the device’s operation time.`,
      };
    default:
      return null;
  }
}

export interface Advice {
  text: string;
  limits: string;
  link: { tool: string; label: string; params: Record<string, string> } | null;
}

function amountOf(text: string | undefined): number {
  const value = Number((text ?? '').replace('%', ''));
  return Number.isFinite(value) ? value : 0;
}

/** The names a statement quotes, for a filter that finds them. */
function quotedName(statement: string): string | null {
  return /["“']([^"”']+)["”']/.exec(statement)?.[1] ?? null;
}

/** Where little is computed in 16 bits; none at all has words of its own. */
function precision(found: Readonly<Record<string, string>>): string {
  const statement = plain(found['precision_statement'] ?? '');
  const share =
    firstPercent(found['device_compute_16bit_percent'] ?? '') ?? firstPercent(statement);
  if (statement === '' || share === null) return statement;
  return `${Number(share) === 0 ? 'Nothing is computed in 16-bit precision' : `Only ${share}\u00a0% of device compute time is in 16-bit precision`}. Where the accuracy allows it, 16-bit operations may be faster.`;
}

/** Sentences the server computed, each with the page and filter that shows what it speaks of. */
export function advice(found: Readonly<Record<string, string>>): Advice[] {
  const list: Advice[] = [];
  const state = found['device_state'];
  // Steps say better than shares of the whole capture how long a device has nothing to do.
  if (state === 'not_recorded') {
    list.push({
      text: 'Make sure that the profiler can record the device, and capture again. If the profiler reported an error, it is shown above.',
      limits: '',
      link: { tool: 'trace_viewer', label: 'What the host did', params: {} },
    });
  } else if (state === 'idle' && found['bottleneck'] === 'unknown') {
    list.push({
      text: 'See what the host does while the device is idle, and whether the capture began long before the program started its work.',
      limits: '',
      link: { tool: 'trace_viewer', label: 'Host and device in the trace', params: {} },
    });
  }
  if (amountOf(found['device_wait_percent']) >= LIMITS.input.high) {
    list.push({
      text: `${amountOf(found['device_wait_percent']).toFixed(1)} % of the device’s operation time is spent waiting, mostly for copies that began earlier. Start the copies sooner, make them smaller, or keep the data where it is used.`,
      limits: '',
      link: {
        tool: 'framework_op_stats',
        label: 'Operations that wait',
        params: { dev: 'device', q: '-done' },
      },
    });
  }
  const say = (key: string, limits: string, link: (statement: string) => Advice['link']): void => {
    const statement = key === 'precision_statement' ? precision(found) : plain(found[key] ?? '');
    if (statement !== '') list.push({ text: statement, limits, link: link(statement) });
  };
  const { other } = LIMITS;
  const two = `Moderate: ${other.moderate}\u00a0% of the step time or more. High: ${other.high}\u00a0% or more.`;
  if (found['bottleneck'] === 'host' || found['bottleneck'] === 'both') {
    // The verdict above has the numbers and the limits; here only what to do is left to say.
    const potential = inputWord(found['statement'] ?? '') === 'POTENTIALLY';
    list.push(
      potential
        ? {
            text: 'Find out what “All others” is: I/O, Python code, or both.',
            limits: '',
            link: {
              tool: 'input_pipeline_analyzer',
              label: 'Input operations on the host',
              params: {},
            },
          }
        : {
            text: 'Shorten the wait for input: see which part of the input pipeline takes the time.',
            limits: '',
            link: {
              tool: 'input_pipeline_analyzer',
              label: 'Where the input time goes',
              params: {},
            },
          },
    );
  }
  say('kernel_launch_statement', two, () => ({
    tool: 'kernel_stats',
    label: 'Kernels launched most often',
    params: { sort: '-occurrences' },
  }));
  say('device_collectives_statement', two, () => ({
    tool: 'pod_viewer',
    label: 'Collectives of each host',
    params: { metric: 'collectives' },
  }));
  // The same sentence may already stand above as the reason of the input verdict.
  if ((found['all_other_statement'] ?? '') !== (found['statement'] ?? '')) {
    say('all_other_statement', two, () => ({
      tool: 'framework_op_stats',
      label: 'Operations of the host',
      params: { dev: 'host' },
    }));
  }
  say(
    'output_statement',
    `Moderate: ${LIMITS.input.moderate}\u00a0% of the step time or more. High: ${LIMITS.input.high}\u00a0% or more.`,
    () => ({ tool: 'input_pipeline_analyzer', label: 'How a step is spent', params: {} }),
  );
  say(
    'tf_function_statement',
    `Shown when expensive calls take at least ${LIMITS.functions}\u00a0% of a function’s time.`,
    (statement) => {
      const name = quotedName(statement);
      return {
        tool: 'framework_op_stats',
        label: 'Functions on the host',
        params: { dev: 'host', ...(name === null ? {} : { q: name }) },
      };
    },
  );
  say(
    'eager_statement',
    `Shown when it is more than ${LIMITS.eager}\u00a0% of the operation time.`,
    (statement) => ({
      tool: 'framework_op_stats',
      label: 'Eager operations',
      params: {
        dev: /\bhost\b/i.test(statement) ? 'host' : 'device',
        'f.eager': '=Eager',
        cols: 'eager',
      },
    }),
  );
  say(
    'outside_compilation_statement',
    `Shown when it is more than ${LIMITS.outside}\u00a0% of the device time.`,
    () => ({
      tool: 'framework_op_stats',
      label: 'Operations of the device',
      params: { dev: 'device' },
    }),
  );
  say(
    'precision_statement',
    `Shown when it is less than ${LIMITS.precision}\u00a0% of device compute time.`,
    () => ({
      tool: 'kernel_stats',
      label: 'Kernels that could use TensorCores',
      params: { 'f.eligible': 'yes', 'f.uses': 'no' },
    }),
  );
  return list;
}

export interface Piece {
  text: string;
  /** A page of this server, or of the profilers' documentation. */
  tool?: string;
  href?: string;
}

const NAMES = /\b[a-z]+(?:_[a-z]+)+\b/g;

/**
 * Fixed tips of the server, cut where they name a page or a document of tensorflow.org. `named`:
 * PageContext's.
 */
export function pieces(tip: string, named: (name: string) => string | null): Piece[] {
  const list: Piece[] = [];
  const anchor = /<a\s+href="(https:\/\/www\.tensorflow\.org\/[^"<>\s]*)"[^<>]*>([^<>]*)<\/a>/g;
  let at = 0;
  const words = (text: string): void => {
    let from = 0;
    for (const match of text.matchAll(NAMES)) {
      const tool = named(match[0]);
      if (tool === null) continue;
      if (match.index > from) list.push({ text: text.slice(from, match.index) });
      list.push({ text: match[0], tool });
      from = match.index + match[0].length;
    }
    if (from < text.length) list.push({ text: text.slice(from) });
  };
  for (const match of tip.matchAll(anchor)) {
    words(tip.slice(at, match.index));
    list.push({ text: match[2] ?? '', href: match[1] ?? '' });
    at = match.index + match[0].length;
  }
  words(tip.slice(at));
  return list;
}
