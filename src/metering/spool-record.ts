import { crc32 } from 'node:zlib';
import type { CallIntent, UsageRecord } from './usage-record.js';

/**
 * A record of a spool segment. A segment is an 8-byte header, then frames of `u32 CRC, u32 length, payload`,
 * little-endian. The checksum is zlib's CRC-32 (IEEE) over length and payload: Node has it natively, while CRC-32C would
 * need a package. The payload is JSON with amounts as strings of 1e-12 dollars. JSON has no byte below 0x20, so no four
 * bytes of a payload read as a plausible length: a frame can't appear inside another.
 */
export type SpoolEntry =
  | { kind: 'intent'; intent: CallIntent }
  /** A finished call. */
  | { kind: 'event'; record: UsageRecord };

/** Increase it when the payload changes in a way that an older build would misread. */
const SCHEMA_VERSION = 2;
const MAGIC = Buffer.from('usgspl');
export const HEADER_BYTES = 8;
const CRC_BYTES = 4;
const FRAME_BYTES = 8;
/** Far above any record, far below any four bytes of JSON read as a number. */
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;

/** The first bytes of a segment: magic and schema version. */
export function segmentHeader(): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt16LE(SCHEMA_VERSION, MAGIC.length);
  return header;
}

/**
 * Whether this build can read a segment; `torn` if even its header is incomplete. A segment of another version is kept
 * for the build that wrote it.
 */
export function headerState(bytes: Buffer): 'known' | 'torn' | 'unknown' {
  if (bytes.length < HEADER_BYTES) return 'torn';
  const known = bytes.subarray(0, HEADER_BYTES).equals(segmentHeader());
  return known ? 'known' : 'unknown';
}

/** Only texts from outside need escaping; ids, numbers and constants are valid JSON already. */
const quoted = JSON.stringify;
const id = (value: string | null): string => (value === null ? 'null' : `"${value}"`);
const CLIENT_ABORTED = 1;
const ESTIMATED = 2;
const ANOMALOUS = 4;

/** Rare fields come last and are left out where possible, so that an older build can read the others. */
function intentTail({ promptVersionId, movedTo }: CallIntent): string {
  if (movedTo !== null) return `,${id(promptVersionId)},${quoted(movedTo)}`;
  return promptVersionId === null ? '' : `,"${promptVersionId}"`;
}

/** Rare fields of an event: those of the intent, the deployment that served the call, and why the call failed. */
function eventTail(record: UsageRecord): string {
  const { promptVersionId, deployment, nodeId, nodeCalls, movedTo, errorMessage } = record;
  if (movedTo === null && deployment === null && errorMessage === null)
    return promptVersionId === null ? '' : `,"${promptVersionId}"`;
  const name = deployment === null ? 'null' : quoted(deployment);
  const moved = movedTo === null && errorMessage === null ? '' : `,${quoted(movedTo)}`;
  const why = errorMessage === null ? '' : `,${quoted(errorMessage)}`;
  return `,${id(promptVersionId)},${name},${id(nodeId)},${nodeCalls}${moved}${why}`;
}

/** The payload of an intent: its fields in order. With names, it would be twice as long. */
export function intentPayload(intent: CallIntent): string {
  return `["i","${intent.id}","${intent.accountId}",${id(intent.keyId)},${id(intent.widgetId)},${quoted(intent.requestedModel)},"${intent.endpoint}",${intent.stream},${intent.at}${intentTail(intent)}]`;
}

/** The payload of an event. */
export function eventPayload(record: UsageRecord): string {
  const { requestedModel, servedModel, errorCode } = record;
  const requested = quoted(requestedModel);
  const served = servedModel === requestedModel ? requested : quoted(servedModel);
  const flags =
    (record.clientAborted ? CLIENT_ABORTED : 0) +
    (record.estimated ? ESTIMATED : 0) +
    (record.anomalous ? ANOMALOUS : 0);
  return `["e","${record.id}","${record.accountId}",${id(record.keyId)},${id(record.widgetId)},${requested},"${record.endpoint}",${record.stream},${record.createdAt},${served},${record.inputTokens},${record.outputTokens},"${record.priceIn}","${record.priceOut}","${record.cost}",${record.latencyMs},${record.ttftMs},"${record.status}",${errorCode === null ? 'null' : quoted(errorCode)},${record.httpStatus},${flags}${eventTail(record)}]`;
}

