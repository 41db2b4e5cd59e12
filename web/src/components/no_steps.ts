// SPDX-License-Identifier: Apache-2.0
// Captures without steps are common; this says how to mark them, and what can be done without.

import { h, type Child } from '../core/dom';
import { button, copyButton } from './states';

const TENSORFLOW = `for step in range(steps):
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
        train_step(next(batches))`;
const JAX = `for step in range(steps):
    with jax.profiler.StepTraceAnnotation("train", step_num=step):
        state = train_step(state, next(batches))`;

export function snippet(title: string, code: string): HTMLElement {
  return h(
    'section',
    { class: 'snippet', 'aria-label': title },
    h(
      'header',
      {},
      h('h3', {}, title),
      copyButton('Copy', () => code),
    ),
    h('pre', { tabindex: '0' }, h('code', {}, code)),
  );
}

/**
 * `modules`: how many executions of a module could stand in for steps; null where the server offers
 * none.
 */
export function noSteps(
  rest: string,
  modules: string | null,
  useModules: () => void,
  ...more: Child[]
): HTMLElement {
  return h(
    'div',
    { class: 'state no-steps' },
    h('h2', {}, 'No step was marked in this capture'),
    h(
      'p',
      {},
      `Without marks the profiler cannot tell where a training step begins and ends, so there is no step time to break down. ${rest}`,
    ),
    h(
      'p',
      {},
      'Keras marks its steps by itself. In a custom training loop, add one line around the step:',
    ),
    h('div', { class: 'snippets' }, snippet('TensorFlow', TENSORFLOW), snippet('JAX', JAX)),
    h(
      'p',
      { class: 'soft' },
      'If the program marks its steps, the capture may be shorter than one step: capture for longer.',
    ),
    modules !== null &&
      h(
        'p',
        { class: 'acts' },
        button(
          `Use executions of the XLA module as steps${/^[1-9]\d*$/.test(modules) ? ` (${modules})` : ''}`,
          useModules,
        ),
      ),
    ...more,
  );
}
