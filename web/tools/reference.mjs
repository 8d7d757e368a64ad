import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The script of the API reference, which its package bundles: served compressed and cached like all other assets. */
export function referenceScript() {
  const entry = fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference'));
  const source = readFileSync(join(dirname(entry), 'js/standalone.js'));
  const hash = createHash('sha256').update(source).digest('base64url').slice(0, 8);
  return { fileName: `assets/api-reference-${hash}.js`, source };
}
