import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// Its types describe the CommonJS build.
const { default: Sequencer } = createRequire(import.meta.url)(
  '@jest/test-sequencer',
) as typeof import('@jest/test-sequencer');
type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

/** Seconds by file, as measured by `npm run test:times`. Slow files only. */
function measured(): Map<string, number> {
  const rows = readFileSync('docs/testing.md', 'utf8').matchAll(/^\| ([\w/-]+) \| ([\d.]+) \|/gm);
  return new Map([...rows].map(([, file, seconds]) => [file!, Number(seconds)]));
}

const nameOf = (path: string): string => path.replace(/.*\/build\/test\//, '').replace(/\.test\.js$/, '');

/** Jest orders files by the durations of the last run, which a fresh clone doesn't have. */
class LongestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const sorted = await super.sort(tests);
    if (tests.every(({ duration }) => duration !== undefined)) return sorted;
    const seconds = measured();
    const secondsOf = ({ path }: Tests[number]): number => seconds.get(nameOf(path)) ?? 0;
    return sorted.sort((a, b) => secondsOf(b) - secondsOf(a));
  }
}

export { LongestFirst as 'module.exports' };
