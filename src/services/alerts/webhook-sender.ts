import type { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import type { Clock } from '../../lib/clock.js';
import type { Envelope } from '../../lib/crypto.js';
import { RefusedDestination } from '../../lib/egress/destination.js';
import type { Egress } from '../../lib/egress/egress.js';
import { signingSecretField } from './alerts.rules.js';
import type { DeliveryOutcome, Send } from './delivery.rules.js';
import type { TakenAlert } from './delivery.store.js';
import { webhookBody, webhookHeaders } from './webhook.rules.js';

/** Time limit of an attempt: DNS, connection, headers, body. */
const ATTEMPT_MS = 5_000;
/** How much of a response is read; its content is ignored. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface WebhookSenderOptions {
  egress: Egress;
  /** `WEBHOOK_SECRET`. */
  operatorSecret: string;
  envelope: Envelope;
  clock: Clock;
  attemptMs?: number;
}

/** Sends webhooks (docs/decisions/0064-delivery-of-alerts.md). */
export function createWebhookSender(options: WebhookSenderOptions): Send {
  const { attemptMs = ATTEMPT_MS } = options;
  return async (alert) => {
    const secrets = openSecrets(options.envelope, alert);
    if (!secrets)
      return failed("Not sent: the signing secret can't be decrypted with the current ENCRYPTION_KEY.");
    const signal = AbortSignal.timeout(attemptMs);
    let dispatcher: Dispatcher | undefined;
    try {
      const way = await beforeAbort(signal, options.egress.open(alert.destination));
      dispatcher = way.dispatcher;
      const body = webhookBody(alert);
      const { operatorSecret, clock } = options;
      const headers = webhookHeaders(alert.id, body, { operatorSecret, secrets, now: clock.now() });
      const answer = await request(way.url, { method: 'POST', dispatcher, headers, body, signal });
      await discard(answer.body);
      return judge(answer.statusCode);
    } catch (error) {
      return signal.aborted ? again(`No response within ${attemptMs / 1000} seconds.`) : explain(error);
    } finally {
      // Not awaited: a disconnected receiver may be slow.
      dispatcher?.destroy().catch(() => undefined);
    }
  };
}

const failed = (error: string, responseCode: number | null = null): DeliveryOutcome => ({
  result: 'failed',
  responseCode,
  error,
});
const again = (error: string, responseCode: number | null = null): DeliveryOutcome => ({
  result: 'again',
  responseCode,
  error,
});

/** Secrets of the subscription, newest first; undefined when they can't be decrypted. */
function openSecrets(envelope: Envelope, alert: TakenAlert): string[] | undefined {
  if (alert.signingSecretSealed === null || alert.subscriptionId === null) return undefined;
  try {
    const field = signingSecretField(alert.subscriptionId);
    return envelope.open(alert.signingSecretSealed, field).toString().split(' ');
  } catch {
    return undefined;
  }
}

/** The status decides, even if the response breaks off after it. */
function judge(status: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { result: 'sent', responseCode: status };
  if (status >= 500) return again(`The receiver responded with ${status}.`, status);
  if (status < 400)
    return failed(`The receiver responded with ${status}: redirects are not followed.`, status);
  if (status !== 410) return failed(`The receiver responded with ${status}.`, status);
  const error = 'The receiver responded with 410: the subscription was turned off.';
  return { result: 'failed', responseCode: status, error, gone: true };
}

function explain(error: unknown): DeliveryOutcome {
  if (error instanceof RefusedDestination) return failed(`Not sent: the destination ${error.reason}.`);
  const code = (error as { code?: unknown } | undefined)?.code;
  const known = typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code);
  return again(`The connection failed${known ? ` (${code})` : ''}.`);
}

/** Reads a response to its end, its size limit or its failure. */
async function discard(body: Readable): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      if (bytes >= MAX_ANSWER_BYTES) break;
    }
  } catch {
    // The status was received before.
  }
}

/** The result of work that can't be cancelled, or the signal's reason. */
function beforeAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
