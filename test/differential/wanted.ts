import type { Difference } from './compare.js';

/** A difference that is meant: where it occurs, and the sentence that asks for it. */
export interface Wanted {
  requests: RegExp;
  part: RegExp;
  /** How the new value reads; every one unless given. */
  now?: RegExp;
  sentence: string;
}

/** Every difference between the baseline and this checkout that is wanted. One that no longer occurs fails the run, too. */
export const WANTED: readonly Wanted[] = [
  {
    requests: /^widget-near-zero-/,
    part: /./,
    sentence: "SPEC 7: widget_owner_insufficient_balance, 503: owner's balance reached 0",
  },
  {
    requests: /^embeddings-(?:1\/5|4\/0|6\/9|6\/38|7\/8)$/,
    part: /^(?:status|body|header content-length|usage\..*|ledger\..*)$/,
    sentence: 'REAL-WORLD N5: raw NaN in embeddings: 502, free',
  },
  {
    requests: /^embeddings-[1467]$/,
    part: /^(?:balance|ledger)$/,
    sentence: 'The same: what is free leaves the balance as it was',
  },
  {
    requests: /^bodies-/,
    part: /^body$/,
    now: /^\{"error":\{"message":"The body is not a valid JSON object: [a-z ]+\.","type":"invalid_request_error","param":null,"code":"invalid_body"\}\}$/,
    sentence:
      'HOUSE: one synchronous reading of JSON in place of two, which named other faults of the same text',
  },
  {
    requests: /^bodies-drawn-11\/0$/,
    part: /^body$/,
    now: /not \\"f\?nction\\"/,
    sentence:
      'HOUSE: the same reading; it shows a character outside of ASCII as one question mark instead of two',
  },
  {
    requests: /^bodies-/,
    part: /^header content-length$/,
    sentence: 'The same two: their messages are longer or shorter',
  },
  {
    requests: /^(?:embedding-)?failures-\d+\//,
    part: /^body$/,
    now: /^\{"error":\{"message":"[^"]+","type":"invalid_request_error","param":null,"code":"invalid_request"\}\}$/,
    sentence: "HOUSE: a node's message passes as it is; what is masked is what is the operator's",
  },
  {
    requests: /^stream-(?:forms|drawn)-\d+\//,
    part: /^body$/,
    now: /"error":\{"message":"[^"]+","type":"invalid_request_error"/,
    sentence: 'The same, of an error in a stream or in place of one',
  },
  {
    requests: /^(?:widget|responses|playground)-\d+\//,
    part: /^body$/,
    now: /"(?:part|No\.)"/,
    sentence: 'REAL-WORLD N4 and N8: text parts joined wherever we show or translate; the refusal is shown',
  },
  {
    requests: /^(?:(?:embedding-)?failures|stream-(?:forms|drawn))-\d+\//,
    part: /^header content-length$/,
    sentence: 'The same two: their messages are longer or shorter',
  },
];

export const isWanted = ({ requests, part, now }: Wanted, difference: Difference): boolean =>
  requests.test(difference.id) &&
  part.test(difference.part) &&
  (now === undefined || now.test(difference.now ?? ''));
