import { RequestTexts } from './request-texts.js';

/** Longest message that is kept with a usage event. */
const MAX_KEPT = 500;
/** Larger bodies aren't compared: that would keep the event loop from other calls. */
export const MAX_COMPARED_BYTES = 32 * 1024;
const MAX_QUOTES = 50;
const MAX_SENTENCES = 100;
/** Of a quoted string, as much as is compared. */
const MAX_QUOTED = 100;

const CLOSING: Record<string, string> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”',
  '„': '“',
  '‘': '’',
  '«': '»',
  '「': '」',
  '『': '』',
};
const LETTER = /[\p{L}\p{N}]/u;
/** Bytes of other scripts, and long words without a space: a prompt may be in them, encoded. */
const ENCODED = /(?:(?:\\x|%)[89a-f][0-9a-f]){2}|[\w+/=-]{40}/i;
/** What ends a sentence before a space, or anywhere. */
const STOP = /[.!?;]/;
const WIDE_STOP = /[。！？；]/;

interface Sentence {
  text: string;
  quotes: string[];
}

/** Where the quote that opens at `at` closes: an apostrophe in a word doesn't. */
function closeOf(text: string, at: number): number {
  const closing = CLOSING[text[at]!]!;
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === closing && text[end - 1] !== '\\' && !LETTER.test(text[end + 1] ?? ' ')) return end;
  }
  return text.length;
}

/** The sentences of a message; a quoted string ends none. Undefined when it quotes more than is compared. */
function sentencesOf(text: string): Sentence[] | undefined {
  const sentences: Sentence[] = [];
  let begin = 0;
  let quotes: string[] = [];
  let count = 0;
  let closed = 0;
  const ends = new Set<number>();
  for (let at = 0; at < text.length; at++) {
    if (CLOSING[text[at]!] !== undefined && !ends.has(at) && !LETTER.test(text[at - 1] ?? ' ')) {
      if (++count > MAX_QUOTES) return undefined;
      const end = closeOf(text, at);
      quotes.push(text.slice(at + 1, Math.min(end, at + MAX_QUOTED)));
      ends.add(end);
      // One that closes nowhere is cut, and may go on to the end.
      closed = Math.max(closed, end);
    }
    const isStop = WIDE_STOP.test(text[at]!) || (STOP.test(text[at]!) && text[at + 1] === ' ');
    const isEnd = at === text.length - 1 || (at >= closed && isStop);
    if (!isEnd) continue;
    if (sentences.length === MAX_SENTENCES) return undefined;
    sentences.push({ text: text.slice(begin, at + 1).trim(), quotes });
    begin = at + 1;
    quotes = [];
  }
  return sentences;
}

/**
 * The message of a failed call as its owner may keep it: whole where nothing in it quotes the request, else its first sentence that
 * doesn't. In doubt `generic`, our own words for the code.
 */
export function ownerMessage(message: string | undefined, generic: string, body: Buffer): string {
  if (message === undefined || message === generic) return generic;
  if (body.length === 0 || body.length > MAX_COMPARED_BYTES) return generic;
  const text = message
    .slice(0, 2 * MAX_KEPT)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  const sentences = sentencesOf(text);
  if (!sentences) return generic;
  const kept = unquoted(text, sentences, body);
  if (kept === undefined) return generic;
  return (kept.length > MAX_KEPT ? `${kept.slice(0, MAX_KEPT - 1)}…` : kept).toWellFormed();
}

function unquoted(text: string, sentences: readonly Sentence[], body: Buffer): string | undefined {
  let texts: RequestTexts;
  try {
    texts = new RequestTexts(body, text);
  } catch {
    return undefined;
  }
  const quoting = sentences.map(
    (one) =>
      ENCODED.test(one.text) || texts.quotes(one.text) || one.quotes.some((quoted) => texts.isQuoted(quoted)),
  );
  if (!quoting.includes(true)) return texts.sharesRun(text) ? undefined : text;
  return sentences.find(
    (one, at) =>
      !quoting[at] &&
      // The text that its neighbour quotes may begin or go on in it.
      !(quoting[at - 1] && texts.touches(one.text, 'begins')) &&
      !(quoting[at + 1] && texts.touches(one.text, 'ends')),
  )?.text;
}
