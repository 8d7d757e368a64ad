import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import type { JsonAnswer } from '../../src/inference/relay/relay-json.js';
import type { StreamAnswer } from '../../src/inference/relay/relay-stream.js';
import type { ResponseSink } from '../../src/inference/relay/response-sink.js';
import type { inspectBody } from '../../src/inference/request/request-body.js';
import type { JsonJob } from '../../src/lib/json-reader.js';
import { median, quantile } from './measure.js';

/**
 * `node build/test/bench/pieces.js <dist> [<dist of another build>]`: microseconds that an edge of each build spends on
 * reading a body, a whole answer and a chunk of a stream, without sockets and database. Both are builds of about the same sources. They take turns in bursts of a few hundred microseconds,
 * the shortest of which no neighbour has disturbed: a busy machine moves it by a few percent.
 */
const CHUNKS = 100;
const ROUNDS = 3_000;
const WARM_ROUNDS = 1_000;
const ID = '019aa000-0000-7000-8000-000000000000';

const usage = { prompt_tokens: 40, completion_tokens: 100, total_tokens: 140 };
const base = { id: 'chatcmpl-bench', created: 1_790_000_000, model: 'gateway/fast' };
const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const message = { role: 'assistant', content: 'word '.repeat(70).trim() };
const ANSWER = json({
  ...base,
  object: 'chat.completion',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage,
});
const event = (choices: object[], rest: object = {}): string =>
  `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, ...rest })}\n\n`;
const EVENTS = Array.from({ length: CHUNKS }, (_, index) =>
  Buffer.from(event([{ index: 0, delta: { content: `token-${index} ` }, finish_reason: null }])),
);
const LAST = Buffer.from(`${event([], { usage })}data: [DONE]\n\n`);
const BODY = json({
  model: base.model,
  messages: [
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: 'Say something about the weather. '.repeat(4).trim() },
  ],
  temperature: 0.5,
});

interface Classes {
  JsonAnswer: typeof JsonAnswer;
  StreamAnswer: typeof StreamAnswer;
  inspectBody: typeof inspectBody;
}
const NAMES = ['body', 'answer', 'chunk'] as const;
type Pieces = Record<(typeof NAMES)[number], () => void>;

const nothing = (): void => undefined;
const yes = (): boolean => true;
const fail = (failure: unknown): never => {
  throw new Error(`not what a plain answer gives: ${JSON.stringify(failure)}`);
};

/** Stubs of a response's relay, call and sink, for a case without errors. */
function surroundings(body: unknown) {
  const context = {
    ...{ requestId: ID, servedModel: (name: string) => name, keep: yes, shrink: nothing },
    json: { read: (_owner: string, job: JsonJob<object, object>, input: object) => job.run(input) },
    models: new Set([base.model]),
    answerRoom: 0,
    whole: (read: () => Promise<void>) => void read(),
  };
  const rest = { dropped: nothing, fail, refuse: fail, unrecorded: fail, sent: nothing };
  const payer = { account: { id: ID } };
  const input = { id: ID, endpoint: 'chat', body, payer, admission: { model: { publicName: base.model } } };
  const recipient: Pick<ResponseSink, 'full' | 'answer' | 'startStream' | 'send' | 'endStream'> = {
    full: false,
    answer: nothing,
    startStream: nothing,
    send: nothing,
    endStream: nothing,
  };
  return {
    context: { ...context, ...rest } as never,
    // Builds before 1.1.0 call it `firstToken`.
    call: { input, succeed: nothing, fail: nothing, noteToken: nothing, firstToken: nothing } as never,
    recipient: recipient as never,
  };
}

async function piecesOf(dist: string): Promise<Pieces> {
  const load = (path: string) => import(pathToFileURL(join(resolve(dist), 'inference', path)).href);
  const [relayJson, relayStream, requestBody] = await Promise.all(
    ['relay/relay-json.js', 'relay/relay-stream.js', 'request/request-body.js'].map(load),
  );
  const { JsonAnswer, StreamAnswer, inspectBody }: Classes = {
    ...relayJson,
    ...relayStream,
    ...requestBody,
  };
  const allowed = new Set<string>();
  const { context, call, recipient } = surroundings(inspectBody(BODY, allowed));
  const repeated = (run: () => void) => (): void => {
    for (let i = 0; i < CHUNKS; i++) run();
  };
  return {
    body: repeated(() => inspectBody(BODY, allowed)),
    answer: repeated(() => {
      const answer = new JsonAnswer(context, recipient, call);
      answer.data(ANSWER);
      answer.end();
    }),
    chunk() {
      const answer = new StreamAnswer(context, recipient, call);
      for (const chunk of EVENTS) answer.data(chunk);
      answer.data(LAST);
    },
  };
}

const dists = process.argv.slice(2);
if (dists.length === 0) throw new Error('name the folder of at least one build');
const builds: { dist: string; pieces: Pieces; times: Record<keyof Pieces, number[]> }[] = [];
for (const dist of dists) {
  const times = { body: [], answer: [], chunk: [] };
  builds.push({ dist, pieces: await piecesOf(dist), times });
}
for (let round = 0; round < ROUNDS; round++) {
  for (const { pieces, times } of builds) {
    for (const name of NAMES) {
      const began = performance.now();
      pieces[name]();
      if (round >= WARM_ROUNDS) times[name].push(((performance.now() - began) * 1_000) / CHUNKS);
    }
  }
}
for (const name of NAMES) {
  for (const { dist, times } of builds) {
    const figures = [quantile(times[name], 0), quantile(times[name], 0.2), median(times[name])];
    const [least, fifth, middle] = figures.map((figure) => figure.toFixed(2));
    process.stdout.write(
      `${name.padEnd(7)} least ${least} µs, a fifth below ${fifth}, median ${middle}: ${dist}\n`,
    );
  }
}
