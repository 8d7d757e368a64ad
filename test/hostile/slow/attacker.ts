import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { open, requestText } from '../raw.js';
import type { Cuts } from './messages.js';

/**
 * Slow clients, in a process of their own. Arguments: address, key, how many send byte by byte (half of them headers,
 * half a body), how many ask for a long stream and take none of it. Each message is answered with who was cut so far.
 */
const [url, key, loris, stalled] = process.argv.slice(2) as [string, string, string, string];
const TRICKLE_MS = 500;
/** Connections at once and the time between: as many as the system's queue takes. */
const STEP = 50;
const STEP_MS = 25;
/** 200 MB: the system alone takes some 10 MB on the way. */
const ORDER = { n: 1_000_000, words: 20_000, wordBytes: 10_000 };

const bearer = `Authorization: Bearer ${key}`;
const cuts: Cuts = { headersMs: [], bodiesMs: [], open: 0 };
const senders = new Set<Socket>();
const readers: Socket[] = [];

function trickle(start: string, list: number[]): void {
  const started = performance.now();
  const socket = open(url);
  socket.write(start);
  socket.resume();
  senders.add(socket);
  socket.on('close', () => {
    senders.delete(socket);
    list.push(performance.now() - started);
  });
}

function stall(i: number): void {
  const messages = [{ role: 'user', content: JSON.stringify({ ...ORDER, n: ORDER.n + i }) }];
  const body = JSON.stringify({ model: 'gateway/fast', messages, stream: true });
  const socket = open(url);
  socket.pause();
  socket.write(requestText('POST /v1/chat/completions', [bearer, `Content-Length: ${body.length}`], body));
  readers.push(socket);
}

process.on('message', () => process.send?.({ ...cuts, open: senders.size } satisfies Cuts));
process.on('disconnect', () => process.exit(0));
setInterval(() => {
  for (const socket of senders) socket.write('a');
}, TRICKLE_MS);

const total = Number(loris) + Number(stalled);
for (let i = 0; i < total; i++) {
  if (i >= Number(loris)) stall(i);
  else if (i % 2 === 0) trickle('POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX: ', cuts.headersMs);
  else
    trickle(
      requestText('POST /v1/chat/completions', [bearer, 'Content-Length: 100000'], '{"model":"'),
      cuts.bodiesMs,
    );
  if (i % STEP === STEP - 1) await pause(STEP_MS);
}
process.send?.({ ...cuts, open: senders.size } satisfies Cuts);
