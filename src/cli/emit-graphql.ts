import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createSchema, schemaText } from '../graphql/schema.js';

/**
 * Writes schema/schema.graphql. Needs no database: `node dist/cli/emit-graphql.js`. With `--accept-breaking` what it
 * wrote also becomes schema/baseline.graphql, that later changes are measured by (CONTRIBUTING.md).
 */
const SCHEMA = 'schema/schema.graphql';
const BASELINE = 'schema/baseline.graphql';

mkdirSync('schema', { recursive: true });
writeFileSync(SCHEMA, schemaText(createSchema()));
process.stdout.write(`wrote ${SCHEMA}\n`);
if (process.argv.includes('--accept-breaking')) {
  copyFileSync(SCHEMA, BASELINE);
  process.stdout.write(`wrote ${BASELINE}\n`);
}
