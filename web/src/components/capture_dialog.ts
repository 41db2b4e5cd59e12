// SPDX-License-Identifier: Apache-2.0
// The dialog that asks running programs for a profile, shows how that goes, and opens the new run.

import { ApiError, getJson, isAbort, postJson } from '../core/api';
import {
  commandLine,
  conclusion,
  costOf,
  DEFAULTS,
  hostLine,
  LEVELS,
  readForm,
  shellWord,
  type CaptureForm,
  type CaptureHost,
  type CaptureOverview,
  type CaptureStatus,
  type HostLine,
} from '../core/capture';
import { fill, freshId, h, type Child } from '../core/dom';
import { bytes, joined, sentence } from '../core/format';
import { setTaste, taste } from '../core/taste';
import { Segmented } from './segmented';
import { button, copyButton, skeleton } from './states';

const POLL_MS = 500;

export interface CaptureDialogOptions {
  /** Shows a run that has just been made. */
  openRun: (run: string) => void;
  say: (text: string, show?: boolean) => void;
}

/** The capture this page began last, so that a dialog that is opened again finds it. */
let current: number | null = null;

function remembered(): CaptureForm {
  try {
    const kept = JSON.parse(taste('capture') ?? '{}') as Record<string, unknown>;
    const form = { ...DEFAULTS };
    for (const key of Object.keys(form) as (keyof CaptureForm)[]) {
      const value = kept[key];
      // A name is for one run only.
      if (typeof value === 'string' && key !== 'name') form[key] = value;
    }
    return form;
  } catch {
    return { ...DEFAULTS };
  }
}

interface Field {
  element: HTMLElement;
  input: HTMLInputElement | HTMLTextAreaElement;
  complain: (problem: string | undefined) => void;
}

function field(
  label: string,
  input: HTMLInputElement | HTMLTextAreaElement,
  hint: string,
  className = '',
): Field {
  const id = freshId('field');
  const problem = h('p', { class: 'field-problem', id: `${id}-problem`, hidden: true });
  const help = h('p', { class: 'soft', id: `${id}-hint` }, hint);
  input.id = id;
  input.setAttribute('aria-describedby', `${id}-problem ${id}-hint`);
  return {
    input,
    element: h(
      'div',
      { class: `field ${className}` },
      h('label', { for: id }, label),
      input,
      problem,
      hint === '' ? null : help,
    ),
    complain: (text) => {
      input.setAttribute('aria-invalid', String(text !== undefined));
      problem.hidden = text === undefined;
      problem.textContent = text ?? '';
    },
  };
}

function problemBox(title: string, error: unknown): HTMLElement {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ApiError ? error.hint : null;
  return h(
    'div',
    { class: 'verdict error', role: 'alert' },
    h(
      'div',
      {},
      h('b', {}, title),
      ' ',
      sentence(message),
      hint !== null && h('p', { class: 'soft' }, sentence(hint)),
    ),
  );
}

function snippet(title: string, code: string): HTMLElement {
  return h(
    'section',
    { class: 'snippet' },
    h(
      'header',
      {},
      h('h3', {}, title),
      copyButton('Copy', () => code),
    ),
    h('pre', { tabindex: '0' }, h('code', {}, code)),
  );
}

/** How to do it without this server. */
function otherWays(overview: CaptureOverview): HTMLElement {
  const logdir = shellWord(overview.logdir);
  const python = JSON.stringify(overview.logdir);
  return h(
    'div',
    {},
    h(
      'p',
      {},
      'To do the same from a terminal or from Python, on a machine that can reach the program:',
    ),
    h(
      'div',
      { class: 'snippets' },
      snippet('tfprof', `tfprof capture localhost:6009 --logdir ${logdir} --duration 2s`),
      snippet(
        'TensorFlow',
        `import tensorflow as tf\n\ntf.profiler.experimental.client.trace(\n    "grpc://localhost:6009", ${python}, 2000)`,
      ),
      snippet(
        'JAX',
        `python -m jax.collect_profile 9999 2000 \\\n    --log_dir=${logdir} --no_perfetto_link`,
      ),
    ),
  );
}

function lineOf(host: CaptureHost, status: CaptureStatus): HostLine {
  const line = hostLine(host, status, (size) => joined(bytes(size)));
  return { ...line, text: sentence(line.text) };
}

class CaptureDialog {
  private readonly form = remembered();
  private readonly aborter = new AbortController();
  private timer: number | undefined;
  private overview: CaptureOverview | null = null;

  constructor(
    private readonly body: HTMLElement,
    private readonly close: () => void,
    private readonly options: CaptureDialogOptions,
  ) {
    fill(body, skeleton(60, 180));
    void this.begin();
  }

  destroy(): void {
    this.aborter.abort();
    window.clearTimeout(this.timer);
    if (current !== null)
      this.options.say('The capture continues. Open “Capture” to see it.', true);
  }

