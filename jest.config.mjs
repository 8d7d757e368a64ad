/** Tests run from compiled ESM in build/; stacks and coverage point at the .ts files by their source maps. */
export default {
  roots: ['<rootDir>/build/test'],
  testMatch: ['**/*.test.js'],
  transform: {},
  globalSetup: '<rootDir>/build/test/support/global-setup.js',
  globalTeardown: '<rootDir>/build/test/support/global-teardown.js',
  testTimeout: 30_000,
  maxWorkers: 2,
  // What a test file has loaded stays in its worker, which by the end would spend a tenth of the time on collecting it.
  workerIdleMemoryLimit: '700MB',
  coverageProvider: 'v8',
  // A test that leaves a handle open hides a leak of the product: closing is part of what is tested.
  forceExit: false,
};
