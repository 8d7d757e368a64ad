import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
/** What is built, whole or not at all; served from memory by src/pages/web-build.ts. */
export const output = resolve(root, 'dist/web');
/** Typed documents, made anew by each build and not committed. */
export const generated = resolve(root, 'web/generated');

/** A path as it reads on every machine: from the repository, with slashes. */
export const fromRoot = (path) => path.slice(root.length + 1).replaceAll(sep, '/');
