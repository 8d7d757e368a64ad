import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In the folder of the run (test/support/global-setup.ts), which workers know as their TMPDIR. */
const fileIn = (directory: string): string => join(directory, 'failed-workers');

/**
 * Records a worker that ends with an error, caused by something that a file left running or that can't be stopped: Jest starts
 * another one instead and reports nothing.
 */
export function noteFailure(directory: string | undefined): void {
  if (!process.send || !directory) return;
  process.on('exit', (code) => {
    if (code !== 0) appendFileSync(fileIn(directory), `process ${process.pid}: exit code ${code}\n`);
  });
}

/** The workers of a run that ended with an error, a line each. */
export function failedWorkers(directory: string): string {
  const file = fileIn(directory);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
