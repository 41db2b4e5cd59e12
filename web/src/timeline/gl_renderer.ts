// SPDX-License-Identifier: Apache-2.0
// Boxes by WebGL2: one program, one buffer for each block, made once when the block comes; a frame
// only sets numbers and draws.
// Four vertices for each entry rather than instances: software GL draws every instance as a call of
// its own.

import { css } from '../core/colours';
import type { Colouring } from './colours';
import { firstEndingAfter, firstStartingFrom, type Block } from './decode';
import {
  GAP_FROM_PX,
  HATCH_LINE_PX,
  HATCH_PX,
  HIGHLIGHT,
  type Band,
  type Plain,
  type Renderer,
  type Scene,
  type Strip,
} from './renderer';
import { toX } from './viewport';

// Starts and ends are in slots from the block's begin: small numbers, so that 32-bit floats have
// room to spare.
const VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec2 span;
layout(location = 1) in vec4 colour;
layout(location = 2) in uint mark;
uniform vec2 size;
uniform vec4 place;   // left, pixels for a slot, top, height
uniform vec3 limits;  // clip from, clip to, shortest in slots
uniform vec2 looks;   // highlighted name, smallest width
out vec4 tint;
flat out uint merged;
flat out uint bright;
void main() {
  float left = place.x + span.x * place.y;
  float right = place.x + span.y * place.y;
  if (right - left > ${GAP_FROM_PX.toFixed(1)}) right -= 1.0;
  right = max(right, left + looks.y);
  left = max(left, limits.x);
  right = min(right, limits.y);
  uint name = mark & 0x7fffffffu;
  merged = mark >> 31;
  bright = float(name) == looks.x ? 1u : 0u;
  tint = colour;
  if (right <= left || (merged == 0u && span.y - span.x < limits.z)) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  vec2 corner = vec2((gl_VertexID & 1) == 0 ? left : right, (gl_VertexID & 2) == 0 ? place.z : place.z + place.w);
  gl_Position = vec4(corner.x / size.x * 2.0 - 1.0, 1.0 - corner.y / size.y * 2.0, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 tint;
flat in uint merged;
flat in uint bright;
uniform vec3 ground;
uniform vec3 ink;
uniform vec2 hatch;   // distance and width of the lines
out vec4 shown;
void main() {
  vec3 colour = tint.rgb;
  if (bright == 1u) colour = mix(colour, ink, ${HIGHLIGHT.toFixed(2)});
  if (merged == 1u && mod(gl_FragCoord.x - gl_FragCoord.y + 8192.0 * hatch.x, hatch.x) < hatch.y) colour = mix(colour, ground, 0.5);
  shown = vec4(colour, 1.0);
}`;

const WORDS = 4;
const BYTES = 4 * WORDS;
const CORNERS = 4;
const MERGED = 0x80000000;
/** Entries that the first list of corners has room for. */
const FIRST_QUADS = 8192;

interface Kept {
  buffer: WebGLBuffer;
  array: WebGLVertexArrayObject;
  version: number;
}

function compile(gl: WebGL2RenderingContext): WebGLProgram | null {
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(kind);
    if (shader === null) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) === true ? program : null;
}

class GlRenderer implements Renderer {
  readonly kind = 'WebGL';
  private readonly kept = new Map<Block, Kept>();
  private readonly uniforms: Record<string, WebGLUniformLocation | null> = {};
  private readonly corners: WebGLBuffer;
  private quads = 0;
  private readonly plain: Kept;
  private plainWords = new ArrayBuffer(0);

  constructor(
    private readonly gl: WebGL2RenderingContext,
    private readonly program: WebGLProgram,
    private readonly colouring: Colouring,
  ) {
    for (const name of ['size', 'place', 'limits', 'looks', 'ground', 'ink', 'hatch'])
      this.uniforms[name] = gl.getUniformLocation(program, name);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    this.corners = gl.createBuffer();
    this.grow(FIRST_QUADS);
    this.plain = this.allocate();
  }

  draw(scene: Scene): void {
    const { gl, uniforms, colouring } = this;
    const { width, height, scale } = scene;
    const canvas = gl.canvas as HTMLCanvasElement;
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    const { ground, ink } = colouring.inks;
    gl.viewport(0, 0, w, h);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(ground[0] / 255, ground[1] / 255, ground[2] / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniform2f(uniforms['size'] ?? null, width, height);
    gl.uniform2f(uniforms['looks'] ?? null, scene.highlight, 1 / scale);
    gl.uniform2f(uniforms['hatch'] ?? null, HATCH_PX * scale, HATCH_LINE_PX * scale);
    gl.uniform3f(uniforms['ground'] ?? null, ground[0] / 255, ground[1] / 255, ground[2] / 255);
    gl.uniform3f(uniforms['ink'] ?? null, ink[0] / 255, ink[1] / 255, ink[2] / 255);
    gl.enable(gl.SCISSOR_TEST);
    for (const band of scene.bands) {
      const [top, bottom] = [Math.round(band.top * scale), Math.round(band.bottom * scale)];
      if (bottom <= top) continue;
      gl.scissor(0, h - bottom, w, bottom - top);
      this.drawPlain(band.plain, scene);
      for (const strip of band.strips) this.drawStrip(strip, band, scene);
    }
    gl.bindVertexArray(null);
  }

  forget(block: Block): void {
    const kept = this.kept.get(block);
    if (kept === undefined) return;
    this.kept.delete(block);
    this.gl.deleteBuffer(kept.buffer);
    this.gl.deleteVertexArray(kept.array);
  }

  destroy(): void {
    for (const block of [...this.kept.keys()]) this.forget(block);
    this.gl.getExtension('WEBGL_lose_context')?.loseContext();
  }

  /** Two triangles for each entry, for the longest block so far. */
  private grow(quads: number): void {
    if (quads <= this.quads) return;
    this.quads = Math.max(quads, 2 * this.quads);
    const list = new Uint32Array(6 * this.quads);
    for (let i = 0; i < this.quads; i += 1)
      list.set([4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 2, 4 * i + 1, 4 * i + 3], 6 * i);
    const { gl } = this;
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.corners);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, list, gl.STATIC_DRAW);
  }

  private allocate(): Kept {
    const { gl } = this;
    const array = gl.createVertexArray();
    const buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.corners);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    for (let at = 0; at < 3; at += 1) gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, BYTES, 0);
    gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, BYTES, 8);
    gl.vertexAttribIPointer(2, 1, gl.UNSIGNED_INT, BYTES, 12);
    gl.bindVertexArray(null);
    return { buffer, array, version: -1 };
  }

  private upload(block: Block): Kept {
    const { gl, colouring } = this;
    let kept = this.kept.get(block);
    if (kept !== undefined && kept.version === colouring.version) return kept;
    kept ??= this.allocate();
    this.kept.set(block, kept);
    this.grow(block.size);
    const bytes = new ArrayBuffer(block.size * CORNERS * BYTES);
    const [floats, words] = [new Float32Array(bytes), new Uint32Array(bytes)];
    const colours = colouring.of(block);
    const slot = 2 ** block.level;
    for (let i = 0; i < block.size; i += 1) {
      const start = ((block.start[i] ?? 0) - block.from) / slot;
      const end = start + (block.duration[i] ?? 0) / slot;
      const mark = (block.name[i] ?? 0) + ((block.count[i] ?? 1) > 1 ? MERGED : 0);
      for (let at = i * CORNERS * WORDS; at < (i + 1) * CORNERS * WORDS; at += WORDS) {
        floats[at] = start;
        floats[at + 1] = end;
        words[at + 2] = colours[i] ?? 0;
        words[at + 3] = mark;
      }
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, kept.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
    kept.version = colouring.version;
    return kept;
  }

  private drawStrip(strip: Strip, band: Band, { view, width, minPs }: Scene): void {
    const { gl, uniforms } = this;
    const { block } = strip;
    if (block.size === 0) return;
    const kept = this.upload(block);
    const slot = 2 ** block.level;
    const perPs = width / (view.to - view.from);
    const [from, to] = [Math.max(strip.from, view.from), Math.min(strip.to, view.to)];
    if (to <= from) return;
    gl.bindVertexArray(kept.array);
    gl.uniform3f(
      uniforms['limits'] ?? null,
      toX(view, width, from),
      toX(view, width, to),
      minPs / slot,
    );
    const left = toX(view, width, block.from);
    // Entries are in order, so what is in sight of a row is one piece of the buffer.
    for (let row = 0; row + 1 < block.rows.length; row += 1) {
      const top = strip.top + row * strip.pitch;
      if (top + strip.box <= band.top || top >= band.bottom) continue;
      const first = firstEndingAfter(block, row, from - 2 / perPs);
      const last = firstStartingFrom(block, row, to);
      if (last <= first) continue;
      gl.uniform4f(uniforms['place'] ?? null, left, slot * perPs, top, strip.box);
      gl.drawElements(gl.TRIANGLES, 6 * (last - first), gl.UNSIGNED_INT, 24 * first);
    }
  }

  /** The same program with pixels for slots; the buffer is written anew for each frame. */
  private drawPlain(list: readonly Plain[], { width }: Scene): void {
    const { gl, uniforms } = this;
    if (list.length === 0) return;
    this.grow(list.length);
    const need = list.length * CORNERS * BYTES;
    if (this.plainWords.byteLength < need) this.plainWords = new ArrayBuffer(2 * need);
    const [floats, words] = [new Float32Array(this.plainWords), new Uint32Array(this.plainWords)];
    list.forEach((one, i) => {
      const colour =
        (one.colour[0] | (one.colour[1] << 8) | (one.colour[2] << 16) | 0xff000000) >>> 0;
      for (let at = i * CORNERS * WORDS; at < (i + 1) * CORNERS * WORDS; at += WORDS) {
        floats[at] = one.x;
        floats[at + 1] = one.x + one.width + (one.width > GAP_FROM_PX ? 1 : 0);
        words[at + 2] = colour;
        words[at + 3] = 0x7fffffff;
      }
    });
    gl.bindVertexArray(this.plain.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.plain.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Uint8Array(this.plainWords, 0, need), gl.DYNAMIC_DRAW);
    gl.uniform3f(uniforms['limits'] ?? null, 0, width, 0);
    // Neighbours of one height go in one call.
    for (let i = 0; i < list.length;) {
      const one = list[i];
      if (one === undefined) break;
      let end = i + 1;
      while (end < list.length && list[end]?.y === one.y && list[end]?.height === one.height)
        end += 1;
      gl.uniform4f(uniforms['place'] ?? null, 0, 1, one.y, one.height);
      gl.drawElements(gl.TRIANGLES, 6 * (end - i), gl.UNSIGNED_INT, 24 * i);
      i = end;
    }
  }
}

/** WebGL without a graphics card, by the names its makers give it. */
function isSoftware(gl: WebGL2RenderingContext): boolean {
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(info === null ? gl.RENDERER : info.UNMASKED_RENDERER_WEBGL));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/**
 * Null where the browser has no WebGL2 or only draws it without a graphics card: then writing
 * pixels by hand is quicker.
 */
export function glRenderer(canvas: HTMLCanvasElement, colouring: Colouring): Renderer | null {
  const gl = canvas.getContext('webgl2', {
    alpha: false,
    antialias: false,
    depth: false,
    stencil: false,
    powerPreference: 'high-performance',
  });
  if (gl !== null && isSoftware(gl)) {
    gl.getExtension('WEBGL_lose_context')?.loseContext();
    return null;
  }
  const program = gl === null ? null : compile(gl);
  if (gl === null || program === null) return null;
  // The ground is all that shows while the first tiles are on their way.
  canvas.style.background = css(colouring.inks.ground);
  return new GlRenderer(gl, program, colouring);
}
