import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createSchema, schemaText } from '../graphql/schema.js';

/**
 * Writes schema/schema.graphql. Needs no database: `node dist/cli/emit-graphql.js`. With `--accept-breaking`, the schema also
 * becomes schema/baseline.graphql, which later changes are compared with (CONTRIBUTING.md).
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
