import type { ServerResponse } from 'node:http';
import type { Catalog } from '../inference/catalog.js';
import type { KeyEntry } from '../inference/keys/key-cache.js';
import { movedModel } from '../inference/limits/guarded.js';
import type { AllowedFields } from '../inference/request/body-fields.js';
import type { MediaRules } from '../inference/request/media-addresses.js';
import { type InspectedBody, inspectBody } from '../inference/request/request-body.js';
import type { Clock } from '../lib/clock.js';
import type { Turns, Work, WorkEnd } from '../lib/turns.js';
import { inTurn } from './in-turn.js';
import type { Translate, Translated } from './responses/responses.js';

export interface ReadDeps {
  relay: { turns: Turns };
  catalog: Catalog;
  clock: Clock;
  /** Additional body fields to forward. */
  allowedFields: AllowedFields;
  media: MediaRules;
}

/** Reads a body, in slices if that takes long. If the client disconnects, nothing is kept. */
export function readBody(
  deps: ReadDeps,
  response: ServerResponse,
  payer: KeyEntry,
  body: Buffer,
  done: WorkEnd<InspectedBody>,
  isAgain = false,
): void {
  const moves = payer.guard
    ? (asked: string) => movedModel(payer, asked, deps.catalog, deps.clock.now())
    : undefined;
  const work = inspectBody(body, deps.allowedFields, deps.media, moves);
  inTurn(deps.relay.turns, payer.account.id, response, work, (error, inspected) => {
    // Other calls may have brought the guard to act while this body was read.
    const isOld = inspected && moves && moves(inspected.model) !== inspected.movedTo;
    if (isOld && !isAgain) readBody(deps, response, payer, body, done, true);
    else done(error, inspected);
  });
}

/** Translates a request of the Responses API as work of two steps: it is parsed as a whole, and many may arrive together. */
export function* translation(translate: Translate, body: Buffer): Work<Translated> {
  // Nothing more fits into a turn whose time is over.
  yield;
  return translate(body);
}
