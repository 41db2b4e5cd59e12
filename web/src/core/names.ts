// SPDX-License-Identifier: Apache-2.0
// Long names made short without making two of them alike.

/** Keeps the end of a name, which is the part that tells ops apart. */
export function trimLeft(name: string, room: number): string {
  return name.length <= room ? name : `…${name.slice(name.length - room + 1)}`;
}

export function trimRight(name: string, room: number): string {
  return name.length <= room ? name : `${name.slice(0, room - 1)}…`;
}

function commonSuffix(names: readonly string[]): number {
  const [first = '', ...rest] = names;
  let length = first.length;
  for (const name of rest) {
    let same = 0;
    while (
      same < length &&
      same < name.length &&
      first[first.length - 1 - same] === name[name.length - 1 - same]
    )
      same += 1;
    length = same;
  }
  return length;
}

/** How much of the part in which two long names differ is shown. */
const DIFFERENCE = 14;

function tails(names: readonly string[], room: number): string[] {
  const labels = names.map((name) => trimLeft(name, room));
  const byLabel = new Map<string, number[]>();
  labels.forEach((label, index) => {
    const group = byLabel.get(label);
    if (group === undefined) byLabel.set(label, [index]);
    else group.push(index);
  });
  for (const group of byLabel.values()) {
    const distinct = [...new Set(group.map((index) => names[index] ?? ''))];
    if (distinct.length < 2) continue;
    const suffix = commonSuffix(distinct);
    const tail = Math.max(1, room - DIFFERENCE - 2);
    for (const index of group) {
      const name = names[index] ?? '';
      const end = name.length - suffix;
      const start = Math.max(0, end - DIFFERENCE);
      labels[index] =
        `${start > 0 ? '…' : ''}${name.slice(start, end)}…${name.slice(name.length - Math.min(tail, suffix))}`;
    }
  }
  return labels;
}

/**
 * Trims each name from the left. Names whose ends are the same keep the part in which they differ,
 * and all get
 * some more room if that still leaves two alike.
 */
export function distinctTails(names: readonly string[], room: number): string[] {
  const wanted = new Set(names).size;
  let labels = tails(names, room);
  for (let more = 8; more <= 32 && new Set(labels).size < wanted; more += 8)
    labels = tails(names, room + more);
  return labels;
}

/** Identifiers of an Itanium-mangled name, outermost first: enough for a label, no demangler. */
function mangledParts(name: string): string[] {
  const parts: string[] = [];
  let at = name.startsWith('_ZN') ? 3 : 2;
  while (/[KVr]/.test(name[at] ?? '')) at += 1;
  for (;;) {
    const match = /^\d+/.exec(name.slice(at));
    if (match === null) return parts;
    const length = Number(match[0]);
    at += match[0].length;
    parts.push(name.slice(at, at + length));
    at += length;
  }
}

/** Names that say nothing without their template arguments; only the telling argument is shown. */
const EMPTY_WORDS = new Set([
  'Kernel',
  'Kernel2',
  'kernel',
  'kentry',
  'device_kernel',
  'kernel_entry',
  'global_kernel',
  'entry',
  'run',
  'launch',
  'TensorEvaluator',
  'TensorAssignOp',
  'TensorCwiseBinaryOp',
  'TensorCwiseUnaryOp',
  'TensorCwiseNullaryOp',
  'TensorConversionOp',
  'TensorReductionEvaluatorBase',
]);

/** Names that say half of it: the telling argument is shown behind them. */
const HALF_WORDS = new Set([
  'EigenMetaKernel',
  'elementwise_kernel',
  'vectorized_elementwise_kernel',
  'unrolled_elementwise_kernel',
  'reduce_kernel',
  'DeviceReduceKernel',
  'ReductionInitKernel',
  'FullReductionKernel',
  'InnerReductionKernel',
  'OuterReductionKernel',
]);

/** Types of data and places, never of the work done. */
const DATA_TYPES = new Set([
  'TensorMap',
  'Tensor',
  'GpuDevice',
  'MakePointer',
  'DSizes',
  'array',
  'integral_constant',
  'sequence',
  'complex',
]);

const PLAIN_TYPE =
  /^(?:const )?(?:unsigned |signed )?(?:bool|char|short|int|long|long long|float|double|half|__half|bfloat16\w*|__nv_bfloat16|u?int\d+_t|size_t|true|false|gfx\d+\w*|sm_?\d+\w*|void)[ *&]*$/;

