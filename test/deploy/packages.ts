import { copyFileSync, cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Excluded from a copy: nested packages, which have their own entries, and files for people and compilers only. */
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

/** Whether the checkout and the folder are on one file system. */
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
 * Instead of `npm ci --omit=dev`: the lockfile's packages that are not only for development, from this checkout's
 * packages, with their commands. The files belong to the checkout, so nothing may write to them.
 */
export function installProduction(folder: string): void {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
  const installed = resolve('.');
  for (const [path, { dev, devOptional }] of Object.entries(lock.packages)) {
    // The lockfile also lists packages of other platforms, which are not installed here.
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
