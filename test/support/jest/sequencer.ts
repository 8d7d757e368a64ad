import { createRequire } from 'node:module';

// Its types describe the CommonJS build.
const { default: Sequencer } = createRequire(import.meta.url)(
  '@jest/test-sequencer',
) as typeof import('@jest/test-sequencer');
type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

/** What starts processes and waits for them takes longest: a run ends with its last file, so these begin. */
const FIRST = [
  'journeys',
  'hostile',
  'faults',
  'web',
  'deploy',
  'launcher',
  'gateway/limits',
  'db',
  'metering',
  'gateway',
];

const rank = (path: string): number => {
  const found = FIRST.findIndex((folder) => path.includes(`/build/test/${folder}/`));
  return found < 0 ? FIRST.length : found;
};

/** Jest's order is by the durations of the last run, which a fresh clone doesn't know. */
class LongestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const known = tests.every(({ duration }) => duration !== undefined);
    const sorted = await super.sort(tests);
    return known ? sorted : sorted.sort((a, b) => rank(a.path) - rank(b.path));
  }
}

export { LongestFirst as 'module.exports' };
