// SPDX-License-Identifier: Apache-2.0
// Frame times of the timeline: ten seconds of pan and zoom over ten million events, in a real browser.
// node tests/bench/frames.mjs DIR            DIR holds the built page; the trace is made up (tests/web/trace_mock.mjs)
// node tests/bench/frames.mjs --url URL RUN  a running server, and a run of it
// Prints; never fails because a machine is slow.

import { browserPath, launch } from '../web/support.mjs';
import { serve } from '../web/trace_mock.mjs';

if (browserPath === undefined) {
  console.log('there is no Chromium; CHROMIUM names one');
  process.exit(0);
}
const [first, second, third] = process.argv.slice(2);
const { url, close } = first === '--url' ? { url: second, close: () => undefined } : await serve(first);
const run = first === '--url' ? third : 'big/ten-million';
const SECONDS = 10;

const percentile = (values, part) => values.slice().sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? NaN;

async function measure(browser, kind) {
  const context = await browser.newContext({ viewport: { width: 1920, height: 1080 } });
  const page = await context.newPage();
  // Without a graphics card the page chooses the canvas by itself; here both are made to work.
  await page.addInitScript((wanted) => {
    if (wanted === 'WebGL') {
      const get = WebGL2RenderingContext.prototype.getExtension;
      WebGL2RenderingContext.prototype.getExtension = function extension(name) { return name === 'WEBGL_debug_renderer_info' ? null : get.call(this, name); };
    } else {
      const get = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function context(name, ...rest) { return name === 'webgl2' ? null : get.call(this, name, ...rest); };
    }
  }, kind);
  const session = await context.newCDPSession(page);
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'JSHeapUsedSize').value;
  };
  await session.send('Performance.enable');
  const place = `${url}#/trace_viewer?run=${encodeURIComponent(run)}`;
  const drawn = () => page.waitForFunction(() => {
    const text = document.querySelector('.trace-tally')?.textContent ?? '';
    return text !== '' && !text.startsWith('0 drawn') && !text.includes('loading');
  }, null, { timeout: 60_000 });
  // Once to warm the server, then as a person opens it again.
  await page.goto(place);
  await drawn();
  await page.goto('about:blank');
  const begun = Date.now();
  await page.goto(place);
  await page.waitForFunction(() => /^[1-9]/.test(document.querySelector('.trace-tally')?.textContent ?? ''), null, { timeout: 60_000, polling: 20 });
  const paint = Date.now() - begun;
  await drawn();
  const before = await heap();
  const box = await page.locator('.trace-area').boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 200);
  await page.evaluate(() => {
    window.deltas = [];
    let last = performance.now();
    const turn = (now) => {
      window.deltas.push(now - last);
      last = now;
      window.turn = requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
  });
  const end = Date.now() + SECONDS * 1000;
  let step = 0;
  while (Date.now() < end) {
    // In, along, out again: two seconds each way.
    const phase = Math.floor(step / 40) % 4;
    if (phase === 0) {
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -60);
      await page.keyboard.up('Control');
    } else if (phase === 2) {
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, 60);
      await page.keyboard.up('Control');
    } else {
      await page.mouse.wheel(phase === 1 ? 90 : -90, step % 8 === 0 ? 60 : 0);
    }
    await page.waitForTimeout(25);
    step += 1;
  }
  const deltas = (await page.evaluate(() => { cancelAnimationFrame(window.turn); return window.deltas; })).slice(1);
  const peak = await session.send('Performance.getMetrics').then(({ metrics }) => metrics.find(({ name }) => name === 'JSHeapUsedSize').value);
  const after = await heap();
  const within = deltas.filter((ms) => ms <= 50).length / deltas.length;
  const mb = (bytes) => (bytes / 1e6).toFixed(1);
  console.log(`${kind}: ${deltas.length} frames, median ${percentile(deltas, 0.5).toFixed(1)} ms, p95 ${percentile(deltas, 0.95).toFixed(1)} ms, p99 ${percentile(deltas, 0.99).toFixed(1)} ms, worst ${Math.max(...deltas).toFixed(0)} ms; `
    + `${(within * 100).toFixed(1)} % within 50 ms (goal 95 %); heap ${mb(before)} MB before, ${mb(after)} MB after, ${mb(peak)} MB before the last collection (goal: grows by less than 200 MB); first events drawn after ${paint} ms, warm (goal 1500 ms)`);
  console.log(`  ${await page.textContent('.trace-tally')}`);
  await context.close();
}

const browser = await launch();
for (const kind of ['WebGL', 'Canvas2D']) await measure(browser, kind);
await browser.close();
close();
process.exit(0);
