// SPDX-License-Identifier: Apache-2.0
// The interface of renderers, which draw boxes; there is one on WebGL2 and one on a 2D canvas.

import type { Rgb } from '../core/colours';
import type { Colouring } from './colours';
import type { Block } from './decode';
import type { View } from './viewport';

/** One block of one track on the screen; CSS pixels. */
export interface Strip {
  block: Block;
  /** Only this time of it is drawn; the rest is another strip's. */
  from: number;
  to: number;
  top: number;
  pitch: number;
  box: number;
}

/** A plain rectangle behind the boxes: lines, backgrounds, counters. */
export interface Plain {
  x: number;
  y: number;
  width: number;
  height: number;
  colour: Rgb;
}

/** Part of the height with its own scroll position: what reaches out of it is cut. */
export interface Band {
  top: number;
  bottom: number;
  plain: readonly Plain[];
  strips: readonly Strip[];
}

export interface Scene {
  view: View;
  width: number;
  height: number;
  /** Device pixels for a CSS pixel. */
  scale: number;
  bands: readonly Band[];
  /** Events shorter than this are left out. */
  minPs: number;
  /** All events of this name stand out; -1 for none. */
  highlight: number;
}

export interface Renderer {
  readonly kind: 'WebGL' | 'Canvas';
  draw(scene: Scene): void;
  /** Gives back what was kept for a block that is gone. */
  forget(block: Block): void;
  destroy(): void;
}

export type MakeRenderer = (canvas: HTMLCanvasElement, colouring: Colouring) => Renderer | null;

/**
 * Boxes wider than this have a gap at their right, so that neighbours of one colour can be told
 * apart.
 */
export const GAP_FROM_PX = 3;
/** Distance and width of the lines over merged stretches. */
export const HATCH_PX = 6;
export const HATCH_LINE_PX = 1.5;
/** How far a highlighted box moves towards the ink. */
export const HIGHLIGHT = 0.35;
