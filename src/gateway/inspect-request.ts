import type { ServerResponse } from 'node:http';
import type { Catalog } from '../inference/catalog.js';
import type { KeyEntry } from '../inference/keys/key-cache.js';
import { movedModel } from '../inference/limits/guarded.js';
import { CallerGoneError } from '../inference/limits/limits.js';
import type { AllowedFields } from '../inference/request/body-fields.js';
import type { MediaRules } from '../inference/request/media-addresses.js';
import { READ_REQUEST } from '../inference/request/read-request.js';
import { type InspectedBody, movedTo } from '../inference/request/request-body.js';
import type { Clock } from '../lib/clock.js';
import type { JsonReader } from '../lib/json-reader.js';
import type { Exchange } from './exchange.js';
import type { ReadResponsesRequest } from './responses/read-request.js';
import type { Responses } from './responses/responses.js';

export interface InspectDeps {
  relay: { json: JsonReader };
  catalog: Catalog;
  clock: Clock;
  /** Additional body fields to forward. */
  allowedFields: AllowedFields;
  media: MediaRules;
  /** Absent unless RESPONSES_API is set. */
  responses?: Pick<Responses, 'read'> | undefined;
}

/** The inspected body of a call; `echo` is set for calls of the Responses API. */
export type InspectedRequest = InspectedBody & Partial<Pick<ReadResponsesRequest, 'echo'>>;

/**
 * Reads a body; the buffer must not be used afterwards. A body that waits for the worker thread is dropped when the client disconnects.
 * @throws AppError `invalid_body`, CallerGoneError
 */
export async function inspectRequest(
  deps: InspectDeps,
  { response, isTranslated }: Exchange,
  payer: KeyEntry,
  body: Buffer,
): Promise<InspectedRequest> {
  const job = isTranslated ? deps.responses!.read : READ_REQUEST;
  const input = { body, allowed: deps.allowedFields, media: deps.media };
  const read = await deps.relay.json.read<typeof input, InspectedRequest>(payer.account.id, job, input, () =>
    whileOpen(response),
  );
  return applyGuard(deps, payer, read);
}

/** Replaces the model if the key's guard has acted and names another one. */
function applyGuard(
  { catalog, clock }: InspectDeps,
  payer: KeyEntry,
  body: InspectedRequest,
): InspectedRequest {
  const model = payer.guard ? movedModel(payer, body.model, catalog, clock.now()) : null;
  return model === null ? body : movedTo(body, model);
}

/** A signal that is aborted with a CallerGoneError when the client disconnects. */
export function whileOpen(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort(new CallerGoneError()));
  return controller.signal;
}
