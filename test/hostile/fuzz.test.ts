import { readFileSync } from 'node:fs';
import { checkInvariants } from '../support/invariants.js';
import { seedFrom } from '../support/seed.js';
import { sized } from '../support/size.js';
import { until } from '../support/until.js';
import { type Fault, fuzz } from './fuzz/fuzz.js';
import { faultOf } from './fuzz/judge.js';
import { type FuzzRig, startFuzzRig } from './fuzz/target.js';
import { converse } from './fuzz/wire.js';

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? sized(1_200, 50_000));
const KEPT_REQUESTS = sized(150, 1_000);
const seed = seedFrom('FUZZ_SEED');
const round = process.env.FUZZ_ROUND === undefined ? undefined : Number(process.env.FUZZ_ROUND);

interface Corpus {
  /** Of runs that once found something. */
  seeds: number[];
  /** What was found, one character per byte; `{key}`, `{user}` and `{admin}` stand for credentials. */
  requests: { found: string; method: string; text: string }[];
}
const corpus = JSON.parse(readFileSync('test/hostile/fuzz/corpus.json', 'utf8')) as Corpus;

/** Requirement G18: 0 crashes, 0 undeclared 5xx, 0 stack traces, 0 answers over 10 s. */
describe('whatever is sent to the public port', () => {
  let target: FuzzRig;
  beforeAll(async () => {
    process.stderr.write(`fuzz: FUZZ_SEED=${seed}\n`);
    target = await startFuzzRig('fuzz');
  }, 60_000);
  afterAll(() => target?.close(), 60_000);

  const reached = new Set<number>();
  const run = async (from: number, requests: number) => {
    const result = await fuzz(target, { seed: from, requests, round });
    expect(result.faults.slice(0, 3)).toEqual<Fault[]>([]);
    if (round === undefined) expect(result.answers).toBeGreaterThanOrEqual(requests);
    for (const status of result.statuses.keys()) reached.add(status);
    return result;
  };

  test('is answered as declared: kept requests', async () => {
    for (const { found, method, text } of corpus.requests) {
      const filled = text.replace(/\{(key|user|admin)\}/g, (_all, who: 'key') => target.credentials[who]);
      const { answers, broken } = await converse(target.url, [{ method, text: filled }], 1);
      const faults = [broken, ...answers.map((answer) => faultOf(answer, target.secrets)), target.dead()];
      expect([found, faults.filter(Boolean)]).toEqual([found, []]);
    }
  });

  test.each(corpus.seeds)(
    'is answered as declared: kept seed %i',
    async (kept) => {
      await run(kept, KEPT_REQUESTS);
    },
    60_000,
  );

  test(`is answered as declared: ${REQUESTS} requests, FUZZ_SEED=${seed}`, async () => {
    const started = performance.now();
    const { statuses, answers, slowestMs } = await run(seed, REQUESTS);
    const perSecond = (answers / (performance.now() - started)) * 1_000;
    process.stderr.write(
      `fuzz: ${answers} answers, ${perSecond.toFixed(0)}/s, slowest ${slowestMs.toFixed(0)} ms, ${JSON.stringify([...statuses].sort())}\n`,
    );
    if (round !== undefined) return;
    // What was sent reached every depth: parsers, guards, validation, services, the model. Some are rare.
    const depths = [200, 201, 204, 400, 401, 403, 404, 413, 415, 422];
    for (let more = 1; more <= 20 && depths.some((status) => !reached.has(status)); more++)
      await run(seed + more, KEPT_REQUESTS);
    expect([...reached]).toEqual(expect.arrayContaining(depths));
    expect((await fetch(`${target.url}/health`)).status).toBe(200);
  }, 300_000);

  test('loses and invents no money', async () => {
    await until(async () => (await checkInvariants(target.rig.postgres.pool)).length === 0, {
      what: 'invariants that hold',
    });
  });
});
