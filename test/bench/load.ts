import { performance } from 'node:perf_hooks';
import { type Answer, Connection, type Listener } from './connection.js';
import type { Job, Result, Target } from './jobs.js';

/** The load generator: a separate process that runs one job at a time, as ordered by its parent. */

const PROMPT = 'Say something about the weather. '.repeat(4).trim();
const message = (extra: object, text = PROMPT): string =>
  JSON.stringify({
    model: 'gateway/fast',
    messages: [
      { role: 'system', content: 'You are brief.' },
      { role: 'user', content: text },
    ],
    ...extra,
  });
const PLAIN = message({ temperature: 0.5 });
const STREAM = message({ stream: true });
const SHORT_STREAM = message({ stream: true }, 'bench-short');
const IDLE_STREAM = message({ stream: true }, 'bench-idle');
/** A generator that is behind its own schedule would measure itself. */
const TICK_MS = 1;
const JOB_TIMEOUT_MS = 60_000;
/** How many of the responses other than 200 are reported. */
const LISTED_FAILURES = 5;

const newResult = (): Result => ({ answers: 0, bad: 0, ms: 0, latencies: [], ids: [], failures: [] });

/** Counts a response. Its job decides whether it is correct. */
function count(result: Result, { status, id, text }: Answer, isGood = true): void {
  result.answers++;
  if (status === 200 && id !== '') result.ids.push(id);
  if (status === 200 && isGood) return;
  result.bad++;
  if (result.failures.length < LISTED_FAILURES) result.failures.push(`${status} ${id} ${text}`.trim());
}

let turn = 0;
/** Each call presents another key, as through a balancer: what a server remembers of a connection helps it less than of one client. */
const nextKey = (target: Target): string => target.keys[turn++ % target.keys.length]!;
const heads = new Map<string, string>();

function headOf(target: Target, key: string, body: string): string {
  const name = `${target.port} ${key} ${body.length}`;
  let head = heads.get(name);
  if (head === undefined) {
    head = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${target.port}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${target.headers}\r\n`;
    heads.set(name, head);
  }
  return head;
}

/** Connections that are free, opened as needed. */
class Connections {
  readonly #all: Connection[] = [];
  readonly #free: Connection[] = [];

  constructor(private readonly target: Target) {}

  send(body: string, listener: Listener): void {
    let connection = this.#free.pop();
    while (connection?.closed) connection = this.#free.pop();
    if (!connection) {
      connection = new Connection(this.target.port);
      this.#all.push(connection);
    }
    const used = connection;
    used.request(headOf(this.target, nextKey(this.target), body), body, {
      body: listener.body,
      end: (answer) => {
        if (!used.closed) this.#free.push(used);
        listener.end(answer);
      },
    });
  }

  destroy(): void {
    for (const connection of this.#all) connection.destroy();
  }
}

const ignore = (): void => undefined;

function saturate(job: Extract<Job, { kind: 'saturate' }>): Promise<Result> {
  const connections = new Connections(job.target);
  const result: Result = newResult();
  const start = performance.now();
  let open = 0;
  return new Promise((resolve) => {
    const next = (): void => {
      if (performance.now() - start < job.ms) {
        open++;
        connections.send(PLAIN, { body: ignore, end });
      } else if (open === 0) {
        connections.destroy();
        resolve({ ...result, ms: performance.now() - start });
      }
    };
    const end = (answer: Answer): void => {
      open--;
      count(result, answer);
      next();
    };
    for (let i = 0; i < job.connections; i++) next();
  });
}

interface Pacing {
  target: Target;
  perSecond: number;
  ms: number;
  body: string;
  /** Whether to measure the first bytes, or the whole response. */
  first: boolean;
}

function paced({ target, perSecond, ms, body, first }: Pacing): Promise<Result> {
  const connections = new Connections(target);
  const result: Result = newResult();
  const start = performance.now();
  const total = Math.floor((perSecond * ms) / 1000);
  let sent = 0;
  const send = (): void => {
    const began = performance.now();
    let measured = false;
    const measure = (): void => {
      if (!measured) result.latencies.push(performance.now() - began);
      measured = true;
    };
    connections.send(body, {
      body: first ? measure : ignore,
      end: (answer) => {
        measure();
        count(result, answer);
      },
    });
  };
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - start) * perSecond) / 1000));
      while (sent < due) {
        sent++;
        send();
      }
      if (result.answers < total) return;
      clearInterval(timer);
      connections.destroy();
      resolve({ ...result, ms: performance.now() - start });
    }, TICK_MS);
  });
}

/** Whether a stream has every chunk in order, each in a separate event, and its end. */
function isWhole(text: string, chunks: number): boolean {
  const events = text.split('\n\n').filter((event) => event !== '');
  if (events.pop() !== 'data: [DONE]' || events.length !== chunks) return false;
  return events.every((event, index) => event.includes(`"token-${index} "`));
}

function streams(job: Extract<Job, { kind: 'streams' }>): Promise<Result> {
  const connections = new Connections(job.target);
  const result: Result = newResult();
  const start = performance.now();
  return new Promise((resolve) => {
    for (let i = 0; i < job.count; i++) {
      const parts: string[] = [];
      connections.send(STREAM, {
        body: (text) => parts.push(text),
        end: (answer) => {
          count(result, answer, isWhole(parts.join(''), job.chunks));
          if (result.answers < job.count) return;
          connections.destroy();
          resolve({ ...result, ms: performance.now() - start });
        },
      });
    }
  });
}

let held: Connection[] = [];

/** Opens some streams at a time, so that no accept queue overflows. */
function hold(job: Extract<Job, { kind: 'hold' }>): Promise<Result> {
  const result: Result = newResult();
  return new Promise((resolve) => {
    const open = (): void => {
      if (held.length === job.count) return;
      const connection = new Connection(job.target.port);
      held.push(connection);
      let begun = false;
      connection.request(headOf(job.target, nextKey(job.target), IDLE_STREAM), IDLE_STREAM, {
        body: () => {
          if (begun) return;
          begun = true;
          count(result, { status: connection.status, id: connection.id, text: 'in place of a stream' });
          if (result.answers === job.count) resolve(result);
          else open();
        },
        end: ({ status, text }) => {
          result.bad++;
          result.failures.push(`an open stream ended: ${status} ${text}`);
          if (!begun) resolve(result);
        },
      });
    };
    for (let i = 0; i < 32; i++) open();
  });
}

function release(): Promise<Result> {
  for (const connection of held) connection.destroy();
  held = [];
  return Promise.resolve(newResult());
}

function run(job: Job): Promise<Result> {
  switch (job.kind) {
    case 'saturate':
      return saturate(job);
    case 'paced':
      return paced({ ...job, body: PLAIN, first: false });
    case 'first-bytes':
      return paced({ ...job, body: SHORT_STREAM, first: true });
    case 'streams':
      return streams(job);
    case 'hold':
      return hold(job);
    case 'release':
      return release();
  }
}

process.on('message', (job: Job) => {
  const limit = setTimeout(() => {
    process.stderr.write(`bench: the ${job.kind} job did not stop within ${JOB_TIMEOUT_MS / 1000} s\n`);
    process.exit(1);
  }, JOB_TIMEOUT_MS);
  void run(job).then((result) => {
    clearTimeout(limit);
    process.send?.(result);
  });
});
process.on('disconnect', () => process.exit(0));
