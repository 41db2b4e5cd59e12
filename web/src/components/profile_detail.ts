// SPDX-License-Identifier: Apache-2.0
// All that the server knows of a node of a profile, and where else it can be looked at.

import { amount, exactAmount } from '../core/amounts';
import { h, scrolls, type Child } from '../core/dom';
import { count, percent, plural } from '../core/format';
import type { NodeAnswer } from '../core/profile';
import { trimRight } from '../core/names';
import type { PageContext } from '../core/page';
import { tracePlace } from '../core/trace_link';
import { sections, sourceBlock } from './hlo_detail';
import { sparkline } from './sparkline';

/** Lines of a list that are shown. */
const MOST = 12;

function row(...cells: Child[]): HTMLElement {
  return h('tr', {}, ...cells);
}

function number(unit: NodeAnswer['quantities'][number]['unit'], value: number | null): HTMLElement {
  return value === null
    ? h('td', { class: 'number soft', title: 'unknown' }, '–')
    : h('td', { class: 'number', title: exactAmount(unit, value) }, amount(unit)(value));
}

/** Own amount, total, and share of the whole, of every quantity of which anything is known. */
function quantities({ quantities: all }: NodeAnswer): HTMLElement {
  const known = all.filter(({ self, total }) => self !== null || total !== null);
  const unknown = all.filter((one) => !known.includes(one));
  return h(
    'section',
    { class: 'profile-quantities' },
    h('h3', {}, 'Quantities'),
    known.length > 0 &&
      h(
        'div',
        { class: 'twin' },
        h(
          'table',
          {},
          h(
            'thead',
            {},
            row(
              h('th', { scope: 'col' }, 'Quantity'),
              h('th', { scope: 'col', class: 'number' }, 'Own'),
              h('th', { scope: 'col', class: 'number' }, 'Total'),
              h('th', { scope: 'col', class: 'number' }, 'Share'),
            ),
          ),
          h(
            'tbody',
            {},
            ...known.map(({ label, unit, self, total, share }) =>
              row(
                h('th', { scope: 'row' }, label),
                number(unit, self),
                number(unit, total),
                h('td', { class: 'number' }, share === null ? '–' : percent(share)),
              ),
            ),
          ),
        ),
      ),
    unknown.length > 0 &&
      h(
        'p',
        { class: 'soft' },
        `Unknown: ${unknown.map(({ label }) => label.toLowerCase()).join(', ')}.`,
      ),
  );
}

function bySteps({ by_step: steps, quantities: all }: NodeAnswer): HTMLElement | null {
  if (steps === null || steps.steps.length === 0) return null;
  const names = steps.steps.map(({ name }) => name);
  const shown = ['micros', 'accelerator_micros', 'cpu_micros'].flatMap((id) => {
    const values = (steps[id] ?? []) as (number | null)[];
    const known = values.filter((value) => value !== null);
    return known.some((value) => value > 0) ? [{ id, values, known }] : [];
  });
  // Where only one side has any, its times are the total's.
  const distinct = shown.length > 2 ? shown : shown.slice(0, 1);
  if (distinct.length === 0) return null;
  const format = amount('us');
  return h(
    'section',
    { class: 'profile-steps' },
    h('h3', {}, `By step, ${plural(names.length, 'step')}`),
    ...distinct.map(({ id, values, known }) => {
      const label = all.find((one) => one.id === id)?.label ?? id;
      const [low, high] = [Math.min(...known), Math.max(...known)];
      const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
      const words =
        known.length === 1
          ? format(high)
          : `${format(low)} to ${format(high)}, mean ${format(mean)}`;
      return h(
        'figure',
        {},
        h('figcaption', {}, h('span', {}, label), h('span', { class: 'soft' }, words)),
        sparkline({ names, values, format, summary: `${label} by step: ${words}` }),
      );
    }),
  );
}

function list(title: string, items: readonly string[], total: number): HTMLElement | null {
  if (items.length === 0) return null;
  return h(
    'section',
    { class: 'profile-list' },
    h('h3', {}, title),
    h('ul', { class: 'code' }, ...items.slice(0, MOST).map((one) => h('li', { title: one }, one))),
    total > MOST && h('p', { class: 'soft' }, `and ${count(total - MOST)} more`),
  );
}