/** Splits at the first template list of depth 0: `a::f<x, y>(z)` gives `a::f` and [`x`, `y`]. */
function splitTemplate(text: string): { head: string; args: string[] } {
  let depth = 0;
  let round = 0;
  let head = '';
  let argument = '';
  const args: string[] = [];
  let seen = false;
  for (let i = 0; i < text.length; i += 1) {
    const letter = text[i] ?? '';
    if (letter === '<' && !head.endsWith('operator')) {
      depth += 1;
      if (depth === 1) continue;
    } else if (letter === '>' && depth > 0 && text[i - 1] !== '-') {
      depth -= 1;
      if (depth === 0) {
        if (!seen) args.push(argument.trim());
        seen = true;
        continue;
      }
    } else if (letter === '(' || letter === ')') {
      round += letter === '(' ? 1 : -1;
      if (depth === 0 && letter === '(') {
        if (!text.startsWith('(anonymous namespace)', i)) break;
        i += '(anonymous namespace)'.length - 1;
        round -= 1;
        head += '(anonymous)';
        continue;
      }
    } else if (letter === ',' && depth === 1 && round === 0) {
      if (!seen) args.push(argument.trim());
      argument = '';
      continue;
    }
    if (depth === 0) head += letter;
    else if (!seen) argument += letter;
  }
  return { head: head.trim(), args };
}

function lastPart(path: string): string {
  const parts = path.split('::').filter((part) => part !== '' && part !== '(anonymous)');
  return parts[parts.length - 1] ?? path;
}

function plainName(text: string): string {
  const { head } = splitTemplate(text.replace(/(?:\s+const|[*&\s])+$/, ''));
  return lastPart(head.replace(/^.*\s(?=\S+$)/, ''));
}

function shortCxx(text: string, level: number): string {
  const plain = plainName(text);
  const half = HALF_WORDS.has(plain);
  if ((!half && !EMPTY_WORDS.has(plain)) || level >= 8) return plain;
  const telling = splitTemplate(text).args.find(
    (arg) =>
      /^[A-Za-z_(]/.test(arg) &&
      !DATA_TYPES.has(plainName(arg)) &&
      !PLAIN_TYPE.test(plainName(arg)),
  );
  if (telling === undefined) return plain;
  const inner = shortCxx(telling, level + 1);
  return half ? `${plain}<${inner}>` : inner;
}

/** A kernel's name without return type, namespaces, template arguments and parameters. */
export function shortKernel(name: string): string {
  // `.kd` marks AMD's kernel descriptors.
  const text = name.trim().replace(/\.kd$/, '');
  if (/^_ZN?[KVr]*\d/.test(text)) {
    const parts = mangledParts(text);
    return parts[parts.length - 1] ?? text;
  }
  const looksLikeCxx = /[<(]|::/.test(text) || text.startsWith('void ');
  return looksLikeCxx ? shortCxx(text, 0) || text : text;
}

/**
 * How an event of a trace is written in a box: C++ without what is the same in all kernels, all
 * else as it is.
 */
export function eventLabel(name: string): string {
  // Python frames have `<module>` and the like in them.
  const cxx =
    name.startsWith('void ') ||
    /^_ZN?[KVr]*\d/.test(name) ||
    (name.includes('<') && name.includes('::') && !name.startsWith('$'));
  return cxx ? shortKernel(name) : name;
}

/** The type of an op when nothing but its name is known: the last path part, without a counter. */
export function opTypeFromName(fullName: string): string {
  // JAX ends its names with the colon that would stand before a type.
  const name = fullName.replace(/:+$/, '');
  if (name === '') return '';
  const colon = name.lastIndexOf(':');
  if (colon > name.lastIndexOf('/') && colon > 0 && name[colon - 1] !== ':')
    return name.slice(colon + 1);
  const last = name.split('/').pop() ?? name;
  return last.replace(/_\d+$/, '') || last;
}

/** 32-bit FNV-1a: a short stable mark for a name too long for an address. */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** A key for `sel=`: readable when short, else a readable end and a hash of the whole. */
export function addressKey(parts: readonly string[], readable: string): string {
  const whole = parts.join('|');
  return whole.length <= 72 ? whole : `${readable.slice(-40)}~${shortHash(whole)}`;
}
