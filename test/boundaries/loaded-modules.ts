import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** Folder of the compiled sources that these tests run. */
export const compiled = fileURLToPath(new URL('../../src', import.meta.url));

/** Every compiled file below a folder. */
export function compiledFiles(folder = compiled): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** What a compiled file imports from our own code, as paths. */
export function ownImports(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^(?:import|export)\b[^'"]*?['"](\.[^'"]+)['"];$/gm)].map(([, specifier]) =>
    fileURLToPath(new URL(specifier!, pathToFileURL(file))),
  );
}

/**
 * Loads modules in a process of its own and tells every file that Node loaded for them, packages of packages
 * included: what counts is what happens, not what an analysis of the text believes.
 */
export async function loadedBy(files: readonly string[]): Promise<string[]> {
  const code = `
    import { registerHooks } from 'node:module';
    const seen = new Set();
    registerHooks({ load(url, context, next) { seen.add(url); return next(url, context); } });
    for (const file of ${JSON.stringify(files.map((file) => pathToFileURL(file).href))}) await import(file);
    process.stdout.write(JSON.stringify([...seen]), () => process.exit(0));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout) as string[];
}

/** Names of the packages among loaded files. */
export function packagesOf(urls: readonly string[]): string[] {
  const names = urls.flatMap((url) => url.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []);
  return [...new Set(names)].sort();
}
