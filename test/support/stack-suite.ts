import { createTestDatabase, type TestDatabase } from './database.js';
import { startTestStack, type TestStack, type TestStackOptions } from './stack.js';

export interface StackSuite {
  readonly db: TestDatabase;
  readonly stack: TestStack;
}

/** Gives a test file a database and the whole stack over it, closed at its end. */
export function useStack(options?: TestStackOptions): StackSuite {
  const suite = {} as { db: TestDatabase; stack: TestStack };
  beforeAll(async () => {
    suite.db = await createTestDatabase();
    suite.stack = await startTestStack(suite.db, options);
  }, 60_000);
  afterAll(async () => {
    await suite.stack?.close();
    await suite.db?.close();
  });
  return suite;
}
