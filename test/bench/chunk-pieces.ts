import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { V1Recipient } from '../../src/gateway/v1-recipient.js';
import type { StreamAnswer } from '../../src/inference/relay/relay-stream.js';
import type { inspectBody } from '../../src/inference/request/request-body.js';
import type { FrameReader } from '../../src/lib/link/frame-reader.js';
import { KIND } from '../../src/lib/link/frames.js';
import type { LinkCall } from '../../src/lib/link/link-call.js';
import type { Outbox } from '../../src/lib/link/outbox.js';
import type { LinkedCaller } from '../../src/proxy/link/linked-caller.js';
import type { SseRestamper } from '../../src/proxy/restamp.js';

/** A stream's way through both hops without sockets, of one build: what our own code costs per chunk. */

export const CHUNKS = 100;
/** Chunks that leave the proxy in one write, as under load. */
const PER_WRITE = 14;
const MODEL = 'gateway/fast';
const usage = { prompt_tokens: 40, completion_tokens: CHUNKS, total_tokens: 40 + CHUNKS };
const base = { id: 'chatcmpl-bench', created: 1_790_000_000, model: MODEL, object: 'chat.completion.chunk' };
const event = (choices: object[], rest: object = {}): string =>
  `data: ${JSON.stringify({ ...base, choices, ...rest })}\n\n`;
const EVENTS = [
  ...Array.from({ length: CHUNKS }, (_, index) =>
    event([{ index: 0, delta: { content: `token-${index} ` }, finish_reason: null }]),
  ),
  `${event([], { usage })}data: [DONE]\n\n`,
];
const READS = EVENTS.map((text) => Buffer.from(text));

const nothing = (): void => undefined;
const fail = (failure: unknown): never => {
  throw new Error(`not what a plain stream gives: ${JSON.stringify(failure)}`);
};

interface Classes {
  SseRestamper: typeof SseRestamper;
  LinkedCaller: typeof LinkedCaller;
  Outbox: typeof Outbox;
  FrameReader: typeof FrameReader;
  LinkCall: typeof LinkCall;
  StreamAnswer: typeof StreamAnswer;
  V1Recipient: typeof V1Recipient;
  inspectBody: typeof inspectBody;
}
const FILES = [
  'lib/link/outbox.js',
  'lib/link/frame-reader.js',
  'lib/link/link-call.js',
  'proxy/restamp.js',
  'proxy/link/linked-caller.js',
  'inference/relay/relay-stream.js',
  'inference/request/request-body.js',
  'gateway/v1-recipient.js',
];

/** A socket that takes everything. */
const socketTo = (write: (bytes: Buffer) => void) =>
  ({ writable: true, writableLength: 0, cork: nothing, uncork: nothing, write: taken(write) }) as never;
const taken = (write: (bytes: Buffer) => void) => (bytes: Buffer) => {
  write(bytes);
  return true;
};

/** The proxy's part: from a node's events to the writes of the link. */
function proxyPart(classes: Classes, write: (bytes: Buffer) => void): void {
  const { SseRestamper, LinkedCaller, Outbox } = classes;
  const outbox = new Outbox(socketTo(write));
  const caller = new LinkedCaller(0, { outbox, queue: nothing, over: nothing });
  caller.servedBy('fast/a');
  const restamper = new SseRestamper(MODEL, fail);
  const onData = (bytes: Buffer): void => {
    const pieces: Buffer[] = [];
    restamper.push(bytes, pieces);
    caller.send(pieces);
  };
  READS.forEach((read, index) => {
    onData(read);
    if (index % PER_WRITE === 0) outbox.flush();
  });
  caller.endStream();
  outbox.flush();
}

/** The edge's part: from the reads of the link to the writes of a client's connection. */
function edgePart(classes: Classes, body: unknown, reads: readonly Buffer[]): void {
  const { FrameReader, LinkCall, StreamAnswer, V1Recipient } = classes;
  const socket = socketTo(nothing);
  const response = { req: { headers: {}, socket }, socket, chunkedEncoding: true, on: nothing };
  const writes = { writeHead: nothing, cork: nothing, uncork: nothing, write: taken(nothing), end: nothing };
  const admission = { model: { publicName: MODEL } };
  const input = { id: 'bench', endpoint: 'chat', body, admission } as never;
  const recipient = new V1Recipient({ ...response, ...writes } as never, input, {} as never);
  const context = {
    requestId: 'bench',
    servedModel: (name: string) => name,
    dropped: nothing,
    sent: nothing,
  };
  const call = { input, succeed: nothing, fail, firstToken: nothing };
  const answer = new StreamAnswer({ ...context, fail } as never, recipient, call as never);
  const handler = {
    patience: { headersTimeoutMs: 60_000, bodyTimeoutMs: 60_000 },
    get movedOn() {
      return answer.movedOn;
    },
    onHead: nothing,
    onData: (bytes: Buffer) => void answer.data(bytes),
    onEnd: nothing,
    onError: fail,
  };
  const link = { cancel: nothing, credit: nothing, later: nothing, lookBy: nothing };
  const linkCall = new LinkCall(0, {} as never, Buffer.alloc(0), handler as never, link);
  const reader = new FrameReader((kind, _id, payload, own) => {
    if (kind === KIND.head) linkCall.onHead(payload);
    else if (kind === KIND.data) linkCall.onData(payload, own);
    else linkCall.onOver('end');
  });
  for (const read of reads) reader.read(read);
}

/** What carries a stream of `CHUNKS` chunks, by its name. */
export async function chunkPiecesOf(dist: string): Promise<Record<'proxy' | 'edge', () => void>> {
  const modules = await Promise.all(
    FILES.map((path) => import(pathToFileURL(join(resolve(dist), path)).href) as Promise<object>),
  );
  const classes = Object.assign({}, ...modules) as Classes;
  const asked = { model: MODEL, stream: true, messages: [{ role: 'user', content: 'Hi' }] };
  const body = classes.inspectBody(Buffer.from(JSON.stringify(asked)), new Set());
  const writes: Buffer[] = [];
  proxyPart(classes, (bytes) => writes.push(Buffer.from(bytes)));
  return {
    proxy: () => proxyPart(classes, nothing),
    edge: () => edgePart(classes, body, writes),
  };
}
