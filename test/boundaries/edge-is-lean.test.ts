import { basename, join } from 'node:path';
import { bundledSources } from './bundled.js';
import { compiled, compiledFiles, loadedBy, ownImports, packagesOf } from './loaded-modules.js';

const HEAVY = [
  /^graphql(-ws)?$/,
  /^@apollo\//,
  /^type-graphql$/,
  /^react(-dom)?$/,
  /^(@mantine|@urql|@graphql-yoga)\//,
  /^class-validator$/,
  /^agenda$/,
  /^@fastify\/swagger/,
];

/** What the worker thread loads by and by. */
const WORKER_JOBS = [
  ...['inference/request/read-request.js', 'inference/relay/read-answer.js', 'gateway/widget/read-chat.js'],
  ...[
    'gateway/widget/read-widget-answer.js',
    'gateway/responses/read-request.js',
    'gateway/responses/response-state.js',
  ],
].map((name) => join(compiled, name));

describe('the edge', () => {
  test('loads nothing of what only the platform needs, not even through a package', async () => {
    const files = compiledFiles(join(compiled, 'gateway'));
    const main = files.find((file) => basename(file) === 'main.js')!;
    // main.js itself would start to listen: what it imports is loaded instead.
    const loaded = await loadedBy([...files.filter((file) => file !== main), ...ownImports(main)]);
    const packages = packagesOf(loaded);
    expect(packages).toContain('undici');
    expect(packages.filter((name) => HEAVY.some((pattern) => pattern.test(name)))).toEqual([]);
    const own = loaded.filter((url) => !url.includes('/node_modules/'));
    expect(own.filter((url) => /\/src\/(?:graphql|rest|pages|platform|jobs)\//.test(url))).toEqual([]);
    // Of the proxy only what starts a simulator where one is wanted.
    expect(own.filter((url) => url.includes('/src/proxy/')).map((url) => basename(url))).toEqual([
      'on-demand.js',
    ]);
    // Migrations are for those who migrate, Redis for who has one.
    expect(own.filter((url) => url.includes('/src/db/migrations/'))).toEqual([]);
    expect(packages).not.toContain('ioredis');
  });

  test('loads nothing that traces, until an endpoint for traces is set', async () => {
    const files = compiledFiles(join(compiled, 'gateway'));
    const main = files.find((file) => basename(file) === 'main.js')!;
    const loaded = await loadedBy([...files.filter((file) => file !== main), ...ownImports(main)]);
    const names = loaded.filter((url) => url.includes('/lib/tracing/')).map((url) => basename(url));
    expect(names.filter((name) => /create-tracing|otlp-exporter/.test(name))).toEqual([]);
    expect(names).toContain('open-tracing.js');
  });

  test('is bundled without any of it', () => {
    const packages = packagesOf(bundledSources('gateway/main.js'));
    expect(packages).toContain('undici');
    expect(packages.filter((name) => HEAVY.some((pattern) => pattern.test(name)))).toEqual([]);
    // The instrument sees it where it is.
    expect(packagesOf(bundledSources('platform/main.js'))).toContain('graphql');
  });

  test('has a worker thread that loads hardly a package', async () => {
    const loaded = await loadedBy([join(compiled, 'worker/main.js'), ...WORKER_JOBS]);
    expect(packagesOf(loaded)).toEqual(['ipaddr.js', 'zod']);
    expect(packagesOf(bundledSources('worker/main.js'))).toEqual(['ipaddr.js', 'zod']);
  });

  test('would be caught: the instrument sees a package behind a package', async () => {
    const packages = packagesOf(await loadedBy([join(compiled, 'jobs/kit.js')]));
    expect(packages).toContain('agenda');
    // Imported by Agenda only.
    expect(packages).toContain('cron-parser');
  });
});
