import { isUtf8 } from 'node:buffer';
import { AppError } from '../../errors.js';
import { checkInParts } from '../../lib/json-check.js';
import { type Member, scanMembers } from '../../lib/json-scan.js';
import { JsonScanError } from '../../lib/json-tokens.js';
import type { Work } from '../../lib/turns.js';
import type { EmbeddingEncoding } from '../embeddings/embedding-encoding.js';
import type { InputSize } from '../usage/usage.js';
import type { AllowedFields } from './body-fields.js';
import { checkContent, NO_MEDIA } from './content-check.js';
import { checkInputs } from './embedding-inputs.js';
import { forwardedBody } from './forwarded-body.js';
import { inputSize } from './input-size.js';
import type { MediaRules } from './media-addresses.js';
import { arePlain, isPlainInput } from './plain-content.js';
import { TEMPLATE_ARGUMENTS } from './template-arguments.js';
import { checkTools } from './tool-kinds.js';

/** What the edge reads of a body; everything else is the upstream's business. */
export interface InspectedBody {
  /** The model that the caller asks for. */
  model: string;
  /** The one that `forward` names in its place; null: `model`. */
  movedTo: string | null;
  stream: boolean;
  /** Answers asked for; `best_of` counts. */
  choices: number;
  /** Cap of generated tokens, or null. */
  maxTokens: number | null;
  /** Whether the client itself asked for the usage chunk. */
  usageAsked: boolean;
  encoding: EmbeddingEncoding;
  input: InputSize;
  /** What goes upstream. */
  forward: Buffer;
  /** Names of members that don't, as the value of a header; undefined when there are none. */
  dropped: string | undefined;
}

const DECIDING = [
  ...['model', 'stream', 'stream_options', 'n', 'best_of', 'max_tokens', 'max_completion_tokens'],
  ...['encoding_format', 'dimensions'],
];
/** Each name has a separate bit, so there may be 31 of them. */
const bitsOf = (names: readonly string[]): ReadonlyMap<string, number> =>
  new Map(names.map((name, bit) => [name, 1 << bit]));
/** Two parsers could read different values of these. */
const ONCE = bitsOf([...DECIDING, 'messages', 'input', 'tools', TEMPLATE_ARGUMENTS]);

const READ = new Set(DECIDING);

const MAX_DEPTH = 64;
/** At the top level, where each is looked at; the API has some forty. */
const MAX_MEMBERS = 1_024;
/** Larger bodies are not parsed: what JSON.parse makes of them can take most of a second (RELIABILITY.md G17). */
const PARSED_BYTES = 64 * 1024;
/** Of a member that is read of such a body. */
const LONGEST_READ_BYTES = 16 * 1024;
/** Checked between two looks at the time, a fraction of a millisecond. */
const PART_BYTES = 64 * 1024;

const invalid = (message: string, param?: string): AppError =>
  new AppError('invalid_body', { message, param });

const PUBLIC_MEDIA: MediaRules = { allowPrivate: false };

/** Says which model a call runs on in place of the one that it asks for; null: on that. */
export type Moves = (asked: string) => string | null;

/** @throws AppError `invalid_body` */
export function inspectAtOnce(body: Buffer, allowed: AllowedFields, media = PUBLIC_MEDIA): InspectedBody {
  return toItsEnd(inspectBody(body, allowed, media));
}

function toItsEnd<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/**
 * Reads a body of `/v1` and prepares what goes upstream: raw bytes as they came, but for members that are neither
 * known nor `allowed`, the option that asks for usage in streams, and a model that `moves` replaces.
 * @throws AppError `invalid_body`
 */
export function* inspectBody(
  body: Buffer,
  allowed: AllowedFields,
  media: MediaRules = PUBLIC_MEDIA,
  moves?: Moves,
): Work<InspectedBody> {
  if (body.length === 0) throw invalid('The body is empty. Send a JSON object with "model".');
  // latin1 keeps V8 on its one-byte path; texts that matter are decoded where they are read.
  const text = body.length > PARSED_BYTES ? undefined : body.toString('latin1');
  const isLarge = text === undefined;
  const members = isLarge ? yield* scanLarge(body) : scanSmall(body, text);
  yield;
  checkOnce(members, ONCE);
  const fields = isLarge ? readFields(body, members) : parse(body, text);
  yield* checkInputs(body, members, fields.input, fields.dimensions);
  yield* checkTools(body, members, fields.tools);
  const stream = readBoolean(fields, 'stream');
  const options = readOptions(fields);
  const usageAsked = stream && options?.include_usage === true;
  const movedTo = moves && typeof fields.model === 'string' ? moves(readModel(fields)) : null;
  const { kept, bytes, dropped } = forwardedBody(body, members, allowed, { stream, options, movedTo });
  yield;
  const isPlain = !isLarge && arePlain(fields.messages) && isPlainInput(fields.input);
  return {
    model: readModel(fields),
    movedTo,
    stream,
    choices: Math.max(readCount(fields, 'n', 128) ?? 1, readCount(fields, 'best_of', 128) ?? 1),
    maxTokens: readMaxTokens(fields),
    usageAsked,
    encoding: fields.encoding_format === 'base64' ? 'base64' : 'float',
    input: inputSize(body, kept, isPlain ? NO_MEDIA : yield* checkContent(body, members, media)),
    forward: bytes,
    dropped,
  };
}

