import { isUtf8 } from 'node:buffer';
import { AppError } from '../../errors.js';
import { checkedMembers } from '../../lib/json-check.js';
import type { Member } from '../../lib/json-scan.js';
import { JsonScanError } from '../../lib/json-tokens.js';
import type { EmbeddingEncoding } from '../embeddings/embedding-encoding.js';
import type { InputSize } from '../usage/usage.js';
import { encodingFault, NOT_UTF8 } from './body-encoding.js';
import type { AllowedFields } from './body-fields.js';
import { checkContent } from './content-check.js';
import { checkInputs } from './embedding-inputs.js';
import { forwardedBody, type Place } from './forwarded-body.js';
import { inputSize } from './input-size.js';
import type { MediaRules } from './media-addresses.js';
import { TEMPLATE_ARGUMENTS } from './template-arguments.js';
import { checkTools } from './tool-kinds.js';

/** What the edge reads of a body; everything else is the upstream's business. */
export interface InspectedBody {
  /** The model that the caller asks for. */
  model: string;
  /** The one that `forward` names in its place; null: `model`. */
  movedTo: string | null;
  stream: boolean;
  /** Answers asked for. */
  choices: number;
  /** Answers that may be generated: `best_of` asks for more than come. */
  candidates: number;
  /** Cap of generated tokens, or null. */
  maxTokens: number | null;
  /** Whether the client itself asked for the usage chunk. */
  usageAsked: boolean;
  encoding: EmbeddingEncoding;
  /** How many vectors `input` asks for; 0 without one. */
  inputs: number;
  input: InputSize;
  /** What goes upstream. */
  forward: Buffer;
  /** Place of the model's name in it. */
  modelAt: Place;
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
/** Of a member that is read. */
const LONGEST_READ_BYTES = 16 * 1024;

const invalid = (message: string, param?: string): AppError =>
  new AppError('invalid_body', { message, param });

const PUBLIC_MEDIA: MediaRules = { allowPrivate: false };

/**
 * Reads a body of `/v1` and prepares what goes upstream: raw bytes as they came, but for members that are neither
 * known nor `allowed` and the option that asks for usage in streams.
 * @throws AppError `invalid_body`
 */
export function inspectBody(body: Buffer, allowed: AllowedFields, media = PUBLIC_MEDIA): InspectedBody {
  if (body.length === 0) throw invalid('The body is empty. Send a JSON object with "model".');
  const members = membersOf(body);
  checkOnce(members, ONCE);
  if (!isUtf8(body)) throw invalid(NOT_UTF8);
  const fields = readFields(body, members);
  const inputs = checkInputs(body, members, fields.dimensions);
  checkTools(body, members);
  const stream = readBoolean(fields, 'stream');
  const options = readOptions(fields);
  const choices = readCount(fields, 'n', 128) ?? 1;
  const { kept, bytes, modelAt, dropped } = forwardedBody(body, members, allowed, { stream, options });
  return {
    model: readModel(fields),
    movedTo: null,
    stream,
    choices,
    candidates: Math.max(choices, readCount(fields, 'best_of', 128) ?? 1),
    maxTokens: readMaxTokens(fields),
    usageAsked: stream && options?.include_usage === true,
    encoding: fields.encoding_format === 'base64' ? 'base64' : 'float',
    inputs,
    input: inputSize(body, kept, checkContent(body, members, media)),
    forward: bytes,
    modelAt,
    dropped,
  };
}

/** The body of a call that runs on another model than the one that it asks for. */
export function movedTo(body: InspectedBody, model: string): InspectedBody {
  const value = Buffer.from(JSON.stringify(model));
  const { start, end } = body.modelAt;
  const { forward } = body;
  const moved = Buffer.concat([forward.subarray(0, start), value, forward.subarray(end)]);
  return { ...body, movedTo: model, forward: moved, modelAt: { start, end: start + value.length } };
}

/** @throws AppError `invalid_body` */
function membersOf(body: Buffer): Member[] {
  try {
    return checkedMembers(body, MAX_DEPTH, MAX_MEMBERS);
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error;
    throw invalid(encodingFault(body) ?? `The body is not a valid JSON object: ${error.message}.`);
  }
}

/** The fields that are read here. The others may take megabytes, and JSON.parse would take a second for them. */
function readFields(body: Buffer, members: Member[]): Record<string, unknown> {
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
    checkOnce(membersOf(body), bits);
    if (!isUtf8(body)) throw invalid(NOT_UTF8);
  };
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
