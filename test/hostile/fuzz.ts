import { type Credentials, framed, mutated, Random } from './fuzz-grammar.js';
import { open, statusesOf } from './raw.js';

export interface FuzzResult {
  answers: number;
  statuses: Map<number, number>;
  /** What must not be: a 5xx, a leak, no answer in time; with the bytes that caused it. */
  faults: { what: string; sent: string; got: string }[];
}

export interface FuzzOptions {
  seed: number;
  requests: number;
  credentials: Credentials;
  /** Texts that no answer may have. */
  secrets: readonly string[];
}

const CONNECTIONS = 24;
const BATCH = 24;
const MUTATED_SHARE = 0.25;
const MAX_ANSWER_MS = 10_000;
/** A run that gets no answers any more has to end by itself. */
const MAX_RUN_MS = 100_000;
/** A mutated request may promise more than it sends: nobody answers then. */
const MUTATED_PATIENCE_MS = 120;
/** Stack traces, paths, addresses and drivers' words. */
const LEAKS =
  /\n\s+at .+:\d+:\d+|node_modules|\/(?:work|tmp|home|usr|root)\/|\.[jt]s:\d+|postgres(?:ql)?:\/\/|ECONN|127\.0\.0\.1:\d|statusCode|FST_ERR|syntax error at|relation "/;
const LAST = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** Sends requests made from a seed over many connections until so many were answered. */
export async function fuzz(
  url: string,
  { seed, requests, credentials, secrets }: FuzzOptions,
): Promise<FuzzResult> {
  const result: FuzzResult = { answers: 0, statuses: new Map(), faults: [] };
  const judge = (sent: string, got: string) => {
    for (const status of statusesOf(got)) {
      result.statuses.set(status, (result.statuses.get(status) ?? 0) + 1);
      result.answers++;
      if (status >= 500) result.faults.push(fault(`status ${status}`, sent, got, `HTTP/1.1 ${status}`));
    }
    const leak = LEAKS.exec(got)?.[0] ?? secrets.find((secret) => got.includes(secret));
    if (leak !== undefined) result.faults.push(fault(`leak ${leak}`, sent, got, leak));
  };
  let index = 0;
  const end = performance.now() + MAX_RUN_MS;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (result.answers < requests && result.faults.length < 20 && performance.now() < end) {
        // Each round has a seed of its own, so that one can be repeated alone.
        const random = new Random(seed + index++ * 7_919);
        const bytes = random.chance(0.5)
          ? Array.from({ length: BATCH }, () => framed(random, credentials)).join('') + LAST
          : undefined;
        if (bytes !== undefined) {
          const { text, ms } = await talk(url, bytes, MAX_ANSWER_MS);
          if (ms >= MAX_ANSWER_MS) result.faults.push(fault('no answer', bytes, text, ''));
          judge(bytes, text);
          continue;
        }
        for (let i = 0; i < BATCH * MUTATED_SHARE; i++) {
          const sent = mutated(random, credentials);
          judge(sent, (await talk(url, sent + LAST, MUTATED_PATIENCE_MS)).text);
        }
      }
    }),
  );
  return result;
}

/** Keeps of an answer what stands around the fault; the seed gives the rest again. */
function fault(what: string, sent: string, got: string, mark: string): FuzzResult['faults'][number] {
  const at = Math.max(0, got.indexOf(mark));
  return { what, sent: sent.length < 2_000 ? sent : '', got: got.slice(Math.max(0, at - 200), at + 700) };
}

/** Writes, reads until the server closes or is silent for so long. */
function talk(url: string, bytes: string, patienceMs: number): Promise<{ text: string; ms: number }> {
  return new Promise((resolve) => {
    const started = performance.now();
    const chunks: Buffer[] = [];
    const socket = open(url);
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('close', () =>
      resolve({ text: Buffer.concat(chunks).toString('latin1'), ms: performance.now() - started }),
    );
    socket.write(bytes, 'latin1');
  });
}