/** @throws AppError `invalid_body` where it is no JSON. */
function* scanLarge(body: Buffer): Work<Member[]> {
  try {
    return yield* checkInParts(body, MAX_DEPTH, MAX_MEMBERS, PART_BYTES);
  } catch (error) {
    throw refusal(error);
  }
}

/** Likewise. */
function scanSmall(body: Buffer, text: string): Member[] {
  try {
    return scanMembers(body, MAX_DEPTH, text);
  } catch (error) {
    throw refusal(error);
  }
}

const refusal = (error: unknown): unknown =>
  error instanceof JsonScanError ? invalid(`The body is not a valid JSON object: ${error.message}.`) : error;

/** The fields that are read here, of a body whose members have been checked. */
function readFields(body: Buffer, members: Member[]): Record<string, unknown> {
  if (!isUtf8(body)) throw invalid('The body is not valid UTF-8.');
  const read = members.filter(({ key }) => READ.has(key));
  for (const { key, valueStart, end } of read) {
    if (end - valueStart > LONGEST_READ_BYTES) throw invalid(`"${key}" is longer than 16 KiB.`, key);
  }
  return Object.fromEntries(
    read.map(({ key, valueStart, end }) => [key, JSON.parse(body.toString('latin1', valueStart, end))]),
  );
}

/**
 * Makes the check of a body that is parsed as a whole and doesn't go on as it came: it is an object in UTF-8, nests no deeper
 * than any other body of `/v1`, and has each of `names`, at most 31, once.
 */
export function createWholeCheck(names: readonly string[]): (body: Buffer) => void {
  const bits = bitsOf(names);
  return (body) => {
    checkOnce(scanSmall(body, body.toString('latin1')), bits);
    if (!isUtf8(body)) throw invalid('The body is not valid UTF-8.');
  };
}

/** `text` is the body in latin1. */
function parse(body: Buffer, text: string): Record<string, unknown> {
  if (!isUtf8(body)) throw invalid('The body is not valid UTF-8.');
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw invalid('The body is not valid JSON.');
  }
}

function checkOnce(members: Member[], bits: ReadonlyMap<string, number>): void {
  let seen = 0;
  for (const { key } of members) {
    const bit = bits.get(key);
    if (bit === undefined) continue;
    if ((seen & bit) !== 0) throw invalid(`The body contains "${key}" more than once.`, key);
    seen |= bit;
  }
}

/** Only these differ between latin1 and UTF-8. */
const NON_ASCII = /[\x80-\xff]/;

function readModel(fields: Record<string, unknown>): string {
  const { model } = fields;
  if (model === undefined || model === null || model === '') {
    throw invalid('"model" is missing. Set it to one of the models listed by GET /v1/models.', 'model');
  }
  if (typeof model !== 'string') throw invalid('"model" must be a string.', 'model');
  return NON_ASCII.test(model) ? Buffer.from(model, 'latin1').toString() : model;
}

function readBoolean(fields: Record<string, unknown>, name: string): boolean {
  const value = fields[name];
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw invalid(`"${name}" must be true or false.`, name);
  return value;
}

function readOptions(fields: Record<string, unknown>): Record<string, unknown> | null {
  const value = fields.stream_options;
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalid('"stream_options" must be an object.', 'stream_options');
  return value as Record<string, unknown>;
}

function readCount(fields: Record<string, unknown>, name: string, most: number): number | null {
  const value = fields[name];
  if (value === undefined || value === null) return null;
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > most) {
    throw invalid(`"${name}" must be an integer from 1 to ${most}.`, name);
  }
  return value as number;
}

const MAX_COUNT = 1_000_000_000;

function readMaxTokens(fields: Record<string, unknown>): number | null {
  const one = readCount(fields, 'max_tokens', MAX_COUNT);
  const other = readCount(fields, 'max_completion_tokens', MAX_COUNT);
  if (one === null || other === null) return one ?? other;
  return Math.max(one, other);
}
