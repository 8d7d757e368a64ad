import { FACTOR } from '../../support/jest/patience.js';
import { sized } from '../../support/size.js';
import { statusesOf } from '../raw.js';
import { faultOf, leakIn } from './judge.js';
import { Random } from './random.js';
import { type Credentials, type FuzzRequest, type Round, roundOf } from './requests.js';
import { type Answer, blurt, converse } from './wire.js';

/** What is fuzzed. */
export interface FuzzTarget {
  url: string;
  credentials: Credentials;
  /** Texts that no answer may have. */
  secrets: readonly string[];
  /** Which process has ended, with its last words; undefined while all live. */
  dead(): string | undefined;
  /** Starts again what has ended. */
  revive(): Promise<void>;
}

/** What must not be, with all it takes to see it again. */
export interface Fault {
  what: string;
  seed: number;
  round: number;
  request: string;
  answer: string;
}

export interface FuzzResult {
  answers: number;
  statuses: Map<number, number>;
  slowestMs: number;
  faults: Fault[];
}

export interface FuzzOptions {
  seed: number;
  /** How many are answered at least. */
  requests: number;
  /** Only this round. */
  round?: number | undefined;
}

/**
 * Half of the rounds wait for the end of connections that make no sense: it takes many of them to keep two cores busy. Where
 * other tests do that, an answer is not to wait for its turn.
 */
const AT_ONCE = sized(12, 32);
const DEPTHS = [1, 4, 24];
const MOST_FAULTS = 20;
const SHOWN = 1_500;
const LAST = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
/** A run that gets no answers any more has to end by itself. */
const MAX_RUN_MS_PER_REQUEST = 20;

interface Running {
  index: number;
  round: Round;
}

/** Sends requests made from a seed until so many were answered. */
export async function fuzz(target: FuzzTarget, { seed, requests, round }: FuzzOptions): Promise<FuzzResult> {
  const result: FuzzResult = { answers: 0, statuses: new Map(), slowestMs: 0, faults: [] };
  const running = new Set<Running>();
  let index = round ?? 0;
  let crashed = false;
  const end = performance.now() + FACTOR * (20_000 + requests * MAX_RUN_MS_PER_REQUEST);
  const more = (): boolean =>
    round === undefined
      ? result.answers < requests && result.faults.length < MOST_FAULTS && performance.now() < end && !crashed
      : index === round;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (more()) {
        const one: Running = { index, round: roundOf(seed, index, target.credentials) };
        index++;
        running.add(one);
        await (one.round.framed ? framed : mutated)(target, seed, one, result);
        // What was under way when a process ended stays in the set: one of them did it.
        if (crashed || target.dead() !== undefined) crashed = true;
        else running.delete(one);
      }
    }),
  );
  if (crashed) result.faults = [await culprit(target, seed, [...running]), ...result.faults];
  return result;
}

function note(result: FuzzResult, status: number): void {
  result.statuses.set(status, (result.statuses.get(status) ?? 0) + 1);
  result.answers++;
}

async function framed(
  target: FuzzTarget,
  seed: number,
  { index, round: { requests } }: Running,
  result: FuzzResult,
): Promise<void> {
  const depth = new Random(seed + index).pick(DEPTHS);
  const { answers, broken } = await converse(target.url, requests, depth);
  const blame = (what: string, request: FuzzRequest | undefined, answer?: Answer): void => {
    result.faults.push({
      what,
      seed,
      round: index,
      request: shown(request?.text ?? ''),
      answer: answer ? shown(`${answer.head}\r\n\r\n${answer.body}`) : '',
    });
  };
  for (const [i, answer] of answers.entries()) {
    note(result, answer.status);
    result.slowestMs = Math.max(result.slowestMs, answer.ms);
    const what = faultOf(answer, target.secrets);
    if (what !== undefined) blame(what, requests[i], answer);
  }
  if (broken !== undefined) blame(broken, requests[answers.length]);
}

async function mutated(
  target: FuzzTarget,
  seed: number,
  { index, round: { requests } }: Running,
  result: FuzzResult,
): Promise<void> {
  await Promise.all(
    requests.map(async ({ text: sent }) => {
      const { text, broken } = await blurt(target.url, sent + LAST);
      const statuses = statusesOf(text);
      for (const status of statuses) note(result, status);
      const wrong = statuses.find((status) => status >= 500);
      const what = broken ?? (wrong === undefined ? leakIn(text, target.secrets) : `status ${wrong}`);
      if (what !== undefined) {
        result.faults.push({ what, seed, round: index, request: shown(sent), answer: shown(text) });
      }
    }),
  );
}

const shown = (text: string): string =>
  text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… (${text.length} bytes)`;

/** Which of the requests that were under way ends a process: each is sent alone to processes that live. */
async function culprit(target: FuzzTarget, seed: number, running: readonly Running[]): Promise<Fault> {
  const words = target.dead() ?? 'a process ended';
  for (const { index, round } of running) {
    for (const request of round.requests) {
      await target.revive();
      await blurt(target.url, request.text);
      if (target.dead() === undefined) continue;
      const fault = { what: `crash: ${words}`, seed, round: index, request: shown(request.text), answer: '' };
      await target.revive();
      return fault;
    }
  }
  await target.revive();
  const rounds = running.map(({ index }) => index);
  return {
    what: `crash, by no single request of the rounds ${rounds.join()}: ${words}`,
    seed,
    round: rounds[0] ?? 0,
    request: '',
    answer: '',
  };
}