function instructions(node: NodeAnswer, context: PageContext): HTMLElement | null {
  if (node.instructions.length === 0) return null;
  return h(
    'section',
    { class: 'profile-instructions' },
    h(
      'h3',
      {},
      node.instructions_total === 1
        ? 'Its instruction'
        : `Largest of ${plural(node.instructions_total, 'instruction')}`,
    ),
    scrolls(
      h(
        'div',
        { class: 'twin' },
        h(
          'table',
          {},
          h(
            'thead',
            {},
            row(
              h('th', { scope: 'col' }, 'Instruction'),
              h('th', { scope: 'col', class: 'number' }, 'Time'),
              h('th', { scope: 'col', class: 'number' }, 'Runs'),
            ),
          ),
          h(
            'tbody',
            {},
            ...node.instructions.slice(0, MOST).map((one) =>
              row(
                h(
                  'th',
                  {
                    scope: 'row',
                    class: 'code',
                    title: one.expression === '' ? one.instruction : one.expression.slice(0, 600),
                  },
                  context.has('hlo_stats')
                    ? h(
                        'a',
                        {
                          href: context.link('hlo_stats', {
                            'f.hlo_op_name': `=${one.instruction}`,
                          }),
                        },
                        trimRight(one.instruction, 60),
                      )
                    : trimRight(one.instruction, 60),
                ),
                number('us', one.micros),
                number('count', one.occurrence_run),
              ),
            ),
          ),
        ),
      ),
      'Instructions',
    ),
    h(
      'p',
      { class: 'soft' },
      `In ${[...new Set(node.instructions.map(({ program }) => program))].slice(0, 3).join(', ')}`,
    ),
  );
}

/** Where the node's events and instructions are on other pages. */
function links(node: NodeAnswer, context: PageContext): HTMLElement | null {
  const made: HTMLElement[] = [];
  // Of a scope these are the operation and the instruction below it that took longest.
  const largest = node.children > 0;
  const link = (text: string, tool: string, own: Record<string, string>): void => {
    const words = largest ? `Largest ${text.slice(0, 1).toLowerCase()}${text.slice(1)}` : text;
    if (context.has(tool)) made.push(h('a', { href: context.link(tool, own) }, words));
  };
  const [trace] = node.links.trace;
  if (trace !== undefined)
    link(
      largest ? 'In the trace' : 'Marked in the trace',
      'trace_viewer',
      tracePlace({ op: trace.query }),
    );
  const [profile] = node.links.op_profile;
  if (profile !== undefined) {
    link('In the op profile', 'op_profile', { q: profile.instruction });
    link('In the graph', 'graph_viewer', {
      program_id: profile.program_id,
      node: profile.instruction,
    });
  }
  const [instances] = node.links.instances;
  if (instances?.['tag'] === 'framework_op_stats' && instances['name'] !== undefined)
    link('In TF stats', 'framework_op_stats', { 'f.operation': `=${instances['name']}` });
  if (node.links.memory !== null)
    link('In the memory profile', 'memory_profile', { q: node.links.memory.op });
  return made.length === 0
    ? null
    : h(
        'p',
        { class: 'detail-links' },
        ...made.flatMap((one, index) => (index === 0 ? [one] : [' ', one])),
      );
}

export function nodeDetail(node: NodeAnswer, context: PageContext): HTMLElement {
  const { source } = node;
  return sections(
    links(node, context),
    quantities(node),
    bySteps(node),
    list('Types', node.op_types, node.op_types.length),
    list('Devices', node.devices, node.devices.length),
    list(
      'Shapes',
      node.input_shapes.map(({ inputs, output }) => `(${inputs.join(', ')}) → ${output}`),
      node.input_shapes.length,
    ),
    sourceBlock(
      source === null
        ? null
        : {
            place: source.line > 0 ? `${source.file}:${source.line}` : source.file,
            stack: [...source.stack].reverse(),
          },
    ),
    instructions(node, context),
  );
}
