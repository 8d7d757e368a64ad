import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The last commit before the calls' half of the product was rebuilt. */
const COMMIT = 'a3d1b196';

/**
 * Returns the folder of the built baseline checkout: `DIFFERENTIAL_BASELINE`, or a clone of this repository
 * at that commit in the temporary folder, which the next run reuses.
 */
export function baseline(): string {
  const given = process.env.DIFFERENTIAL_BASELINE;
  if (given) return given;
  const run = (program: string, args: string[], cwd = '.'): void => {
    execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  };
  const folder = join(tmpdir(), `gateway-baseline-${COMMIT}`);
  const checkout = join(folder, 'checkout');
  if (!existsSync(checkout)) {
    mkdirSync(folder, { recursive: true });
    const draft = `${checkout}.${process.pid}`;
    run('git', ['clone', '--quiet', '--no-checkout', '.', draft]);
    run('git', ['checkout', '--quiet', '--detach', COMMIT], draft);
    renameSync(draft, checkout);
  }
  // Quick if everything is built.
  run(process.execPath, ['scripts/bootstrap.mjs', '--quiet'], checkout);
  return checkout;
}
