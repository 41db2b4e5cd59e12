// SPDX-License-Identifier: Apache-2.0
// Mouse, wheel, touchpad and touch over the tracks, turned into what is meant by them.

export type Mode = 'select' | 'pan' | 'zoom' | 'measure';

export interface Point {
  x: number;
  y: number;
}

/** What the timeline does about it; pixels are those of the track area. */
export interface PointerTarget {
  mode(): Mode;
  hover(at: Point | null): void;
  click(at: Point): void;
  fit(at: Point): void;
  panBy(dx: number, dy: number): void;
  zoom(x: number, factor: number): void;
  /**
   * A drag that chooses something; `done` when the button is let go, `null` when it was given up.
   */
  drag(kind: 'select' | 'zoom' | 'measure', from: Point, to: Point, done: boolean): void;
  cancelDrag(): void;
}

/** Nearer than this it was a click. */
const CLICK_PX = 4;
/** Wheels count lines or pages; touchpads pixels. */
const LINE_PX = 24;
const ZOOM_PER_PX = 0.0028;
/** One notch of a mouse wheel is 100 to 120 pixels; a pinch is a few. */
const MOST_WHEEL_PX = 120;

export function wheelPixels(delta: number, mode: number, page: number): number {
  return mode === 1 ? delta * LINE_PX : mode === 2 ? delta * page : delta;
}

export function wheelFactor(pixels: number, pinch: boolean): number {
  const size = Math.max(-MOST_WHEEL_PX, Math.min(MOST_WHEEL_PX, pixels));
  return Math.exp(size * ZOOM_PER_PX * (pinch ? 4 : 1));
}

export class Pointers {
  private readonly touches = new Map<number, Point>();
  private start: {
    id: number;
    at: Point;
    kind: 'click' | 'pan' | 'select' | 'zoom' | 'measure';
    last: Point;
  } | null = null;
  private space = false;

  constructor(
    private readonly area: HTMLElement,
    private readonly target: PointerTarget,
  ) {
    area.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    area.addEventListener('pointerdown', (event) => this.down(event));
    area.addEventListener('pointermove', (event) => this.move(event));
    area.addEventListener('pointerup', (event) => this.up(event, true));
    area.addEventListener('pointercancel', (event) => this.up(event, false));
    area.addEventListener('pointerleave', () => {
      if (this.start === null) target.hover(null);
    });
    area.addEventListener('dblclick', (event) => target.fit(this.at(event)));
    area.addEventListener('keydown', (event) => this.spaceKey(event, true));
    area.addEventListener('keyup', (event) => this.spaceKey(event, false));
    area.addEventListener('blur', () => {
      this.space = false;
    });
  }

  /** Gives up a drag, for Escape. */
  cancel(): boolean {
    if (this.start === null || this.start.kind === 'click') return false;
    this.start = null;
    this.target.cancelDrag();
    return true;
  }

  private at(event: MouseEvent): Point {
    const box = this.area.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private spaceKey(event: KeyboardEvent, down: boolean): void {
    if (event.key !== ' ' || event.target !== this.area) return;
    event.preventDefault();
    this.space = down;
  }

  private wheel(event: WheelEvent): void {
    const { target } = this;
    const [dx, dy] = [
      wheelPixels(event.deltaX, event.deltaMode, 800),
      wheelPixels(event.deltaY, event.deltaMode, 800),
    ];
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      // Browsers send a pinch on a touchpad as a wheel with Ctrl and small steps.
      target.zoom(this.at(event).x, wheelFactor(dy, event.deltaMode === 0 && Math.abs(dy) < 40));
    } else if (event.shiftKey && dx === 0) {
      event.preventDefault();
      target.panBy(-dy, 0);
    } else if (Math.abs(dx) > Math.abs(dy)) {
      event.preventDefault();
      target.panBy(-dx, 0);
    }
  }

  private down(event: PointerEvent): void {
    const at = this.at(event);
    if (event.pointerType === 'touch') {
      this.touches.set(event.pointerId, at);
      this.start =
        this.touches.size === 1 ? { id: event.pointerId, at, kind: 'click', last: at } : null;
      return;
    }
    if (event.button > 1) return;
    this.area.focus({ preventScroll: true });
    this.area.setPointerCapture(event.pointerId);
    const mode = this.target.mode();
    const pan = event.button === 1 || event.shiftKey || this.space || mode === 'pan';
    if (event.button === 1) event.preventDefault();
    this.start = { id: event.pointerId, at, kind: 'click', last: at };
    this.wanted = pan ? 'pan' : mode;
  }

  private wanted: 'pan' | 'select' | 'zoom' | 'measure' = 'select';

  private move(event: PointerEvent): void {
    const at = this.at(event);
    if (event.pointerType === 'touch') {
      this.touch(event.pointerId, at);
      return;
    }
    const { start, target } = this;
    if (start === null) {
      target.hover(at);
      return;
    }
    if (start.id !== event.pointerId) return;
    if (start.kind === 'click' && Math.hypot(at.x - start.at.x, at.y - start.at.y) > CLICK_PX)
      start.kind = this.wanted;
    if (start.kind === 'pan') target.panBy(at.x - start.last.x, at.y - start.last.y);
    else if (start.kind !== 'click') target.drag(start.kind, start.at, at, false);
    start.last = at;
  }

  /**
   * One finger pans, two zoom about their middle. Up and down with one finger is the browser's own
   * scrolling.
   */
  private touch(id: number, at: Point): void {
    const before = this.touches.get(id);
    if (before === undefined) return;
    this.touches.set(id, at);
    const { target, start } = this;
    if (this.touches.size === 1) {
      if (start !== null && start.kind === 'click' && Math.abs(at.x - start.at.x) > CLICK_PX)
        start.kind = 'pan';
      if (start === null || start.kind === 'pan') target.panBy(at.x - before.x, 0);
      return;
    }
    const other = [...this.touches].find(([key]) => key !== id)?.[1];
    if (other === undefined) return;
    const [was, is] = [
      Math.max(20, Math.abs(before.x - other.x)),
      Math.max(20, Math.abs(at.x - other.x)),
    ];
    target.panBy((at.x - before.x) / 2, 0);
    target.zoom((at.x + other.x) / 2, was / is);
  }

  private up(event: PointerEvent, done: boolean): void {
    const at = this.at(event);
    const { start, target } = this;
    this.touches.delete(event.pointerId);
    if (start === null || start.id !== event.pointerId) return;
    this.start = null;
    if (start.kind === 'click') {
      if (done) target.click(at);
    } else if (start.kind !== 'pan') {
      if (done) target.drag(start.kind, start.at, at, true);
      else target.cancelDrag();
    }
  }
}
