import { MASK } from '../../lib/masked-forms.js';
import { trimEnd } from '../../lib/trim-end.js';

/** Longest message that is kept with a usage event. */
const MAX_KEPT = 500;
/** A shorter beginning explains less than our own message. */
const FEWEST_WORDS = 3;

const NUMBER = /^\(?[-+]?\d{1,8}(?:\.\d{1,6})?[.,;:!?)]{0,4}$/;
const SIGNS = new Set(['+', '-', '*', '=', '<', '>', '<=', '>=', MASK]);
/** A word or a path such as `tools[0].function.name`, with or without quotes. */
const WORD = /^\(?(['"`]?)([A-Za-z_][\w.[\]/-]{0,99})\1(?:'[st])?[.,;:!?)]{0,4}$/;
/** The parts of a path, or of a name of several words. Indexes are counted separately. */
const PARTS = /[A-Z]?[a-z]+(?:64)?|[A-Z]+|\d+/g;
const INDEX = /\[\d{1,3}\]|\.\d{1,3}(?=[.[]|$)/g;
const MOST_INDEXES = 3;
/** Messages about an overflow of the context contain five to eight numbers. */
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
 * Returns the part of a node's refusal that is stored for the owner of the call. Nodes quote what they refuse, and prompts are
 * never stored. So the message is cut at the first piece that isn't a listed word, a number or one of `names`, or that quotes
 * more than one word. If too little is left, returns `generic`, our own message for the code.
 */
export function ownerMessage(message: string | undefined, generic: string, names: readonly string[]): string {
  if (message === undefined || message === generic) return generic;
  const pieces = message.trim().split(/\s+/);
  let numbers = 0;
  const end = pieces.findIndex((piece, at) => {
    if (!isKnown(piece, names)) return true;
    // Many numbers, or several in a row, may be a prompt in tokens.
    if (!NUMBER.test(piece)) return false;
    return ++numbers > MOST_NUMBERS || (at > 0 && NUMBER.test(pieces[at - 1]!));
  });
  if (end >= 0 && end < FEWEST_WORDS) return generic;
  const kept = end < 0 ? pieces.join(' ') : `${pieces.slice(0, end).join(' ')} …`;
  return kept.length > MAX_KEPT ? `${kept.slice(0, MAX_KEPT - 1)}…` : kept;
}

/**
 * Words that servers use in error messages and that names of the API consist of, in lower case. Every word listed here may be
 * stored, so a word that only occurs in prompts doesn't belong here.
 */
const MESSAGE_WORDS: ReadonlySet<string> = new Set(
  `
  a about above accept accepted accepts access across additional adjust after again against all allowed allows also alternate
  alternating always an and another any api are argument arguments array arrays as assistant at audio auto available base64 batch be
  because been before beginning begins below between bias bigger block blocks body bool boolean both budget but by bytes cache call
  called calls can cannot category character characters chat check choice choices code combined comes completion completions
  constraint contain contained contains content contents context conversation conversations correct correctly could couldn count
  current currently data decimal decode decoder decoding decrease default defined definition deprecated description detail details
  developer dict dictionary did didn different dimension dimensions disable disabled do documentation does doesn don draft due
  duplicate each effort either element elements embedding embeddings empty enable enabled encode encoding end ends engine enough
  ensure entries entry enum equal error errors every exactly exceed exceeded exceeding exceeds exist exists expected expression extra
  fail failed fails false feature features field fields file files filter filtered finish first fit float follow followed following
  follows for forbidden form format formats formatted found frequency from full function functions generate generated generation get
  given got grammar greater greedy guided had has have high higher history how however id ids if image images immediately in include
  included includes including incorrect increase increasing index input inputs instead instruction instructions int integer integers
  into invalid is isn it item items its json keep key keys kind large larger last latest least left length less level limit limited
  limits list load loaded logit logprobs long longer low lower make malformed management match matches matching max maximum may media
  message messages method mime min minimum missing modality mode model models modify more most much multimodal multiple must n name
  named names need needed needs negative new no non none not null number numbers numeric object objects of off on one only openai
  optional options or order other out output outputs over overflow overflows p parallel param parameter parameters params parse parsed
  parser parsing part parts passed pattern penalty per permitted pixels please policy positive possible prefill prefix presence
  present previous problem process processed prompt prompts properties property provide provided range raw reached reasoning received
  reduce refer refused remove repetition request requested requests require required requires responding response responses result
  results retry return returned role roles sampling schema schemas see seed send sent sequence sequences server serving set setting
  shift short shorter should single size small smaller some specified specify start starting starts stop store stream streaming strict
  string strings structured such sum supplied support supported supports sure system temperature template text than that the their
  them then there these they thinking this those to token tokenized tokenizer tokens too tool tools top total triggering true try
  trying turn turns two type types unable under unexpected unknown unrecognized unsupported until up url urls usage use used user uses
  using valid validate validated validation value values verbosity version video was we were what when where which while will window
  with within without word would wrong you your zero
`
    .trim()
    .split(/\s+/),
);
