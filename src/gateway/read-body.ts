import type { ServerResponse } from 'node:http';
import type { Catalog } from '../inference/catalog.js';
import type { KeyEntry } from '../inference/keys/key-states.js';
import { movedModel } from '../inference/limits/guarded.js';
import { CallerGoneError } from '../inference/limits/limits.js';
import type { AllowedFields } from '../inference/request/body-fields.js';
import type { MediaRules } from '../inference/request/media-addresses.js';
import { type InspectedBody, inspectBody } from '../inference/request/request-body.js';
import type { Clock } from '../lib/clock.js';
import type { Turns, Work, WorkEnd } from '../lib/turns.js';
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
  const left = (): void => {
    giveUp?.();
    done(new CallerGoneError(), undefined);
  };
  const moves = payer.guard
    ? (asked: string) => movedModel(payer, asked, deps.catalog, deps.clock.now())
    : undefined;
  const work = inspectBody(body, deps.allowedFields, deps.media, moves);
  const giveUp = deps.relay.turns.begin(payer.account.id, work, (error, inspected) => {
    response.off('close', left);
    // Other calls may have brought the guard to act while this body was read.
    const isOld = inspected && moves && moves(inspected.model) !== inspected.movedTo;
    if (isOld && !isAgain) readBody(deps, response, payer, body, done, true);
    else done(error, inspected);
  });
  if (giveUp) response.once('close', left);
}

/**
 * Translates a request of the Responses API, which is parsed as a whole: of many that arrive together, one in a turn of the
 * event loop. If the client disconnects, nothing is kept.
 */
export function translateBody(
  { relay }: Pick<ReadDeps, 'relay'>,
  response: ServerResponse,
  payer: KeyEntry,
  work: Work<Translated>,
  done: WorkEnd<Translated>,
): void {
  const left = (): void => {
    giveUp?.();
    done(new CallerGoneError(), undefined);
  };
  const giveUp = relay.turns.begin(payer.account.id, work, (error, translated) => {
    response.off('close', left);
    done(error, translated);
  });
  if (giveUp) response.once('close', left);
}

/** As work of two steps. */
export function* translation(translate: Translate, body: Buffer): Work<Translated> {
  // Nothing more fits into a turn whose time is over.
  yield;
  return translate(body);
}
