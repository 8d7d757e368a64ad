import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The last commit before the half that carries calls was rebuilt. */
const COMMIT = 'a3d1b196';

/**
 * The folder of the checkout that answers are compared with, built: `DIFFERENTIAL_BASELINE`, or a clone of this repository
 * at that commit below the folder for temporary files, which the next run uses again.
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
  // Quick where everything is in place.
  run(process.execPath, ['scripts/bootstrap.mjs', '--quiet'], checkout);
  return checkout;
}
