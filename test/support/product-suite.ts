import { oncePerWorker } from './once-per-worker.js';
import { type ProductOptions, type RunningProduct, startProduct } from './running-product.js';

/** What a test file has of the product that it shares. */
export type ProductSuite = Omit<RunningProduct, 'expectRunning' | 'stop'>;

/** Starting everything beside the other worker and its browser. */
const START_TIMEOUT_MS = 90_000;

/** For files whose pasted commands change models and nodes: they share a product with each other alone. */
export const PASTED: ProductOptions = { env: { LOG_LEVEL: 'error' } };

/**
 * Gives a test file the worker's running product, started by the first file that wants it. Its state is everybody's: a test
 * looks at accounts of its own, and leaves the invariants of the money whole. A file with options shares with those that
 * have equal ones.
 */
export function useProduct(options: ProductOptions = {}): ProductSuite {
  const suite = {} as RunningProduct;
  beforeAll(async () => {
    const key = `product ${JSON.stringify(Object.entries(options.env ?? {}).toSorted())}`;
    Object.assign(
      suite,
      await oncePerWorker(
        key,
        () => startProduct(options),
        (product) => product.stop(),
      ),
    );
    // Without this a process that has ended would be told by timeouts alone.
    suite.expectRunning();
  }, START_TIMEOUT_MS);
  afterAll(() => suite.expectRunning?.());
  return suite;
}
