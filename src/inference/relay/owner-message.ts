import { MASK } from '../../lib/masked-forms.js';
import { trimEnd } from '../../lib/trim-end.js';
import { MESSAGE_WORDS } from './message-words.js';

/** Longest message that is kept with a usage event. */
const MAX_KEPT = 500;
/** Shorter beginnings explain less than our own words. */
const FEWEST_WORDS = 3;

const NUMBER = /^\(?[-+]?\d{1,8}(?:\.\d{1,6})?[.,;:!?)]{0,4}$/;
const SIGNS = new Set(['+', '-', '*', '=', '<', '>', '<=', '>=', MASK]);
/** A word or a path such as `tools[0].function.name`, by itself in quotes or without. */
const WORD = /^\(?(['"`]?)([A-Za-z_][\w.[\]/-]{0,99})\1(?:'[st])?[.,;:!?)]{0,4}$/;
/** What a path and a name of several words are made of; indexes of a path aside. */
const PARTS = /[A-Z]?[a-z]+(?:64)?|[A-Z]+|\d+/g;
const INDEX = /\[\d{1,3}\]|\.\d{1,3}(?=[.[]|$)/g;
const MOST_INDEXES = 3;
/** An overflow of a context names five to eight. */
const MOST_NUMBERS = 10;

function isKnown(piece: string, names: readonly string[]): boolean {
  if (SIGNS.has(piece) || NUMBER.test(piece)) return true;
  const word = WORD.exec(piece)?.[2];
  if (word === undefined) return false;
  if (names.includes(trimEnd(word, '.'))) return true;
  const indexes = word.match(INDEX) ?? [];
  const parts = word.replace(INDEX, '').match(PARTS) ?? [];
  return indexes.length <= MOST_INDEXES && parts.every((part) => MESSAGE_WORDS.has(part.toLowerCase()));
}

/**
 * Returns what the owner of a call may keep of a node's refusal. Nodes quote what they refuse, and a prompt is never stored: the
 * message is cut at the first piece that is neither a word of the list, a number nor one of `names`, or that quotes more than one
 * word. If too little is left, returns `generic`, our own words for the code.
 */
export function ownerMessage(message: string | undefined, generic: string, names: readonly string[]): string {
  if (message === undefined || message === generic) return generic;
  const pieces = message.trim().split(/\s+/);
  let numbers = 0;
  const end = pieces.findIndex((piece, at) => {
    if (!isKnown(piece, names)) return true;
    // Numbers in a row, or many, may be a prompt as tokens.
    if (!NUMBER.test(piece)) return false;
    return ++numbers > MOST_NUMBERS || (at > 0 && NUMBER.test(pieces[at - 1]!));
  });
  if (end >= 0 && end < FEWEST_WORDS) return generic;
  const kept = end < 0 ? pieces.join(' ') : `${pieces.slice(0, end).join(' ')} …`;
  return kept.length > MAX_KEPT ? `${kept.slice(0, MAX_KEPT - 1)}…` : kept;
}
