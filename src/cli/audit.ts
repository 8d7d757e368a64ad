import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfigOrExit } from '../config.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../db/embedded.js';
import { openOrm } from '../db/orm.js';
import { systemClock } from '../lib/clock.js';
import { createLogger } from '../lib/logger.js';
import { runAudit } from '../services/audit/audit.service.js';

/** `npm run audit`: checks every invariant of the money. Exit code 1 when one is violated, 2 when it can't look. */
const config = loadConfigOrExit('launcher');

async function audit(databaseUrl: string): Promise<number> {
  const orm = await openOrm({ databaseUrl, processName: 'audit', poolSize: 1 });
  try {
    const findings = await runAudit({
      viewer: null,
      em: orm.em.fork(),
      clock: systemClock,
      log: createLogger('audit', 'silent'),
      network: 'cli',
      loopback: true,
    });
    for (const { invariant, violations, subjects } of findings) {
      const sample = violations > 0 ? `\n    ${subjects.join('\n    ')}` : '';
      process.stdout.write(
        `${String(violations).padStart(6)}  ${invariant.name.padEnd(15)} ${invariant.guarantee}${sample}\n`,
      );
    }
    const broken = findings.filter(({ violations }) => violations > 0).length;
    process.stdout.write(`${findings.length} invariants checked, ${broken} violated\n`);
    return broken > 0 ? 1 : 0;
  } finally {
    await orm.close(true);
  }
}

/** The database of `npm start` in DATA_DIR; started for the occasion where it doesn't run. */
async function openEmbedded(): Promise<EmbeddedPostgres> {
  const directory = join(config.dataDir, 'postgres');
  if (!existsSync(join(directory, 'PG_VERSION'))) {
    throw new Error(`there is no database in ${config.dataDir}: set DATABASE_URL or DATA_DIR`);
  }
  return startEmbeddedPostgres({ directory });
}

let embedded: EmbeddedPostgres | undefined;
try {
  embedded = config.databaseUrl === null ? await openEmbedded() : undefined;
  process.exitCode = await audit(config.databaseUrl ?? embedded!.url('gateway'));
} catch (error) {
  process.stderr.write(`audit: ${(error as Error).message}\n`);
  process.exitCode = 2;
} finally {
  // One that was running already belongs to `npm start`.
  if (embedded && embedded.origin !== 'adopted') await embedded.stop();
}
