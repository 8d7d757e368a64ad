import { createTestDatabase } from './database.js';
import type { ProductSuite } from './product-suite.js';
import { startTestStack, type TestStack, type TestStackOptions } from './stack.js';

export interface StackSuite extends Pick<ProductSuite, 'url' | 'db' | 'signUp' | 'api' | 'settled'> {
  /** Its parts, to reach into. */
  readonly stack: TestStack;
}

/**
 * Gives a test file a database and the whole stack, closed at its end. For tests that reach into the product, such as
 * the edge's clock; tests that only make requests use the shared product (`useProduct`).
 */
export function useStack(options?: TestStackOptions): StackSuite {
  const suite = {} as { -readonly [Part in keyof StackSuite]: StackSuite[Part] };
  beforeAll(async () => {
    suite.db = await createTestDatabase();
    suite.stack = await startTestStack(suite.db, options);
    const { url, signUp, api, settled } = suite.stack;
    Object.assign(suite, { url, signUp, api, settled });
  }, 60_000);
  afterAll(async () => {
    await suite.stack?.close();
    await suite.db?.close();
  });
  return suite;
}
