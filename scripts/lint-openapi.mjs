/**
 * Checks schema/openapi.json by the recommended rules of Redocly; `npm run conformance` adds Spectral's. Part of `npm run check`; a
 * warning fails it too.
 *
 *   node scripts/lint-openapi.mjs [path]
 */
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const path = process.argv[2] ?? 'schema/openapi.json';
const text = readFileSync(path, 'utf8');

/** Paths that are required as they are. No request fits both: one has GET, the one below an id has POST and DELETE. */
const MEANT = /^no-ambiguous-paths .*`\/api\/playground\/shared\/\{slug\}`/;

async function redoclyFaults() {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, absoluteRef: path, config });
  return problems
    .map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`)
    .filter((fault) => !MEANT.test(fault));
}

const faults = await redoclyFaults();
for (const fault of faults) process.stderr.write(`${path}: redocly ${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
