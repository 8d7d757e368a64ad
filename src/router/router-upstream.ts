import type { Logger } from '../lib/logger.js';
import { GENERAL_MASK } from '../lib/message-mask.js';
import type { Span } from '../lib/tracing/tracing.js';
import type { CallHandle, CallHead, Upstream } from '../lib/upstream/upstream.js';
import type { UpstreamHandler } from '../lib/upstream/upstream-handler.js';
import { bodyOf, type ProxyError, refusalOf } from './answers.js';
import { InProcessCall } from './in-process-call.js';
import { bearerOf, keyRefusal } from './key-check.js';
import type { ProxyRequest } from './request.js';
import type { RoutedCallDeps } from './routed-call.js';
import { readCall, runCall } from './take-call.js';
import type { VirtualKeys } from './virtual-keys.js';

const PATHS = { chat: '/chat/completions', embeddings: '/embeddings' } as const;
const LEAST_FAILURE = 500;

/** Carries calls by the router of this process, with the same checks as over HTTP. */
export class RouterUpstream implements Upstream {
  /** The router has already masked the messages of its answers. */
  readonly mask = GENERAL_MASK;

  constructor(
    private readonly calls: RoutedCallDeps,
    private readonly keys: Pick<VirtualKeys, 'check'>,
    private readonly log: Logger,
  ) {}

  call(head: CallHead, body: Buffer, handler: UpstreamHandler): CallHandle {
    const call = new InProcessCall(handler);
    // By the end of this turn, the call's intent is in the spool.
    setImmediate(() => {
      this.#begin(head, body, call, handler.accountId).catch((error: unknown) => {
        this.log.error({ error }, 'a call failed in the router');
        if (call.begun) call.cut();
        else refuse(call, refusalOf('internal_error'));
      });
    });
    return call;
  }

  async #begin(head: CallHead, body: Buffer, call: InProcessCall, accountId: string | undefined) {
    const key = bearerOf(head.authorization);
    const refusal = await keyRefusal(this.keys, key);
    if (call.gone) return;
    const request = refusal ?? readCall(this.calls, PATHS[head.endpoint], body, accountId ?? key ?? '');
    if ('member' in request) void this.#run(request, call, head.span);
    else refuse(call, request);
  }

  /** Runs a call. A method of its own, so that no frame here keeps the body for longer than the router does. Never rejects. */
  async #run(request: ProxyRequest, call: InProcessCall, parent: Span | undefined): Promise<void> {
    const span = parent?.child('route');
    await runCall(this.calls, request, call, span);
    span?.note({ 'http.response.status_code': call.status });
    span?.end(call.status >= LEAST_FAILURE);
  }
}

function refuse(call: InProcessCall, error: ProxyError): void {
  call.answer(error.status, Buffer.from(JSON.stringify(bodyOf(error))), error.retryAfterSeconds);
}
