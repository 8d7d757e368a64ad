import { AppError } from '../../errors.js';
import { jsonAmbiguity } from '../../lib/json-ambiguity.js';
import type { JsonJob } from '../../lib/json-reader.js';
import { hasMoreValues } from '../json-values.js';

/** A chat has a few hundred values. Their number, not the bytes, decides how long a body takes to parse. */
const MAX_VALUES = 16_384;

/** A byte order mark is kept, so that it is refused as invalid JSON: some parsers would skip it. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads the body of a message to a widget. @throws AppError `invalid_body` */
export const READ_CHAT: JsonJob<{ body: Buffer }, Record<string, unknown>> = {
  name: 'widget-chat',
  run: ({ body }) => {
    if (hasTooManyValues(body)) throw invalid(`has more than ${MAX_VALUES.toLocaleString('en')} values`);
    let text: string;
    let value: unknown;
    try {
      text = UTF8.decode(body);
      value = JSON.parse(text);
    } catch {
      throw invalid('is not valid JSON');
    }
    const ambiguity = jsonAmbiguity(text);
    if (ambiguity !== undefined) throw invalid(`is ambiguous: ${ambiguity}`);
    // A body that is no object names no widget, and the widget is the first check of a chat.
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  },
};

const invalid = (fault: string): AppError => new AppError('invalid_body', { message: `The body ${fault}.` });

function hasTooManyValues(body: Buffer): boolean {
  try {
    return hasMoreValues(body, MAX_VALUES);
  } catch {
    // A string without an end: the JSON parser reports it.
    return false;
  }
}