  private async begin(): Promise<void> {
    try {
      this.overview = await getJson<CaptureOverview>('capture_status', {}, this.aborter.signal);
    } catch (error) {
      if (!isAbort(error)) fill(this.body, problemBox('The server could not be asked.', error));
      return;
    }
    // Also when it has ended meanwhile, to show how.
    if (current !== null) this.watch(current, !this.overview.running.includes(current));
    else if (this.overview.allowed) this.showForm(null);
    else this.showRefusal();
  }

  private showRefusal(): void {
    const { overview } = this;
    if (overview === null) return;
    fill(
      this.body,
      h(
        'div',
        { class: 'verdict warning' },
        h(
          'div',
          {},
          h('b', {}, 'This server does not capture. '),
          sentence(overview.reason?.message ?? ''),
          overview.reason?.hint != null &&
            h('p', { class: 'soft' }, sentence(overview.reason.hint)),
        ),
      ),
      otherWays(overview),
    );
  }

  // ---- asking ----

  private showForm(failure: Child): void {
    const { form, overview } = this;
    if (overview === null) return;
    const text = (key: keyof CaptureForm, attributes: Record<string, string>): HTMLInputElement => {
      const input = h('input', {
        type: 'text',
        autocomplete: 'off',
        spellcheck: 'false',
        ...attributes,
      });
      input.value = form[key];
      return input;
    };
    const number = (key: keyof CaptureForm): HTMLInputElement =>
      text(key, { inputmode: 'numeric' });
    const area = h('textarea', { rows: '2', spellcheck: 'false', placeholder: 'key=value' });
    area.value = form.options;
    const allowed = overview.targets;
    const fields: Partial<Record<keyof CaptureForm, Field>> = {
      addresses: field(
        'Programs',
        text('addresses', { placeholder: 'localhost:6009', enterkeyhint: 'go' }),
        allowed === null
          ? 'host:port of the program’s profiler server; separate several with commas'
          : `host:port, separate several with commas; this server may only connect to ${allowed.join(', ')}`,
        'wide',
      ),
      durationMs: field(
        'Duration, ms',
        number('durationMs'),
        'A few steps are enough; a long capture fills the program’s memory',
      ),
      delayMs: field('Delay, ms', number('delayMs'), 'Time until all programs begin'),
      retries: field('Retries', number('retries'), 'If no program sends a profile'),
      name: field('Name of the run', text('name', { placeholder: 'the time' }), ''),
      options: field(
        'Options for the program’s profiler',
        area,
        'One key=value per line, passed on unchanged',
        'wide',
      ),
    };
    const start = h('button', { class: 'button primary', type: 'submit' }, 'Capture');
    const command = h('code', { class: 'command' });
    const levels = (['host', 'device', 'python'] as const).map((tracer) => {
      const cost = h('p', { class: 'soft cost', id: freshId('cost'), role: 'status' });
      const segmented = new Segmented(
        { host: 'Host tracer', device: 'Device tracer', python: 'Python tracer' }[tracer],
        LEVELS[tracer],
        (value) => {
          form[tracer] = value;
          cost.textContent = costOf(tracer, value);
          changed();
        },
      );
      segmented.show(form[tracer]);
      cost.textContent = costOf(tracer, form[tracer]);
      return h(
        'div',
        { class: 'level' },
        h(
          'span',
          { class: 'level-name', 'aria-hidden': 'true' },
          { host: 'Host', device: 'Device', python: 'Python' }[tracer],
        ),
        segmented.element,
        cost,
      );
    });
    /** An empty field is not called wrong before something was typed. */
    let touched = form.addresses !== '';
    const changed = (): boolean => {
      for (const [key, one] of Object.entries(fields) as [keyof CaptureForm, Field][])
        form[key] = one.input.value;
      const { request, problems } = readForm(form, allowed);
      for (const [key, one] of Object.entries(fields) as [keyof CaptureForm, Field][])
        one.complain(key === 'addresses' && !touched ? undefined : problems[key]);
      command.textContent = commandLine(request, overview.logdir);
      const sound = Object.keys(problems).length === 0;
      start.setAttribute('aria-disabled', String(!sound));
      return sound;
    };
    const submit = (event: Event): void => {
      event.preventDefault();
      touched = true;
      if (changed()) {
        setTaste('capture', JSON.stringify(form));
        void this.start();
        return;
      }
      Object.values(fields)
        .find((one) => one.input.getAttribute('aria-invalid') === 'true')
        ?.input.focus();
    };
    const further = h(
      'details',
      { class: 'further', open: form.options !== '' },
      h('summary', {}, 'More options'),
      h(
        'div',
        { class: 'fields' },
        fields.delayMs?.element ?? null,
        fields.retries?.element ?? null,
        fields.name?.element ?? null,
        fields.options?.element ?? null,
      ),
    );
    const element = h(
      'form',
      {
        class: 'capture-form',
        novalidate: true,
        on: {
          submit,
          input: () => {
            touched = true;
            changed();
          },
        },
      },
      failure,
      h(
        'div',
        { class: 'fields' },
        fields.addresses?.element ?? null,
        fields.durationMs?.element ?? null,
      ),
      h('div', { class: 'levels' }, ...levels),
      further,
      h(
        'div',
        { class: 'same' },
        h('p', { class: 'soft' }, 'The same in a terminal:'),
        command,
        copyButton('Copy', () => command.textContent ?? ''),
      ),
      h('p', { class: 'acts' }, start, button('Close', this.close)),
    );
    fill(this.body, element);
    changed();
    fields.addresses?.input.focus();
  }

