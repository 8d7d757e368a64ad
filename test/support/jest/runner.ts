import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
// Their types describe the CommonJS builds.
const { default: TestRunner } = require('jest-runner') as typeof import('jest-runner');
const { Worker } = require('jest-worker') as typeof import('jest-worker');
/** The module that runs a file in a worker. The package doesn't export it by name. */
const TEST_WORKER = join(dirname(require.resolve('jest-runner/package.json')), 'build/testWorker.js');

type Runner = InstanceType<typeof TestRunner>;
type Arguments = Parameters<Runner['runTests']>;
type Test = Arguments[0][number];
type Listening = Parameters<Runner['on']>;
type TestWorker = import('jest-worker').JestWorkerFarm<{ worker(file: object): Promise<unknown> }>;
type Queue = 'loaded' | 'browser' | 'platform' | 'edge';

/** A file belongs to the first matching queue. The longest file of a queue comes first, see sequencer.ts. */
const QUEUES: readonly (readonly [Queue, RegExp])[] = [
  // These start processes, load them and measure what callers see. Several at once would make the machine busier than
  // these files assume.
  [
    'loaded',
    /^(?:(?:journeys|hostile|faults|deploy|launcher|db|metering)\/|web\/build|proxy\/(?:doctor|process)|gateway\/(?:passed|bodies)\/)/,
  ],
  // In a browser, or with the product that the browser's files share.
  [
    'browser',
    /^(?:web\/|(?:pages|widgets)\/browser|platform\/docs-browser|playground\/(?:run|sharing)\.|admin\/running|gateway\/refused-calls|graphql\/(?:account-changed|usage-recorded|guide)\.|proxy\/simulator-context|migration\/snippets)/,
  ],
  // These share a separate product, because pasted commands change models and nodes.
  ['platform', /^(?:docs\/commands|platform\/reference-examples)/],
  ['edge', /^(?:gateway|proxy|lib|clients|live|jobs|boundaries|docs|tracing|config)\b/],
  ['platform', /^/],
];

/**
 * The queues that each worker serves, in order. One worker then starts what the files of a queue share, and a worker
 * without files helps the others, so that all end together.
 */
const WORKERS: readonly (readonly Queue[])[] = [
  ['loaded', 'edge', 'platform'],
  ['browser', 'platform', 'edge'],
  ['platform', 'edge', 'browser'],
  ['edge', 'platform', 'loaded'],
];

const queueOf = ({ path }: Test): Queue => {
  const file = path.slice(path.indexOf('/build/test/') + '/build/test/'.length);
  return QUEUES.find(([, pattern]) => pattern.test(file))![0];
};

/** Runs the whole suite on the workers above. Few files, or few workers, run as Jest runs them. */
class QueueRunner extends TestRunner {
  readonly #listeners: Listening[] = [];

  override on = ((...listening: Listening) => {
    this.#listeners.push(listening);
    return super.on(...listening);
  }) as Runner['on'];

  override async runTests(...[tests, watcher, options]: Arguments): Promise<void> {
    const queues = Object.groupBy(tests, queueOf);
    const { maxWorkers } = this._globalConfig;
    if (options.serial || maxWorkers < WORKERS.length || Object.keys(queues).length < QUEUES.length)
      return super.runTests(tests, watcher, options);
    let interrupted = false;
    let ran = 0;
    let killed = 0;
    watcher.on('change', (state) => {
      interrupted ||= state.interrupted;
    });
    await Promise.all(
      WORKERS.map(async (served) => {
        const worker = this.#worker(tests);
        const next = (): Test | undefined =>
          queues[served.find((queue) => queues[queue]!.length > 0) ?? served[0]!]!.shift();
        for (let test = next(); test && !interrupted; test = next(), ran++) await this.#run(test, worker);
        const { forceExited } = await worker.end();
        if (forceExited) killed++;
      }),
    );
    if (killed > 0)
      failWithResults(`Workers that had to be killed: ${killed}. Their files have left something running.`);
    if (!interrupted && ran < tests.length) throw new Error(`${tests.length - ran} test files did not run`);
  }

  #worker(tests: readonly Test[]): TestWorker {
    const contexts = new Map(tests.map(({ context }) => [context.config.id, context]));
    const serializableResolvers = [...contexts.values()].map(({ config, moduleMap }) => ({
      config,
      serializableModuleMap: moduleMap.toJSON(),
    }));
    const worker = new Worker(TEST_WORKER, {
      exposedMethods: ['worker'],
      forkOptions: { serialization: 'json', stdio: 'pipe' },
      numWorkers: 1,
      // A file whose process crashes has failed. Jest would run it again.
      maxRetries: 0,
      setupArgs: [{ serializableResolvers }],
      workerGracefulExitTimeout: this._globalConfig.workerGracefulExitTimeout,
    }) as TestWorker;
    worker.getStdout()?.pipe(process.stdout);
    worker.getStderr()?.pipe(process.stderr);
    return worker;
  }

  async #run(test: Test, worker: TestWorker): Promise<void> {
    await this.#emit('test-file-start', [test]);
    const running: import('jest-worker').PromiseWithCustomMessage<unknown> = worker.worker({
      config: test.context.config,
      context: { ...this._context, changedFiles: undefined, sourcesRelatedToTestsInChangedFiles: undefined },
      globalConfig: this._globalConfig,
      path: test.path,
    });
    running.UNSTABLE_onCustomMessage?.((message) => {
      const [event, data] = message as [string, unknown];
      void this.#emit(event, data);
    });
    try {
      await this.#emit('test-file-success', [test, await running]);
    } catch (error) {
      await this.#emit('test-file-failure', [test, error]);
    }
  }

  async #emit(event: string, data: unknown): Promise<void> {
    for (const [name, listener] of this.#listeners)
      if (name === event) await (listener as (data: unknown) => unknown)(data);
  }
}

/** Fails the run at its end. An exception here would lose the results of all files. */
function failWithResults(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

export { QueueRunner as 'module.exports' };
