import { createRequire } from 'node:module';

// Its types describe the CommonJS build.
const { default: TestRunner } = createRequire(import.meta.url)('jest-runner') as typeof import('jest-runner');
type Runner = InstanceType<typeof TestRunner>;
type Arguments = Parameters<Runner['runTests']>;
type Listening = Parameters<Runner['on']>;
type Constructed = ConstructorParameters<typeof TestRunner>;

/** Files that start processes of their own, load them and measure what callers see. */
const LOADED = /\/build\/test\/(?:(?:journeys|hostile|faults|deploy|launcher|db)\/|web\/build)/;

/**
 * Two lanes side by side: files that start processes and load them, with half of the workers, and all others. The first wait
 * for most of their time, but more of them at once would be a busier machine than any that they are about.
 */
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
    const loaded = tests.filter(({ path }) => LOADED.test(path));
    const others = tests.filter(({ path }) => !LOADED.test(path));
    if (options.serial || maxWorkers < 2 || loaded.length === 0 || others.length === 0) {
      return super.runTests(tests, watcher, options);
    }
    const half = Math.floor(maxWorkers / 2);
    await Promise.all([
      this.#lane(half).runTests(loaded, watcher, options),
      this.#lane(maxWorkers - half).runTests(others, watcher, options),
    ]);
  }

  /** A runner with so many workers. Who listens to this one hears of its files. */
  #lane(maxWorkers: number): Runner {
    const lane = new TestRunner({ ...this.#config, maxWorkers }, this.#context);
    for (const listening of this.#listeners) lane.on(...listening);
    return lane;
  }
}

export { Lanes as 'module.exports' };
