import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Controls } from './controls.js';
import { FORMS_FOLDER, play, readNodeForm } from './forms.js';
import { Refusal } from './requests.js';
import type { StreamEvent } from './wire.js';

/** Writes one answer of the simulator, including simulated faults. */

/** How long a stalled answer stays open if the caller doesn't leave. */
const STALL_MS = 3_600_000;
/** A delay beyond this, because the caller reads slowly, isn't caught up. */
const CATCH_UP_MS = 5;
/** Events written before other work gets a turn of the event loop. */
const BURST = 64;
/** Milliseconds of work before other work gets a turn of the event loop. */
const TURN_MS = 10;
/** Characters of an answer that are collected before they are sent. */
const PIECE_CHARS = 64 * 1024;

export interface TokenPace {
  ttftMs: number;
  /** Milliseconds before the given token. */
  chunkMs(token: number): number;
}

export class Reply {
  private readonly gone = new AbortController();
  /** When the last wait should have ended. The next one starts there, so that late timers don't add up. */
  private due = performance.now();

  constructor(
    private readonly response: ServerResponse,
    /** The simulator's own address, which `echo_canary` reveals. */
    private readonly ownUrl: string,
  ) {
    response.on('close', () => this.gone.abort());
  }

  /** @throws AbortError if the caller leaves meanwhile */
  async wait(milliseconds: number): Promise<void> {
    if (milliseconds <= 0) return;
    this.due = Math.max(this.due, performance.now() - CATCH_UP_MS) + milliseconds;
    const left = Math.floor(this.due - performance.now());
    if (left > 0) await delay(left, undefined, { signal: this.gone.signal });
  }

  /** Lets other work have a turn of the event loop. @throws AbortError if the caller has left meanwhile */
  private async turn(): Promise<void> {
    await nextTurn();
    this.gone.signal.throwIfAborted();
  }

  private headers(contentType: string, controls: Controls): OutgoingHttpHeaders {
    const headers: OutgoingHttpHeaders = { 'content-type': controls.content_type ?? contentType };
    if (controls.retry_after !== undefined) headers['retry-after'] = String(controls.retry_after);
    if (controls.echo_canary) Object.assign(headers, { 'x-sim-canary': this.ownUrl, server: this.ownUrl });
    return headers;
  }

  /** Text that reveals addresses, as in error messages of a careless node. */
  canary(controls: Controls): string {
    return controls.echo_canary ? ` (node ${this.ownUrl}, gpu-7.sim-canary.internal:8000, 10.9.8.7)` : '';
  }

  error(
    status: number,
    message: string,
    controls: Controls = {},
    {
      param = null,
      code = null,
      type = status < 500 ? 'invalid_request_error' : 'server_error',
    }: Partial<Pick<Refusal, 'param' | 'code' | 'type'>> = {},
  ): void {
    const body = { error: { message: message + this.canary(controls), type, param, code } };
    const text = JSON.stringify(body);
    this.response.writeHead(status, this.headers('application/json', controls)).end(text);
  }

  refuse(refusal: Refusal): void {
    this.error(refusal.status, refusal.message, {}, refusal);
  }

  /** Sends a form of the corpus instead of an answer. @throws Refusal if there is no such form */
  async form(name: string): Promise<void> {
    const form = await readNodeForm(name);
    if (!form)
      throw new Refusal(`there is no simulator form ${name}; forms are the files of ${FORMS_FOLDER}`);
    await play(form, this.response);
  }

  /** Sends a whole JSON answer, with the faults that the controls ask for. */
  async json(text: string, controls: Controls): Promise<void> {
    const whole = controls.garbage ? `<html>simulated garbage${this.canary(controls)}</html>` : text;
    const bytes = Buffer.from(controls.truncate ? whole.slice(0, Math.ceil(whole.length * 0.6)) : whole);
    const headers = this.headers('application/json', controls);
    headers['content-length'] = bytes.length;
    this.response.writeHead(200, headers);
    const partly = controls.abort_after !== undefined || controls.stall_after !== undefined;
    if (!partly) {
      this.response.end(bytes);
      return;
    }
    await this.send(bytes.subarray(0, bytes.length >> 1));
    await this.breakOff(controls);
  }

  /** Like `json`, for an answer generated in pieces: a large one is sent while it is generated, unless controls need all of it. */
  async jsonInPieces(pieces: Iterable<string>, controls: Controls): Promise<void> {
    const { garbage, truncate, abort_after: abortAfter, stall_after: stallAfter } = controls;
    const needsWhole = garbage || truncate || abortAfter !== undefined || stallAfter !== undefined;
    let text = '';
    let since = performance.now();
    for (const piece of pieces) {
      text += piece;
      if (!needsWhole && text.length > PIECE_CHARS) {
        if (!this.response.headersSent)
          this.response.writeHead(200, this.headers('application/json', controls));
        await this.send(text);
        text = '';
      }
      if (performance.now() - since < TURN_MS) continue;
      await this.turn();
      since = performance.now();
    }
    if (this.response.headersSent) this.response.end(text);
    else await this.json(text, controls);
  }

  /** Sends an event stream, with the faults that the controls ask for. */
  async stream(events: Iterable<StreamEvent>, pace: TokenPace, controls: Controls): Promise<void> {
    this.response.writeHead(200, this.headers('text/event-stream', controls));
    this.response.flushHeaders();
    const broken = this.brokenStream(controls);
    if (broken !== undefined) {
      this.response.end(broken);
      return;
    }
    const limit = Math.min(controls.abort_after ?? Infinity, controls.stall_after ?? Infinity);
    let tokens = 0;
    let written = 0;
    await this.wait(pace.ttftMs);
    for (const event of events) {
      if (tokens >= limit) return this.breakOff(controls);
      if (event.token && tokens++ > 0 && event.step) await this.wait(pace.chunkMs(tokens));
      if (controls.truncate && tokens > 2) {
        this.response.end(`data: ${event.json.slice(0, event.json.length >> 1)}`);
        return;
      }
      await this.send(`data: ${event.json}\n\n`);
      if (++written % BURST === 0) await nextTurn();
    }
    this.response.end(controls.no_done ? undefined : 'data: [DONE]\n\n');
  }

  private brokenStream(controls: Controls): string | undefined {
    if (controls.garbage) return `data: simulated garbage${this.canary(controls)}\n\n`;
    if (!controls.error_first) return undefined;
    const code = controls.status ?? 503;
    const message = `simulated error ${code}${this.canary(controls)}`;
    return `data: ${JSON.stringify({ error: { message, type: 'server_error', param: null, code } })}\n\n`;
  }

  private async breakOff(controls: Controls): Promise<void> {
    if (controls.abort_after !== undefined) {
      // Everything written is sent first, or the caller would see fewer chunks than the control names.
      await nextTurn();
      this.response.destroy();
    } else await this.wait(STALL_MS);
  }

  /** Writes, and waits until the caller has taken it. @throws AbortError if the caller leaves */
  private async send(bytes: string | Buffer): Promise<void> {
    this.gone.signal.throwIfAborted();
    if (this.response.write(bytes)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onGone = (): void => reject(this.gone.signal.reason);
    this.response.once('drain', resolve);
    this.gone.signal.addEventListener('abort', onGone, { once: true });
    await promise.finally(() => this.gone.signal.removeEventListener('abort', onGone));
  }
}
