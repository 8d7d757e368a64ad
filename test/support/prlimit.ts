import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Path of util-linux's prlimit, which sets limits of running processes. Undefined if missing, as on macOS. */
export const PRLIMIT = ['/usr/bin/prlimit', '/bin/prlimit'].find((path) => existsSync(path));

/** How many files a process may have open. */
export const openFilesOf = (pid: number): number =>
  Number(prlimit(pid, '--nofile', '--output=SOFT', '--noheadings'));

/** Sets this limit as a soft one, which can be raised again. */
export const limitOpenFiles = (pid: number, files: number): void => void prlimit(pid, `--nofile=${files}:`);

const prlimit = (pid: number, ...options: string[]): string =>
  execFileSync(PRLIMIT!, ['--pid', String(pid), ...options], { encoding: 'utf8' });

/** Sets how many bytes a file may have to which a process writes, as a soft limit. */
export const limitFileSize = (pid: number, bytes: number | 'unlimited'): void =>
  void prlimit(pid, `--fsize=${bytes}:`);
