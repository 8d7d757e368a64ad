import { FrameError } from './frames.js';

/** What an `open` says of its call. */
export interface OpenFrame {
  endpoint: Endpoint;
  /** Value of the `Authorization` header that the call would have had. */
  authorization: string;
  traceparent: string | undefined;
  bodyBytes: number;
  /** The body, or its beginning; a view of what was read. */
  body: Buffer;
}

export type Endpoint = 'chat' | 'embeddings';

const FIXED_BYTES = 8;
/** Far above what a key and a trace need; a call with more goes over HTTP. */
const MAX_AUTHORIZATION_BYTES = 4_096;
const MAX_TRACEPARENT_BYTES = 255;
const EMBEDDINGS = 1;

type OpenHead = Pick<OpenFrame, 'endpoint' | 'authorization' | 'traceparent'>;

/** Bytes of an `open` before its body; undefined: no frame takes it. */
export function openHeadBytes({ authorization, traceparent = '' }: OpenHead): number | undefined {
  if (authorization.length > MAX_AUTHORIZATION_BYTES || traceparent.length > MAX_TRACEPARENT_BYTES)
    return undefined;
  return FIXED_BYTES + authorization.length + traceparent.length;
}

/** Writes them into `target` at `at`. Both texts are latin1. */
export function writeOpenHead(target: Buffer, at: number, head: OpenHead, bodyBytes: number): void {
  const { authorization, traceparent = '' } = head;
  target[at] = head.endpoint === 'embeddings' ? EMBEDDINGS : 0;
  target.writeUInt32BE(bodyBytes, at + 1);
  target.writeUInt16BE(authorization.length, at + 5);
  target[at + 7] = traceparent.length;
  target.write(authorization, at + FIXED_BYTES, 'latin1');
  if (traceparent !== '') target.write(traceparent, at + FIXED_BYTES + authorization.length, 'latin1');
}

/** Reads an `open`. @throws FrameError */
export function readOpen(payload: Buffer): OpenFrame {
  if (payload.length < FIXED_BYTES) throw new FrameError('an open that is too short');
  const bodyBytes = payload.readUInt32BE(1);
  const authorizationEnd = FIXED_BYTES + payload.readUInt16BE(5);
  const headEnd = authorizationEnd + payload[7]!;
  const inFrame = payload.length - headEnd;
  if (payload[0]! > EMBEDDINGS || inFrame < 0 || inFrame > bodyBytes)
    throw new FrameError('an open that contradicts itself');
  return {
    endpoint: payload[0] === EMBEDDINGS ? 'embeddings' : 'chat',
    authorization: payload.toString('latin1', FIXED_BYTES, authorizationEnd),
    traceparent:
      headEnd > authorizationEnd ? payload.toString('latin1', authorizationEnd, headEnd) : undefined,
    bodyBytes,
    body: payload.subarray(headEnd),
  };
}
