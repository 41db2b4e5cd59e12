// SPDX-License-Identifier: Apache-2.0
// What the page of profiles asks the server for besides view and quantities: thresholds, the five
// expressions, and how is counted. A chip stands for each that is set, also while they are folded.

import type { Query, Tool } from '../core/api';
import { fill, h, icon } from '../core/dom';
import { trimRight } from '../core/names';
import type { Patch, UrlState } from '../core/url_state';

type Kind = 'count' | 'text' | 'boolean' | 'wrappers';

interface Field {
  /** The parameter, and its key in the address. */
  name: string;
  label: string;
  kind: Kind;
  /** What an empty box means. */
  empty?: string;
}

const least = (name: string, label: string): Field => ({
  name: `min_${name}`,
  label,
  kind: 'count',
  empty: '0',
});
const expression = (name: string, label: string, empty: string): Field => ({
  name: `${name}_regexes`,
  label,
  kind: 'text',
  empty,
});

const THRESHOLDS: readonly Field[] = [
  least('micros', 'Total time (µs)'),
  least('accelerator_micros', 'Accelerator time (µs)'),
  least('cpu_micros', 'CPU time (µs)'),
  least('occurrence', 'Runs'),
  least('bytes', 'Requested bytes'),
  least('peak_bytes', 'Peak bytes'),
  least('residual_bytes', 'Residual bytes'),
  least('output_bytes', 'Output bytes'),
  least('params', 'Parameters'),
  least('float_ops', 'Flops'),
];

const EXPRESSIONS: readonly Field[] = [
  expression('account_type', 'Count types', '.*'),
  expression('start_name', 'Start at', '.*'),
  expression('trim_name', 'Cut below', 'nothing'),
  expression('show_name', 'Show', '.*'),
  expression('hide_name', 'Hide', 'nothing'),
];

const COUNTING: readonly Field[] = [
  { name: 'account_displayed_op_only', label: 'Count only what is shown', kind: 'boolean' },
  {
    name: 'wrappers',
    label: 'One scope for a function and what JAX makes of it',
    kind: 'wrappers',
  },
  { name: 'others', label: 'Kernels and copies of no operation', kind: 'boolean' },
  {
    name: 'params_regexes',
    label: 'Parameters are',
    kind: 'text',
    empty: 'the rule below the table',
  },
  { name: 'limit', label: 'Nodes at most', kind: 'count', empty: '100000' },
];

const ALL = [...THRESHOLDS, ...EXPRESSIONS, ...COUNTING];

function isOn({ kind }: Field, value: string): boolean {
  return kind === 'wrappers' ? value === 'strip' : value === 'true';
}

export class ProfileOptions {
  readonly element: HTMLElement;
  readonly chips = h('div', { class: 'chips', hidden: true });
  private readonly tally = h('small', {});
  private readonly inputs = new Map<string, HTMLInputElement>();
  private readonly problem = h('p', { class: 'problem', role: 'status', hidden: true });

  constructor(
    private readonly url: UrlState,
    private readonly tool: Tool | null,
  ) {
    const group = (legend: string, note: string, fields: readonly Field[]): HTMLElement =>
      h(
        'fieldset',
        {},
        h('legend', {}, legend),
        note !== '' && h('p', { class: 'soft' }, note),
        ...fields.map((field) => this.field(field)),
      );
    this.element = h(
      'details',
      { class: 'profile-options' },
      h('summary', {}, 'Thresholds and expressions', this.tally),
      h(
        'div',
        { class: 'option-fields' },
        group('At least', '', THRESHOLDS),
        group(
          'Names',
          'Regular expressions (RE2) of whole names, several with commas between.',
          EXPRESSIONS,
        ),
        group('Counting', '', COUNTING),
      ),
      this.problem,
    );
  }

  /** What is set, as the server takes it. */
  query(): Query {
    const query: Query = {};
    for (const { name } of ALL) query[name] = this.url.get(name) || null;
    return query;
  }

  isSet(): boolean {
    return ALL.some(({ name }) => this.url.get(name) !== '') || this.url.get('max_depth') !== '';
  }

  clear(): void {
    const patch: Patch = { max_depth: null };
    for (const { name } of ALL) patch[name] = null;
    this.url.set(patch);
  }

  /** Brings the boxes in line with the address. */
  show(): void {
    const set = ALL.filter(({ name }) => this.url.get(name) !== '');
    for (const field of ALL) {
      const input = this.inputs.get(field.name);
      const value = this.url.get(field.name);
      if (input === undefined) continue;
      if (input.type === 'checkbox') input.checked = isOn(field, value);
      else if (document.activeElement !== input) input.value = value;
    }
    this.tally.textContent = set.length === 0 ? '' : ` ${set.length} set`;
    this.chips.hidden = set.length === 0;
    fill(
      this.chips,
      ...set.map(({ name, label, kind }) => {
        const value = this.url.get(name);
        const text =
          kind === 'boolean' || kind === 'wrappers'
            ? label
            : `${label}${kind === 'count' && name !== 'limit' ? ' ≥' : ':'} ${value}`;
        return h(
          'button',
          {
            type: 'button',
            class: 'chip',
            title: `${text}: take it away`,
            on: { click: () => this.url.set({ [name]: null }) },
          },
          trimRight(text, 80),
          icon('close'),
        );
      }),
    );
  }

  private field(field: Field): HTMLElement {
    const { name, label, kind, empty } = field;
    const hint = this.tool?.parameters?.find((one) => one.name === name)?.sentence;
    if (kind === 'boolean' || kind === 'wrappers') {
      const input = h('input', {
        type: 'checkbox',
        on: {
          change: () =>
            this.url.set({
              [name]: input.checked ? (kind === 'wrappers' ? 'strip' : 'true') : null,
            }),
        },
      });
      this.inputs.set(name, input);
      return h('label', { class: 'toggle', title: hint }, input, h('span', {}, label));
    }
    const input = h('input', {
      type: 'text',
      inputmode: kind === 'count' ? 'numeric' : 'text',
      placeholder: empty,
      autocomplete: 'off',
      spellcheck: 'false',
      on: { change: () => this.typed(field, input) },
    });
    this.inputs.set(name, input);
    return h('label', { class: 'field', title: hint }, h('span', {}, label), input);
  }

  private typed({ name, label, kind }: Field, input: HTMLInputElement): void {
    const text = input.value.trim();
    const wrong = kind === 'count' && !/^\d*$/.test(text);
    input.setAttribute('aria-invalid', String(wrong));
    this.problem.hidden = !wrong;
    this.problem.textContent = wrong ? `${label}: “${text}” is no whole number.` : '';
    if (!wrong) this.url.set({ [name]: text === '' ? null : text });
  }
}
