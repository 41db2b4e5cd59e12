// SPDX-License-Identifier: Apache-2.0
// One table of keys: what it lists is what works, and the help is written from it.

import { setTaste, taste } from './taste';

export interface KeyCommand {
  /**
   * As typed: `?`, `/`, `g t` (one after the other), `mod+k`, `Escape`. Named ones such as
   * `ArrowUp` need `within`.
   */
  keys: string;
  /**
   * Where the key is on the keyboard (`KeyW`), for what is about place and not about the letter.
   */
  code?: string;
  /** Only while the focus is in here. */
  within?: HTMLElement;
  what: string;
  group: string;
  run: (event: KeyboardEvent) => void;
}

/** A second key of a pair must follow within this time. */
const PAIR_MS = 1500;

export function singleKeysOn(): boolean {
  return taste('single-keys') !== 'off';
}

export function setSingleKeys(on: boolean): void {
  setTaste('single-keys', on ? null : 'off');
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type))
  );
}

export class Keys {
  private readonly commands: KeyCommand[] = [];
  private prefix = '';
  private prefixAt = 0;

  constructor() {
    document.addEventListener('keydown', (event) => this.handle(event));
  }

  add(command: KeyCommand): () => void {
    this.commands.push(command);
    return () => {
      const index = this.commands.indexOf(command);
      if (index >= 0) this.commands.splice(index, 1);
    };
  }

  all(): readonly KeyCommand[] {
    return this.commands;
  }

  private handle(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      this.fire(`mod+${event.key.toLowerCase()}`, event);
      return;
    }
    if (event.key === 'Escape') {
      this.fire('Escape', event);
      return;
    }
    // A modal dialog owns the keyboard.
    if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
    if (event.key.length !== 1) {
      this.fire(event.key, event);
      return;
    }
    if (!singleKeysOn()) return;
    const pair =
      this.prefix !== '' && event.timeStamp - this.prefixAt < PAIR_MS
        ? `${this.prefix} ${event.key}`
        : '';
    this.prefix = '';
    if (pair !== '' && this.fire(pair, event)) return;
    if (this.fire(event.key, event)) return;
    if (this.commands.some((command) => command.keys.startsWith(`${event.key} `))) {
      this.prefix = event.key;
      this.prefixAt = event.timeStamp;
    }
  }

  /** The newest command wins, so that what opened last closes first. */
  private fire(keys: string, event: KeyboardEvent): boolean {
    for (let i = this.commands.length - 1; i >= 0; i -= 1) {
      const command = this.commands[i];
      if (
        command === undefined ||
        (command.within !== undefined &&
          !(event.target instanceof Node && command.within.contains(event.target)))
      )
        continue;
      // A pair is typed by its letters, wherever these are.
      if (
        command.code === undefined || keys.includes(' ')
          ? command.keys === keys
          : command.code === event.code
      ) {
        command.run(event);
        if (event.defaultPrevented) return true;
      }
    }
    return false;
  }
}
