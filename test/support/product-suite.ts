import { oncePerWorker } from './once-per-worker.js';
import { type ProductOptions, type RunningProduct, startProduct } from './running-product.js';

/** The shared product, as a test file sees it. */
export type ProductSuite = Omit<RunningProduct, 'expectRunning' | 'stop'>;

/** Time to start everything while another worker and its browser run. */
const START_TIMEOUT_MS = 90_000;

/** For files whose pasted commands change models and nodes, and which therefore share a separate product. */
export const PASTED: ProductOptions = { env: { LOG_LEVEL: 'error' } };

/**
 * Gives a test file the worker's running product, started by the first file that uses it. Its state is shared: a test
 * looks at its own accounts only, and keeps the invariants of the money intact. A file with options shares with files that
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
    // Without this, only timeouts would show that a process has ended.
    suite.expectRunning();
  }, START_TIMEOUT_MS);
  afterAll(() => suite.expectRunning?.());
  return suite;
}
