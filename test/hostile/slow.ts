import { setTimeout as delay } from 'node:timers/promises';
import { open, requestText } from './raw.js';
import type { HostileSuite } from './suite.js';

export interface SlowOptions {
  /** Half of them send headers byte by byte, half a body. */
  loris: number;
  /** They ask for a long stream and read none of it. */
  stalled: number;
  /** How long others are served meanwhile. */
  watchMs: number;
}

interface Latency {
  p50: number;
  p99: number;
}

const TRICKLE_MS = 100;

/** Runs slow clients against the edge while a good one measures; says when each slow sender was cut. */
export async function slowClients(
  { edge, caller, upstream }: HostileSuite,
  { loris, stalled, watchMs }: SlowOptions,
) {
  const bearer = `Authorization: Bearer ${caller.key}`;
  const measure = async (ms: number): Promise<Latency> => {
    const times: number[] = [];
    for (const end = performance.now() + ms; performance.now() < end; ) {
      const started = performance.now();
      const answer = await fetch(`${edge.url}/v1/models`, {
        headers: { authorization: `Bearer ${caller.key}` },
      });
      await answer.arrayBuffer();
      times.push(performance.now() - started);
    }
    times.sort((a, b) => a - b);
    return { p50: times[times.length >> 1]!, p99: times[Math.floor(times.length * 0.99)]! };
  };
  await measure(300);
  const baselineMs = await measure(1_000);
  const rss = process.memoryUsage().rss;

  const trickle = (start: string): Promise<number> =>
    new Promise((resolve) => {
      const started = performance.now();
      const socket = open(edge.url);
      socket.write(start);
      const timer = setInterval(() => socket.write('a'), TRICKLE_MS);
      socket.resume();
      socket.on('close', () => {
        clearInterval(timer);
        resolve(performance.now() - started);
      });
    });
  const chunk = `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(16_000)}"}}]}\n\n`;
  upstream.answer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let sent = 0; sent < 10_000_000 && !response.destroyed; sent += chunk.length) {
      if (!response.write(chunk))
        await new Promise((next) => response.once('drain', next).once('close', next));
    }
    response.end();
  });
  const body = '{"model":"gateway/fast","messages":[],"stream":true}';
  const readers = Array.from({ length: stalled }, () => {
    const socket = open(edge.url);
    socket.pause();
    socket.write(requestText('POST /v1/chat/completions', [bearer, `Content-Length: ${body.length}`], body));
    return socket;
  });
  const headers = Promise.all(
    Array.from({ length: loris / 2 }, () => trickle('POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX: ')),
  );
  const bodies = Promise.all(
    Array.from({ length: loris / 2 }, () =>
      trickle(requestText('POST /v1/chat/completions', [bearer, 'Content-Length: 100000'], '{"model":"')),
    ),
  );
  const duringMs = await measure(watchMs);
  const rssGrowthBytes = process.memoryUsage().rss - rss;
  const [headerTimes, bodyTimes] = await Promise.all([headers, bodies]);
  for (const socket of readers) socket.destroy();
  await delay(50);
  return {
    baselineMs,
    duringMs,
    rssGrowthBytes,
    headersCut: headerTimes.length,
    bodiesCut: bodyTimes.length,
    slowestHeadersMs: Math.max(...headerTimes),
    slowestBodyMs: Math.max(...bodyTimes),
  };
}
