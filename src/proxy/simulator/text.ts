import type { Chance } from './random.js';

const STOP_WORDS = new Set(
  'a about an and are as at be but by can could do does for from give has have how i in into is it its me my of on or please say tell that the their them then there these this to was we were what when where which who why will with would write you your'.split(
    ' ',
  ),
);
const OPENINGS = [
  'This is a simulated answer; no model was asked.',
  'A simulated answer, made without a model.',
  'Hello from the simulator; this answer is simulated.',
];
const ABOUT = [
  'You wrote about {topic}, and a real model would take it from there.',
  'Your question turns on {topic}; a real model would now weigh it with care.',
  'It seems that {topic} matters here, so a real answer would begin with it.',
];
const SENTENCES = [
  'One would first look at {a}, then at what {b} changes.',
  'With {a} settled, {b} follows almost by itself.',
  'A short example of {a} often says more than a long text about {b}.',
  'In practice {a} and {b} are best taken one step at a time.',
  'It helps to keep {a} simple and to write down what {b} is for.',
];
const CLOSING = 'Put a real node into proxy.config.yaml to hear more.';
/** About four characters, like tokens of English. */
const PIECE = /\s*\S{1,4}|\s+$/gu;
const CHARACTERS_PER_TOKEN = 4;

/** Words of a prompt that describe its topic, in order. */
export function topicsOf(prompt: string): string[] {
  const words = prompt.slice(0, 20_000).match(/[\p{L}\p{N}][\p{L}\p{N}'-]{2,}/gu) ?? [];
  const topics = words.filter((word) => !STOP_WORDS.has(word.toLowerCase()));
  return [...new Set(topics)].slice(0, 12);
}

function listed(topics: readonly string[]): string {
  const shown = topics.slice(0, 3);
  if (shown.length < 2) return shown[0] ?? 'your message';
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** A readable text about the prompt that says it is simulated; exactly `words` words if given. */
export function answerText(prompt: string, chance: Chance, words?: number): string {
  const topics = topicsOf(prompt);
  const pick = (): string => (topics.length > 0 ? chance.pick(topics) : 'the matter');
  const sentence = (): string => chance.pick(SENTENCES).replace('{a}', pick).replace('{b}', pick);
  const about = chance.pick(ABOUT).replace('{topic}', () => listed(topics));
  const parts = [chance.pick(OPENINGS), about];
  if (words === undefined) return [...parts, sentence(), CLOSING].join(' ');
  const out = parts.join(' ').split(' ');
  while (out.length < words) out.push(...sentence().split(' '));
  return out.slice(0, words).join(' ');
}

/** Splits a text as it is streamed. One piece counts as one token. */
export function pieces(text: string): string[] {
  return text.match(PIECE) ?? [];
}

/** A plausible token count of a prompt. */
export const simulatedTokens = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);
