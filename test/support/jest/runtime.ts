import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Stopwatch } from './times.js';
import { noteFailure } from './worker-failures.js';

const require = createRequire(import.meta.url);
const BUILD = join(import.meta.dirname, '..', '..', '..');

/** The global names under which jest-circus keeps its handlers and its state, both per file. */
const HANDLERS = Symbol.for('EVENT_HANDLERS');
const STATE = 'JEST_STATE_SYMBOL';

/** Compiled files and their source maps: stacks name the .ts files. */
const sourceMaps: ReadonlyMap<string, string> = new Map(
  readdirSync(BUILD, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js.map'))
    .map((name) => [join(BUILD, name.slice(0, -'.map'.length)), join(BUILD, name)]),
);

const imported = new Set<string>();

noteFailure(process.env.TMPDIR);

/**
 * A Jest runtime on Node's own modules (docs/decisions/0080). Jest's runtime loads every module again for every test file, a
 * second or three for files that use the platform. Here a module is loaded once per worker, as in the product, so what a
 * module keeps is kept between files. Everything else is Jest's: circus, limits of time, workers, reports.
 */
export class NativeRuntime {
  /** Circus is loaded again for each file. Its state and handlers would otherwise add up. */
  requireInternalModule(path: string): unknown {
    this.#forget();
    delete require.cache[path];
    return require(path);
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  /** A file that runs again in the same process (`--watch`) is read again. */
  async unstable_importModule(path: string): Promise<void> {
    const again = imported.has(path) ? `?${imported.size}-${Date.now()}` : '';
    imported.add(path);
    await Stopwatch.loading(() => import(`${pathToFileURL(path).href}${again}`));
  }

  requireModule(path: string): unknown {
    return require(path);
  }

  getSourceMaps(): ReadonlyMap<string, string> {
    return sourceMaps;
  }

  teardown(): void {
    this.#forget();
  }

  // The following differences don't exist here: globals are the worker's, coverage is Node's (NODE_V8_COVERAGE).
  setGlobalsForRuntime(): void {}
  enterTestCode(): void {}
  leaveTestCode(): void {}
  resetModules(): void {}
  clearAllMocks(): void {}
  resetAllMocks(): void {}
  restoreAllMocks(): void {}
  getAllCoverageInfoCopy(): undefined {}
  async collectV8Coverage(): Promise<void> {
    throw new Error('--coverage is not supported: run npm test with NODE_V8_COVERAGE=<folder>');
  }

  #forget(): void {
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (symbol === HANDLERS || symbol.description === STATE) Reflect.deleteProperty(globalThis, symbol);
    }
  }
}

export { NativeRuntime as 'module.exports' };
