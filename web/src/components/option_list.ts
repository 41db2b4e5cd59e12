// SPDX-License-Identifier: Apache-2.0
// An input with a list of choices below it (combobox and listbox): the pickers and the palette are
// made of it.

import { fill, freshId, h } from '../core/dom';
import { textFilter } from '../core/filter';

export interface Choice {
  label: string;
  note?: string;
  group?: string;
  current?: boolean;
  pick: () => void;
}

/** More lines than a person reads; the rest is reached by typing. */
const SHOWN = 100;

export function optionList(
  name: string,
  placeholder: string,
  choices: readonly Choice[],
  done: () => void,
): HTMLElement {
  const listId = freshId('options');
  const input = h('input', {
    class: 'option-input',
    type: 'text',
    role: 'combobox',
    'aria-label': name,
    'aria-controls': listId,
    'aria-expanded': 'true',
    'aria-autocomplete': 'list',
    placeholder,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const list = h('div', {
    class: 'options',
    id: listId,
    role: 'listbox',
    'aria-label': name,
    tabindex: '-1',
  });
  const more = h('p', { class: 'soft more', role: 'status' });
  let visible: Choice[] = [];
  let active = 0;

  const mark = (): void => {
    [...list.querySelectorAll('[role=option]')].forEach((option, index) => {
      option.setAttribute('aria-selected', String(index === active));
      if (index === active) {
        input.setAttribute('aria-activedescendant', option.id);
        option.scrollIntoView({ block: 'nearest' });
      }
    });
    if (visible.length === 0) input.removeAttribute('aria-activedescendant');
  };
  const choose = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    done();
    choice.pick();
  };
  const show = (): void => {
    const { test } = textFilter(input.value, false);
    const matching = choices.filter((choice) => test(`${choice.label} ${choice.note ?? ''}`));
    visible = matching.slice(0, SHOWN);
    active =
      input.value === ''
        ? Math.max(
            0,
            visible.findIndex((choice) => choice.current === true),
          )
        : 0;
    list.replaceChildren();
    let group: string | undefined;
    visible.forEach((choice, index) => {
      if (choice.group !== undefined && choice.group !== group) {
        list.append(h('div', { class: 'option-group', role: 'presentation' }, choice.group));
        group = choice.group;
      }
      const option = h(
        'div',
        {
          class: 'option',
          role: 'option',
          id: `${listId}-${index}`,
          'aria-selected': 'false',
          title: choice.label,
        },
        h('span', {}, choice.label),
        choice.note !== undefined && h('small', {}, choice.note),
      );
      if (choice.current === true) option.classList.add('current');
      option.addEventListener('click', () => choose(choice));
      list.append(option);
    });
    const rest = matching.length - visible.length;
    fill(
      more,
      rest > 0
        ? `${rest.toLocaleString('en-US')} more; type to narrow the list`
        : matching.length === 0
          ? 'Nothing matches'
          : '',
    );
    more.hidden = rest <= 0 && matching.length > 0;
    mark();
  };
  input.addEventListener('input', show);
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      active = Math.min(Math.max(0, active + step), Math.max(0, visible.length - 1));
      mark();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(visible[active]);
    }
  });
  const element = h('div', { class: 'option-list' }, input, list, more);
  // The list is measured for scrolling only once it is in the document.
  queueMicrotask(show);
  return element;
}
