import { serverSettings } from '../../src/db/embedded-settings.js';

const GB = 1024 ** 3;
const settingsOf = (memoryBytes: number) =>
  Object.fromEntries(serverSettings(false, memoryBytes).map((line) => line.split('=')));

test.each([
  ['half a GiB', 0.5, '128MB', '256MB', '4MB'],
  ['1.5 GiB', 1.5, '192MB', '768MB', '4MB'],
  ['4 GiB', 4, '256MB', '2048MB', '8MB'],
  ['64 GiB', 64, '256MB', '32768MB', '16MB'],
])('a machine of %s gives the embedded database a share of its memory', (_what, gib, shared, cache, work) => {
  expect(settingsOf(gib * GB)).toMatchObject({
    shared_buffers: shared,
    effective_cache_size: cache,
    work_mem: work,
  });
});

test('only a server for tests gives up durability', () => {
  const gaveUp = ['fsync', 'synchronous_commit', 'full_page_writes'];
  const named = (disposable: boolean) =>
    gaveUp.filter((name) => serverSettings(disposable).some((line) => line.startsWith(`${name}=`)));
  expect(named(true)).toEqual(gaveUp);
  expect(named(false)).toEqual([]);
});
