import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { openApiText } from './openapi-document.js';

/** Writes schema/openapi.json. Needs no database: `node dist/cli/emit-openapi.js [path]`. */
const path = resolve(process.argv[2] ?? 'schema/openapi.json');
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, await openApiText());
process.stdout.write(`wrote ${path}\n`);
