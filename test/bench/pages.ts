import { Agent, get } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from './measure.js';

/**
 * `node build/test/bench/pages.js http://localhost:8080 [seconds]`: how long a running product takes for its public pages at 200
 * requests a second, from the moment each is due. The goal is 20 ms at the 99th percentile on a machine that does nothing else.
 */
const [base = 'http://localhost:8080', seconds = '10'] = process.argv.slice(2);
const RATE = 200;
const PAGES = ['/', '/pricing', '/leaderboard', '/leaderboard/fast', '/docs/api'];

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Milliseconds from `due` to the last byte. */
const fetched = (url: string, due: number): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { agent, headers: { accept: 'text/html', 'accept-encoding': 'br' } }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${url}: ${answer.statusCode}`));
      answer.resume().once('end', () => resolve(performance.now() - due));
    }).once('error', reject);
  });

for (const path of PAGES) {
  const url = base + path;
  await fetched(url, performance.now());
  const began = performance.now();
  const taken: Promise<number>[] = [];
  for (let i = 0; i < RATE * Number(seconds); i++) {
    const due = began + (i * 1_000) / RATE;
    const wait = due - performance.now();
    if (wait > 0) await delay(wait);
    taken.push(fetched(url, due));
  }
  const times = (await Promise.all(taken)).sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((q) => quantile(times, q).toFixed(1));
  process.stdout.write(`${path}: p50 ${p50} ms, p99 ${p99} ms\n`);
}
agent.destroy();