  private async start(): Promise<void> {
    const { request } = readForm(this.form, this.overview?.targets ?? null);
    fill(this.body, skeleton(80));
    try {
      const { id } = await postJson<{ id: number }>(
        'capture_profile',
        request,
        this.aborter.signal,
      );
      current = id;
      this.watch(id);
    } catch (error) {
      if (!isAbort(error)) this.showForm(problemBox('The capture did not start.', error));
    }
  }

  // ---- watching ----

  /** `over`: it ended while the dialog was closed, so its run is not opened by itself. */
  private watch(id: number, over = false): void {
    const title = h('p', { class: 'capture-state', role: 'status' }, 'Capturing');
    const list = h('ul', { class: 'capture-hosts' });
    const acts = h('p', { class: 'acts' });
    const stop = button('Cancel', () => {
      stop.disabled = true;
      title.textContent = 'Cancelling';
      void postJson('capture_cancel', { id }, this.aborter.signal).catch(() => {
        stop.disabled = false;
      });
    });
    fill(acts, stop);
    fill(this.body, h('div', { class: 'capture-head' }, title, acts), list);
    stop.focus();
    const look = (): void => {
      getJson<CaptureStatus>('capture_status', { id }, this.aborter.signal).then(
        (status) => {
          this.showHosts(list, status);
          if (status.done) this.ended(status, title, acts, over);
          else this.timer = window.setTimeout(look, POLL_MS);
        },
        (error: unknown) => {
          if (isAbort(error)) return;
          if (error instanceof ApiError && error.code === 'network') {
            title.textContent = 'The server does not answer; still trying.';
            this.timer = window.setTimeout(look, 4 * POLL_MS);
            return;
          }
          current = null;
          this.showForm(problemBox('The capture is lost.', error));
        },
      );
    };
    look();
  }

  private showHosts(list: HTMLElement, status: CaptureStatus): void {
    // Built once, then changed, so that a reader's place and a selection stay.
    if (list.children.length !== status.hosts.length || status.done)
      fill(list, ...status.hosts.map((host) => this.hostItem(host, status)));
    status.hosts.forEach((host, index) => {
      const item = list.children[index];
      const line = lineOf(host, status);
      const bar = item?.querySelector('progress');
      const text = item?.querySelector('.host-text');
      if (text != null && text.textContent !== line.text) text.textContent = line.text;
      if (bar == null) return;
      if (line.share === null) bar.removeAttribute('value');
      else bar.value = line.share;
    });
  }

  private hostItem(host: CaptureHost, status: CaptureStatus): HTMLElement {
    const line = lineOf(host, status);
    return h(
      'li',
      { class: `capture-host ${line.tone}`, 'data-state': host.state },
      h(
        'div',
        { class: 'host-head' },
        h('b', {}, host.target),
        !status.done && h('progress', { max: '1', 'aria-label': host.target }),
      ),
      h('p', { class: 'host-text' }, line.text),
      host.hint !== null && h('p', { class: 'soft' }, sentence(host.hint)),
      host.command !== null &&
        h(
          'div',
          { class: 'same' },
          h('code', { class: 'command' }, host.command),
          copyButton('Copy', () => host.command ?? ''),
        ),
    );
  }

  private ended(status: CaptureStatus, title: HTMLElement, acts: HTMLElement, over: boolean): void {
    current = null;
    const { run } = status;
    title.textContent = conclusion(status);
    if (!over && run !== null && status.hosts.every((host) => host.state === 'stored')) {
      this.close();
      this.options.say(conclusion(status), true);
      this.options.openRun(run);
      return;
    }
    const again = button('Back to the settings', () => this.showForm(null));
    if (run !== null) {
      const open = h(
        'button',
        {
          class: 'button primary',
          type: 'button',
          on: {
            click: () => {
              this.close();
              this.options.openRun(run);
            },
          },
        },
        'Open the run',
      );
      fill(acts, open, again, button('Close', this.close));
      open.focus();
    } else {
      fill(acts, again, button('Close', this.close));
      again.focus();
    }
  }
}

/** A `DialogBuilder`, once it knows its options. */
export function captureDialog(
  body: HTMLElement,
  close: () => void,
  options: CaptureDialogOptions,
): () => void {
  const dialog = new CaptureDialog(body, close, options);
  return () => dialog.destroy();
}
