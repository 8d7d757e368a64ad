import type { CallInput } from '../../inference/call.js';
import type { ResponseSink } from '../../inference/relay/response-sink.js';
import type { Clock } from '../../lib/clock.js';
import type { JsonReader } from '../../lib/json-reader.js';
import { READ_RESPONSES_REQUEST } from './read-request.js';
import { ResponsesSink } from './responses-sink.js';

/** Events of a stream that carry the whole response: `response.created`, `response.in_progress` and the last one. */
const WHOLE_EVENTS = 3;

/** The Responses API, as a translation to chat and back. */
export interface Responses {
  read: typeof READ_RESPONSES_REQUEST;
  /** Bytes of the request that the answer repeats, held in memory until the caller has read them. */
  echoedBytes(echo: string, isStream: boolean): number;
  /** Returns a sink that translates the answer. `echo` is JSON of the request's members that are repeated. */
  sink(inner: ResponseSink, input: CallInput, echo: string): ResponseSink;
}

/** Loaded only if RESPONSES_API is set (docs/decisions/0152-responses.md). */
export const createResponses = (clock: Clock, json: JsonReader): Responses => ({
  read: READ_RESPONSES_REQUEST,
  echoedBytes: (echo, isStream) => Buffer.byteLength(echo) * (isStream ? WHOLE_EVENTS : 1),
  sink: (inner, { id, payer, admission }, echo) =>
    new ResponsesSink(inner, json, payer.account.id, {
      echo,
      requestId: id,
      createdAt: Math.floor(clock.now() / 1000),
      model: admission.model.publicName,
    }),
});
