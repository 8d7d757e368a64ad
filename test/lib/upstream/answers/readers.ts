import { Agent, request as nodeRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { Client } from 'undici';
import { ResponseReader } from '../../../../src/lib/upstream/response-reader.js';

/** What a client made of an answer and the end of its connection. */
export interface Reading {
  /** Whether the answer came whole. */
  accepted: boolean;
  /** Of an answer that came whole. */
  body: string;
  /** Whether the connection was kept for another call before the server closed it. */
  reused: boolean;
}

/** Reads an answer that arrives in these pieces, before the server closes the connection. */
export type Reader = (pieces: readonly Buffer[]) => Promise<Reading>;

/** A connection without a network: what a server sends is pushed into it. */
class Wire extends Duplex {
  override _read(): void {}
  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
  }
  setTimeout = (): this => this;
  setNoDelay = (): this => this;
  setKeepAlive = (): this => this;
  ref = (): this => this;
  unref = (): this => this;
}

/** Turns of the event loop until both clients have settled what a piece brought. */
const SETTLING_TURNS = 2;

async function settle(): Promise<void> {
  for (let i = 0; i < SETTLING_TURNS; i++) await turn();
}

async function send(wire: Wire, pieces: readonly Buffer[]): Promise<void> {
  // The request leaves first.
  await settle();
  for (const piece of pieces) {
    if (wire.destroyed) return;
    wire.push(piece);
    await turn();
  }
  await settle();
}

/** Our client's. What its connection does with an answer's end is tested over sockets in client.test.ts. */
export const ours: Reader = (pieces) => {
  const body: string[] = [];
  const reader = new ResponseReader({
    onHead: () => undefined,
    onData: (chunk) => body.push(chunk.toString('latin1')),
  });
  let reused = false;
  try {
    let isSpokenTo = false;
    for (const piece of pieces) {
      if (reader.done) isSpokenTo = true;
      else reader.read(Buffer.from(piece));
    }
    reused = reader.idleMs > 0 && !isSpokenTo;
    reader.end();
  } catch {
    return Promise.resolve({ accepted: false, body: '', reused: false });
  }
  return Promise.resolve({ accepted: true, body: body.join(''), reused });
};

/** node:http's client, which reads by llhttp. */
export const nodes: Reader = async (pieces) => {
  const wire = new Wire();
  const agent = new Agent({ keepAlive: true });
  agent.createConnection = () => wire;
  let accepted = false;
  const body: string[] = [];
  const request = nodeRequest({ agent, method: 'POST', host: 'x', headers: { 'content-length': 2 } });
  request.on('response', (response) => {
    response.on('data', (chunk: Buffer) => body.push(chunk.toString('latin1')));
    response.on('end', () => {
      accepted = response.complete;
    });
    response.on('error', () => undefined);
  });
  request.on('error', () => undefined);
  // Its listener gets the connection: no answer comes any more.
  request.on('upgrade', (_response, socket) => socket.destroy());
  request.end('{}');
  await send(wire, pieces);
  const free = Object.values(agent.freeSockets).flat() as unknown[];
  const reused = free.includes(wire) && !wire.destroyed;
  wire.push(null);
  await settle();
  wire.destroy();
  return { accepted, body: accepted ? body.join('') : '', reused };
};

/** undici's, which reads by llhttp as well, with rules of its own around it. */
export const undicis: Reader = async (pieces) => {
  const wire = new Wire();
  let connections = 0;
  const client = new Client('http://x', {
    // As long before the server's time as ours and Node's.
    keepAliveTimeoutThreshold: 1_000,
    connect: (_options, done) => {
      if (++connections > 1) done(new Error('one is enough'), null);
      else queueMicrotask(() => done(null, wire as unknown as Socket));
    },
  });
  let accepted = false;
  const body: string[] = [];
  client.request({ path: '/', method: 'POST', body: '{}' }, (error, answer) => {
    if (error) return;
    answer.body
      .on('data', (chunk: Buffer) => body.push(chunk.toString('latin1')))
      .on('end', () => {
        accepted = true;
      })
      .on('error', () => undefined);
  });
  await send(wire, pieces);
  const reused = accepted && !wire.destroyed;
  if (!wire.destroyed) wire.push(null);
  await settle();
  wire.destroy();
  client.destroy(() => undefined);
  return { accepted, body: accepted ? body.join('') : '', reused };
};
