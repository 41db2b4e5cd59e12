// SPDX-License-Identifier: Apache-2.0
// The interface between the shell and a page.

import type { Tool } from './api';
import type { Keys } from './keys';
import type { Runs } from './runs';
import type { UrlState } from './url_state';

export interface PageContext {
  url: UrlState;
  keys: Keys;
  runs: Runs;
  /** The tool this page shows, as the server lists it; null on the landing list. */
  tool: Tool | null;
  /** Whether this run has another tool. */
  has: (tool: string) => boolean;
  /** The name of the tool that has this name or alias; null where no tool has it. */
  named: (name: string) => string | null;
  /** The address of another tool with the same run, host and base. */
  link: (tool: string, params?: Readonly<Record<string, string>>) => string;
  /** Opens the dialog that captures from a running program. */
  capture: () => void;
  /** Says something to a screen reader, and shows it for a moment if it is an answer to a click. */
  say: (text: string, show?: boolean) => void;
}

export interface Page {
  element: HTMLElement;
  /** The address changed, though neither tool nor run did. */
  update(): void;
  destroy(): void;
}

/** The export `page` of a tool's file in pages/. */
export type PageType = (context: PageContext) => Page;
