import { KNOWN_FIELDS, KNOWN_REFUSALS } from './known-refusals.js';

/** Longest message of a node that is passed on, and how much of one is looked at. */
const MAX_LENGTH = 500;
const MAX_READ = 4 * MAX_LENGTH;
/** Of a message of which fewer words are known, too little is left to help. */
const KNOWN_SHARE = 2 / 3;
const MASK = '[…]';

/** White space, quotes, brackets and some signs stand between tokens; what joins the parts of an address doesn't. */
const TOKEN = /[^\s'"`()[\]{}<>,;=]+/g;
const CONTROL = /[\p{Cc}\p{Cf}]+/gu;
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;
const NUMBER = /^-?\d{1,7}(?:\.\d{1,6})?%?$/;
/** One step of a path: `.content`, `.0` or `[0]`. */
const STEP = /\.([A-Za-z_]+)|\.\d{1,4}|\[\d{1,4}\]/y;
const LONGEST_FIELD = 100;
/** The public name of a model, as the model table has them. */
const PUBLIC_NAME = /^gateway\/(?!.{62})[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** What may follow a word. */
const ENDS = new Set(['.', ':', '!', '?']);

/** Where a token without the punctuation around it begins and ends. What begins with a colon may be a port. */
function coreOf(token: string): [number, number] {
  let start = 0;
  let end = token.length;
  while (start < end && token[start] === '.') start++;
  while (end > start && ENDS.has(token[end - 1]!)) end--;
  return [start, end];
}

const wordOf = (token: string): string => token.slice(...coreOf(token)).toLowerCase();

const WORDS: ReadonlySet<string> = new Set(
  KNOWN_REFUSALS.flatMap((refusal) => refusal.match(TOKEN) ?? [])
    .map(wordOf)
    // A number is known by its form, and these are examples.
    .filter((word) => !/^[-\d.%/]*$/.test(word)),
);

/**
 * Whether a text is the name of a request's member, or a path to one: `messages.0.content`, `tools[0].function.name`.
 * An index follows a name only, since several in a row may be an address: `messages.10.0.0.5`.
 */
export function isKnownField(name: string): boolean {
  if (name.length > LONGEST_FIELD) return false;
  const first = /^[A-Za-z_]+/.exec(name)?.[0];
  if (first === undefined || !KNOWN_FIELDS.has(first)) return false;
  let afterName = true;
  for (let at = first.length; at < name.length; at = STEP.lastIndex) {
    STEP.lastIndex = at;
    const step = STEP.exec(name);
    if (!step) return false;
    const [, member] = step;
    if (member === undefined ? !afterName : !KNOWN_FIELDS.has(member)) return false;
    afterName = member !== undefined;
  }
  return true;
}

function isKnown(token: string): boolean {
  return (
    !SAYS_SOMETHING.test(token) ||
    WORDS.has(token.toLowerCase()) ||
    NUMBER.test(token) ||
    isKnownField(token) ||
    PUBLIC_NAME.test(token)
  );
}

/** A name that stands for another. */
interface Renamed {
  from: string;
  to: string;
}

/**
 * What a caller may see of a node's message: words of known refusals, numbers, names of request members and of public
 * models. `[…]` replaces the rest. Undefined when too little is left to help. Takes linear time and reads the beginning only.
 */
export function cleanMessage(message: string, renamed?: Renamed): string | undefined {
  let words = 0;
  let unknown = 0;
  const clean = message
    .slice(0, MAX_READ)
    .replace(CONTROL, ' ')
    .replace(TOKEN, (token) => {
      const [start, end] = coreOf(token);
      const core = token.slice(start, end);
      words++;
      if (core === renamed?.from) return token.slice(0, start) + renamed.to + token.slice(end);
      if (isKnown(core)) return token;
      unknown++;
      return MASK + token.slice(end);
    })
    .trim();
  if (words === unknown || words - unknown < KNOWN_SHARE * words) return undefined;
  return clean.length > MAX_LENGTH ? `${clean.slice(0, MAX_LENGTH - 1)}…` : clean;
}
