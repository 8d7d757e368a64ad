import { chanceOf } from './random.js';

/** Log probabilities of tokens, in OpenAI's shape. */

/** The likeliest alternative is this much less likely than the token, each further one again. */
const STEP = 0.75;
const MOST_SURE = 0.05;

const shown = (token: string, logprob: number) => ({ token, logprob, bytes: [...Buffer.from(token)] });

function tokenLogprob(token: string, alternatives: number) {
  const chance = chanceOf(`logprob\n${token}`);
  const logprob = -(MOST_SURE + chance.next());
  // The token itself is the likeliest; the others are its text with letters of the hash.
  const top = Array.from({ length: alternatives }, (_, rank) =>
    shown(rank === 0 ? token : `${token}${chance.hex(2)}`, logprob - rank * STEP),
  );
  return { ...shown(token, logprob), top_logprobs: top };
}

/**
 * Plausible probabilities of a text's tokens, the same for the same token; null where none were asked for.
 * `alternatives` is how many of the likeliest tokens stand beside each, itself first.
 */
export function logprobsOf(tokens: readonly string[], alternatives: number | undefined): object | null {
  if (alternatives === undefined) return null;
  return { content: tokens.map((token) => tokenLogprob(token, alternatives)), refusal: null };
}
