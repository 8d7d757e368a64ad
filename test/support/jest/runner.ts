import { createRequire } from 'node:module';

// Its types describe the CommonJS build.
const { default: TestRunner } = createRequire(import.meta.url)('jest-runner') as typeof import('jest-runner');
type Runner = InstanceType<typeof TestRunner>;
type Arguments = Parameters<Runner['runTests']>;
type Listening = Parameters<Runner['on']>;
type Constructed = ConstructorParameters<typeof TestRunner>;

/**
 * Files that start processes of their own, load them and measure what callers see. They wait for most of their time, but more
 * than two of them at once would be a busier machine than any that they are about.
 */
const LOADED =
  /\/build\/test\/(?:(?:journeys|hostile|faults|deploy|launcher|db|metering)\/|web\/build|proxy\/(?:doctor|process)|gateway\/(?:passed|bodies)\/)/;
/** Files that could run anywhere. The workers of the loaded files take them afterwards: all lanes then end together. */
const AFTERWARDS =
  /\/build\/test\/(?:platform|accounts|alerts|billing|analytics|keys|live|proxy|lib|jobs|clients|boundaries)\//;
/** Files in a browser, and those of GraphQL: what these share is started by one worker only. */
const PLATFORM = /\/build\/test\/(?:web|graphql)\//;

/** Lanes side by side, each with workers of its own: half of them for the loaded files, a quarter for the platform's. */
class Lanes extends TestRunner {
  readonly #config: Constructed[0];
  readonly #context: Constructed[1];
  readonly #listeners: Listening[] = [];

  constructor(...[config, context]: Constructed) {
    super(config, context);
    this.#config = config;
    this.#context = context;
  }

  override on = ((...listening: Listening) => {
    this.#listeners.push(listening);
    return super.on(...listening);
  }) as Runner['on'];

  override async runTests(...[tests, watcher, options]: Arguments): Promise<void> {
    const { maxWorkers } = this.#config;
    const loaded = tests.filter(({ path }) => LOADED.test(path) || AFTERWARDS.test(path));
    const rest = tests.filter((one) => !loaded.includes(one));
    const platform = rest.filter(({ path }) => PLATFORM.test(path));
    const others = rest.filter(({ path }) => !PLATFORM.test(path));
    const lanes = [loaded, platform, others].filter((files) => files.length > 0);
    if (options.serial || maxWorkers < 4 || lanes.length < 2) return super.runTests(tests, watcher, options);
    const quarter = Math.floor(maxWorkers / 4);
    await Promise.all(
      lanes.map((files) =>
        this.#lane(files === loaded ? maxWorkers - 2 * quarter : quarter).runTests(files, watcher, options),
      ),
    );
  }

  /** A runner with so many workers. Who listens to this one hears of its files. */
  #lane(maxWorkers: number): Runner {
    const lane = new TestRunner({ ...this.#config, maxWorkers }, this.#context);
    for (const listening of this.#listeners) lane.on(...listening);
    return lane;
  }
}

export { Lanes as 'module.exports' };
