/**
 * Checks schema/openapi.json by the default rules of Redocly and Spectral. Part of `npm run check`; a warning fails it too.
 *
 *   node scripts/lint-openapi.mjs [path]
 */
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

const path = process.argv[2] ?? 'schema/openapi.json';
const text = readFileSync(path, 'utf8');

/** Addresses that SPEC gives. No request fits both: one is asked by GET, what stands behind an id by POST and DELETE. */
const MEANT = /^no-ambiguous-paths .*`\/api\/playground\/shared\/\{slug\}`/;

async function redoclyFaults() {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, absoluteRef: path, config });
  return problems
    .map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`)
    .filter((fault) => !MEANT.test(fault));
}

async function spectralFaults() {
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset({ extends: [spectralRulesets.oas] });
  const results = await spectral.run(JSON.parse(text));
  return results.map(({ code, message, path: place }) => `${code} #/${place.join('/')}: ${message}`);
}

const faults = [
  ...(await redoclyFaults()).map((fault) => `redocly ${fault}`),
  ...(await spectralFaults()).map((fault) => `spectral ${fault}`),
];
for (const fault of faults) process.stderr.write(`${path}: ${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
