import { AppError } from '../../errors.js';
import type { Member } from '../../lib/json-scan.js';
import type { EmbeddingEncoding } from '../embeddings/embedding-encoding.js';
import type { InputSize } from '../usage/usage.js';
import type { AllowedFields } from './body-fields.js';
import { objectMembers, onceNames } from './body-object.js';
import { checkContent } from './content-check.js';
import { checkInputs } from './embedding-inputs.js';
import { forwardedBody, type Place } from './forwarded-body.js';
import { inputSize } from './input-size.js';
import type { MediaRules } from './media-addresses.js';
import { TEMPLATE_ARGUMENTS } from './template-arguments.js';
import { checkTools } from './tool-kinds.js';

/** A request body as read by the edge, which reads only what it needs. */
export interface InspectedBody {
  /** The requested model. */
  model: string;
  /** The model that `forward` names instead; null: `model`. */
  movedTo: string | null;
  stream: boolean;
  /** Requested number of choices. */
  choices: number;
  /** Number of choices that may be generated: with `best_of`, more than are returned. */
  candidates: number;
  /** Most tokens to generate per choice, or null. */
  maxTokens: number | null;
  /** Whether the client itself requests the usage chunk. */
  usageAsked: boolean;
  encoding: EmbeddingEncoding;
  /** Number of vectors that `input` requests; 0 without `input`. */
  inputs: number;
  input: InputSize;
  /** The body for the upstream. */
  forward: Buffer;
  /** Place of the model's name in `forward`. */
  modelAt: Place;
  /** Names of dropped members, as the value of a header; undefined if none was dropped. */
  dropped: string | undefined;
}

const DECIDING = [
  ...['model', 'stream', 'stream_options', 'n', 'best_of', 'max_tokens', 'max_completion_tokens'],
  ...['encoding_format', 'dimensions'],
];
/** Members that two parsers could read differently if they came twice. */
const ONCE = onceNames([...DECIDING, 'messages', 'input', 'tools', TEMPLATE_ARGUMENTS]);

const READ = new Set(DECIDING);

/** Longest value of a member that is read. */
const LONGEST_READ_BYTES = 16 * 1024;

const invalid = (message: string, param?: string): AppError =>
  new AppError('invalid_body', { message, param });

const PUBLIC_MEDIA: MediaRules = { allowPrivate: false };

/**
 * Reads a body of `/v1` and prepares the body for the upstream: the same bytes without members that are neither known nor
 * `allowed`, and with the option that requests usage in streams.
 * @throws AppError `invalid_body`
 */
export function inspectBody(body: Buffer, allowed: AllowedFields, media = PUBLIC_MEDIA): InspectedBody {
  if (body.length === 0) throw invalid('The body is empty. Send a JSON object with "model".');
  const members = objectMembers(body, ONCE);
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

/** Replaces the model in the body for the upstream. */
export function movedTo(body: InspectedBody, model: string): InspectedBody {
  const value = Buffer.from(JSON.stringify(model));
  const { start, end } = body.modelAt;
  const { forward } = body;
  const moved = Buffer.concat([forward.subarray(0, start), value, forward.subarray(end)]);
  return { ...body, movedTo: model, forward: moved, modelAt: { start, end: start + value.length } };
}

/** Parses the members that are read. The others may have megabytes, for which JSON.parse would take a second. */
function readFields(body: Buffer, members: Member[]): Record<string, unknown> {
  const read = members.filter(({ key }) => READ.has(key));
  for (const { key, valueStart, end } of read) {
    if (end - valueStart > LONGEST_READ_BYTES) throw invalid(`"${key}" is longer than 16 KiB.`, key);
  }
  return Object.fromEntries(
    read.map(({ key, valueStart, end }) => [key, JSON.parse(body.toString('latin1', valueStart, end))]),
  );
}

/** The characters that differ between latin1 and UTF-8. */
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
