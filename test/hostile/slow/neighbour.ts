import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Latency } from './messages.js';

/**
 * A caller who does nothing wrong, in a process of its own so that it waits for nobody but the product. Arguments:
 * address and key. Each message is answered with what it measured since the last.
 */
const [url, key] = process.argv.slice(2) as [string, string];
const WORKERS = 4;
const PAUSE_MS = 15;
const agent = new Agent({ keepAlive: true });

const CALLS: readonly [string, string, string | undefined][] = [
  ['GET', '/v1/models', undefined],
  [
    'POST',
    '/v1/chat/completions',
    JSON.stringify({ model: 'gateway/fast', messages: [{ role: 'user', content: '{"n":0,"words":3}' }] }),
  ],
];

let times: number[] = [];

function call(method: string, path: string, body: string | undefined): Promise<void> {
  return new Promise((resolve) => {
    const started = performance.now();
    const sent = request(`${url}${path}`, {
      method,
      agent,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    });
    sent.on('response', (response) => {
      // Anything but an answer of the usual kind counts as one that never came.
      if (response.statusCode !== 200) times.push(Number.POSITIVE_INFINITY);
      response.resume().on('end', () => {
        times.push(performance.now() - started);
        resolve();
      });
    });
    sent.on('error', () => {
      times.push(Number.POSITIVE_INFINITY);
      resolve();
    });
    sent.end(body);
  });
}

process.on('message', () => {
  const sorted = times.sort((a, b) => a - b);
  times = [];
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  process.send?.({ requests: sorted.length, p50: at(0.5), p99: at(0.99) } satisfies Latency);
});
process.on('disconnect', () => process.exit(0));

for (let worker = 0; worker < WORKERS; worker++) {
  void (async () => {
    for (let i = worker; ; i++) {
      await call(...CALLS[i % CALLS.length]!);
      await pause(PAUSE_MS);
    }
  })();
}
