import { copyFileSync, cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The packages within a package, which have entries of their own, and what only people and compilers read. */
const NOT_RUN = /^node_modules$|\.(?:d\.[cm]?ts|map|md)$/;

interface Locked {
  dev?: boolean;
  devOptional?: boolean;
}

/** Copies a package by hard links where the file system can. */
function linkPackage(source: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    if (NOT_RUN.test(entry.name)) continue;
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) linkPackage(from, to);
    else if (entry.isSymbolicLink()) cpSync(from, to, { verbatimSymlinks: true });
    else linkOrCopy(from, to);
  }
}

/** Whether the checkout and the folder lie on one file system. */
let linkable = true;

function linkOrCopy(from: string, to: string): void {
  try {
    if (linkable) linkSync(from, to);
  } catch {
    linkable = false;
  }
  // `cpSync` takes several times as long for a small file.
  if (!linkable) copyFileSync(from, to);
}

/**
 * In the place of `npm ci --omit=dev`: what the lockfile says is not for development alone, taken from this checkout's
 * own packages, and the commands among them. Nothing may write into these files: they are the checkout's.
 */
export function installProduction(folder: string): void {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
  const installed = resolve('.');
  for (const [path, { dev, devOptional }] of Object.entries(lock.packages)) {
    // Packages of other platforms stand in the lockfile and not here.
    if (path === '' || dev || devOptional || !existsSync(join(installed, path))) continue;
    linkPackage(join(installed, path), join(folder, path));
  }
  const commands = join(installed, 'node_modules/.bin');
  for (const name of readdirSync(commands)) {
    const target = join(folder, 'node_modules/.bin', name);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(commands, name), target, { verbatimSymlinks: true });
  }
}
