// SPDX-License-Identifier: Apache-2.0
// Moves the view: at once while dragging, in a few frames otherwise, and steadily while a key is
// held.

import { between, clamp, near, panBy, zoomAbout, type View } from './viewport';

/** After this time about two thirds of the way are done. */
const EASE_MS = 55;
/** A held key crosses this many screens in a second, and zooms this many times. */
const PAN_PER_S = 1.1;
const ZOOM_PER_S = 5;
/** From standing to full speed. */
const RAMP_MS = 180;

export type Held = 'left' | 'right' | 'in' | 'out';

export class Motion {
  view: View;
  target: View;
  private readonly held = new Map<Held, number>();
  private frame = 0;
  private last = 0;
  private readonly still = matchMedia('(prefers-reduced-motion: reduce)');

  constructor(
    view: View,
    private readonly duration: () => number,
    private readonly moved: () => void,
    private readonly focus: () => number,
  ) {
    this.view = view;
    this.target = view;
  }

  get moving(): boolean {
    return this.frame !== 0;
  }

  jump(view: View): void {
    this.view = clamp(view, this.duration());
    this.target = this.view;
    this.moved();
  }

  glide(view: View): void {
    this.target = clamp(view, this.duration());
    if (this.still.matches) this.view = this.target;
    this.run();
    this.moved();
  }

  hold(what: Held): void {
    if (this.held.has(what)) return;
    this.held.set(what, performance.now());
    if (this.still.matches) this.step(what, 0.25);
    this.run();
  }

  release(what?: Held): void {
    if (what === undefined) this.held.clear();
    else this.held.delete(what);
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.held.clear();
  }

  private step(what: Held, seconds: number): void {
    const size = this.target.to - this.target.from;
    if (what === 'left' || what === 'right')
      this.target = panBy(
        this.target,
        (what === 'left' ? -1 : 1) * size * PAN_PER_S * seconds,
        this.duration(),
      );
    else
      this.target = zoomAbout(
        this.target,
        this.focus(),
        ZOOM_PER_S ** (what === 'in' ? -seconds : seconds),
        this.duration(),
      );
    if (this.still.matches) this.view = this.target;
  }

  private run(): void {
    if (this.frame !== 0) return;
    this.last = performance.now();
    const turn = (now: number): void => {
      // A frame that came late must not throw the view out of sight.
      const passed = Math.min(64, Math.max(0, now - this.last));
      this.last = now;
      for (const [what, since] of this.held) {
        if (!this.still.matches)
          this.step(what, (passed / 1000) * Math.min(1, 0.35 + (now - since) / RAMP_MS));
      }
      if (near(this.view, this.target)) this.view = this.target;
      else
        this.view = clamp(
          between(this.view, this.target, 1 - Math.exp(-passed / EASE_MS)),
          this.duration(),
        );
      const again = this.view !== this.target || (this.held.size > 0 && !this.still.matches);
      this.frame = again ? requestAnimationFrame(turn) : 0;
      this.moved();
    };
    this.frame = requestAnimationFrame(turn);
  }
}
