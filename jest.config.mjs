import { fileURLToPath } from 'node:url';

// Workers and the processes under test compile what another has compiled before only once.
process.env.NODE_COMPILE_CACHE = fileURLToPath(new URL('build/.compile-cache', import.meta.url));

/**
 * Tests run from compiled ESM in build/, on Node's own modules (docs/decisions/0080); stacks point at the .ts files by their
 * source maps.
 */
export default {
  roots: ['<rootDir>/build/test'],
  testMatch: ['**/*.test.js'],
  transform: {},
  runtime: '<rootDir>/build/test/support/jest/runtime.js',
  testEnvironment: '<rootDir>/build/test/support/jest/environment.js',
  runner: '<rootDir>/build/test/support/jest/runner.js',
  testSequencer: '<rootDir>/build/test/support/jest/sequencer.js',
  globalSetup: '<rootDir>/build/test/support/global-setup.js',
  globalTeardown: '<rootDir>/build/test/support/global-teardown.js',
  testTimeout: 30_000,
  // Each serves queues of its own first (test/support/jest/runner.ts), and waits for half of its time.
  maxWorkers: 4,
  // A worker ends by stopping what its files shared (test/support/once-per-worker.ts), while others may use all of a slow machine.
  workerGracefulExitTimeout: 60_000,
  // A test that leaves a handle open hides a leak of the product: closing is part of what is tested.
  forceExit: false,
};
