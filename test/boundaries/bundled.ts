import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inDist } from '../support/dist.js';

const IMPORT = /\b(?:from|import)\s*\(?"(\.{1,2}\/[^"]+\.js)"/g;

/** Sources of everything that a bundled program loads from `dist/bundle`, by the source maps of its chunks. */
export function bundledSources(program: string): string[] {
  const sources = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    // What the bundler adds by itself has no source.
    if (existsSync(`${file}.map`)) {
      const map = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: string[] };
      for (const source of map.sources) sources.add(source);
    }
    for (const [, next] of readFileSync(file, 'utf8').matchAll(IMPORT)) visit(join(dirname(file), next!));
  };
  visit(inDist(program));
  return [...sources];
}
