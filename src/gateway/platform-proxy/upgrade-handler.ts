import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

export interface PlatformAnswer {
  statusCode: number;
  headers: IncomingHttpHeaders;
  body: Readable;
}

/** How an upgrade ended. One of these is called, once. */
interface UpgradeEnds {
  granted(headers: IncomingHttpHeaders, socket: Socket): void;
  refused(answer: PlatformAnswer): void;
  failed(error: Error): void;
}

/**
 * One upgrade request. undici's `upgrade()` expects the granted connection and its `request()` an ordinary answer; an upgrade request
 * may get either.
 */
export class UpgradeHandler implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #body: Readable | undefined;
  #isAbandoned = false;

  constructor(private readonly ends: UpgradeEnds) {}

  /** Called when the client has left. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#controller?.abort(new Error('the client has disconnected'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isAbandoned) this.abandon();
  }

  onRequestUpgrade(
    _controller: unknown,
    _status: number,
    headers: IncomingHttpHeaders,
    socket: Duplex,
  ): void {
    this.#controller = undefined;
    this.ends.granted(headers, socket as Socket);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (statusCode < 200) return;
    this.#body = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        this.#controller?.abort(new Error('the response is unusable'));
        done(error);
      },
    });
    this.ends.refused({ statusCode, headers, body: this.#body });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#body!.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#controller = undefined;
    this.#body!.push(null);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#controller = undefined;
    if (this.#body) this.#body.destroy(error);
    else this.ends.failed(error);
  }
}