/** Upper bound of the bytes that the frame of a payload takes. */
export const frameBound = (payload: string): number => FRAME_BYTES + payload.length * 3;

/**
 * Writes one frame into `target`, which must have `frameBound(payload)` bytes left at `offset`.
 * @returns The offset after the frame.
 * @throws RangeError if the payload is larger than `MAX_PAYLOAD_BYTES`.
 */
export function writeFrame(target: Buffer, offset: number, payload: string): number {
  const start = offset + FRAME_BYTES;
  const length = target.write(payload, start, 'utf8');
  if (length > MAX_PAYLOAD_BYTES) throw new RangeError('record too large for the spool');
  const end = start + length;
  target.writeUInt32LE(length, offset + CRC_BYTES);
  target.writeUInt32LE(checksum(target, offset, end), offset);
  return end;
}

/** Checksum of everything in a frame after the checksum itself. */
const checksum = (bytes: Buffer, offset: number, end: number): number =>
  crc32(bytes.subarray(offset + CRC_BYTES, end));

/** The offset after the frame at `offset`, or -1 if the frame is torn or damaged. */
function frameEnd(bytes: Buffer, offset: number): number {
  if (bytes.length - offset < FRAME_BYTES) return -1;
  const length = bytes.readUInt32LE(offset + CRC_BYTES);
  const end = offset + FRAME_BYTES + length;
  if (length === 0 || length > MAX_PAYLOAD_BYTES || end > bytes.length) return -1;
  return bytes.readUInt32LE(offset) === checksum(bytes, offset, end) ? end : -1;
}

function decodePayload(text: string): SpoolEntry {
  const [kind, id, accountId, keyId, widgetId, requestedModel, endpoint, stream, at, ...rest] =
    JSON.parse(text);
  const named = kind === 'i' ? rest[0] : rest[12];
  const promptVersionId = named ?? null;
  const movedTo = (kind === 'i' ? rest[1] : rest[16]) ?? null;
  const call = { id, accountId, keyId, widgetId, requestedModel, movedTo, endpoint, stream, promptVersionId };
  if (kind === 'i') return { kind: 'intent', intent: { ...call, at } };
  const [servedModel, inputTokens, outputTokens, priceIn, priceOut, cost, latencyMs, ttftMs] = rest;
  const [status, errorCode, httpStatus, flags] = rest.slice(8);
  // Left out by older builds, and for calls without these fields.
  const [deployment = null, nodeId = null, nodeCalls = null] = rest.slice(13);
  const record: UsageRecord = {
    ...call,
    createdAt: at,
    servedModel,
    inputTokens,
    outputTokens,
    priceIn: BigInt(priceIn),
    priceOut: BigInt(priceOut),
    cost: BigInt(cost),
    latencyMs,
    ttftMs,
    status,
    errorCode,
    errorMessage: rest[17] ?? null,
    httpStatus,
    clientAborted: (flags & CLIENT_ABORTED) > 0,
    estimated: (flags & ESTIMATED) > 0,
    anomalous: (flags & ANOMALOUS) > 0,
    deployment,
    nodeId,
    nodeCalls,
  };
  return { kind: 'event', record };
}

export interface Decoded {
  entries: SpoolEntry[];
  /** Offset after the last whole frame: where a torn tail starts, or where to continue. */
  end: number;
}

/**
 * Decodes at most `limit` whole frames from `offset` on. Stops at the first that is torn or damaged. Call it again with
 * `end` to continue. Never throws.
 */
export function decodeFrames(bytes: Buffer, offset: number, limit = Number.POSITIVE_INFINITY): Decoded {
  const entries: SpoolEntry[] = [];
  let end = offset;
  while (entries.length < limit) {
    const next = frameEnd(bytes, end);
    if (next === -1) break;
    entries.push(decodePayload(bytes.toString('utf8', end + FRAME_BYTES, next)));
    end = next;
  }
  return { entries, end };
}

/**
 * Finds where to continue after damaged bytes.
 * @returns The next offset after `offset` at which a whole frame starts, or -1.
 */
export function nextFrame(bytes: Buffer, offset: number): number {
  for (let at = offset + 1; at <= bytes.length - FRAME_BYTES; at++) {
    if (frameEnd(bytes, at) !== -1) return at;
  }
  return -1;
}
