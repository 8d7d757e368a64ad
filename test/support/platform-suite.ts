import { createTestDatabase, type TestDatabase } from './database.js';
import { oncePerWorker } from './once-per-worker.js';
import { startTestPlatform, type TestPlatform, type TestPlatformOptions } from './platform.js';

export interface PlatformSuite {
  readonly db: TestDatabase;
  readonly platform: TestPlatform;
  /** The platform's address. */
  readonly url: string;
}

export interface PlatformSuiteOptions extends TestPlatformOptions {
  /** A separate database and platform, for a file that looks at or changes global state. */
  own?: true;
}

interface Rig {
  db: TestDatabase;
  platform: TestPlatform;
}

/**
 * Gives a test file a platform over a database. Without options, or with `env` alone, both are the worker's: files that
 * use the same `env` share a platform, and all files the database. They are separated by their accounts: an email or a name
 * that a test looks for must be its own, and rows that a test writes must be like the product's, since lists of other
 * files may show them. With any other option, both belong to the file and are closed at its end.
 *
 * Options that are known only after another `beforeAll` come from a function, and both then belong to the file.
 */
export function usePlatform(
  options: PlatformSuiteOptions | (() => PlatformSuiteOptions) = {},
): PlatformSuite {
  const isOwn = typeof options === 'function' || Object.keys(options).some((name) => name !== 'env');
  let rig: Rig | undefined;
  beforeAll(async () => {
    const given = typeof options === 'function' ? options() : options;
    rig = isOwn ? await startOwn(given) : await startShared(given.env);
  }, 60_000);
  if (isOwn) {
    afterAll(async () => {
      await rig?.platform.close();
      await rig?.db.close();
    });
  }
  const started = (): Rig => {
    if (!rig) throw new Error('the platform starts in a beforeAll: it is there within hooks and tests');
    return rig;
  };
  return {
    get db() {
      return started().db;
    },
    get platform() {
      return started().platform;
    },
    get url() {
      return started().platform.url;
    },
  };
}

async function startOwn({ own: _own, ...options }: PlatformSuiteOptions): Promise<Rig> {
  const db = await createTestDatabase();
  try {
    return { db, platform: await startTestPlatform(db, options) };
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function startShared(env: Record<string, string> = {}): Promise<Rig> {
  const db = await oncePerWorker('database', createTestDatabase, (database) => database.close());
  const platform = await oncePerWorker(
    `platform ${JSON.stringify(Object.entries(env).sort())}`,
    () => startTestPlatform(db, { env }),
    (running) => running.close(),
  );
  return { db, platform };
}
