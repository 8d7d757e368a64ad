import type { MikroORM } from '@mikro-orm/postgresql';
import { loadConfigOrExit } from '../config.js';
import { localContext } from '../context.js';
import { createLogger } from '../lib/logger.js';
import { runAudit } from '../services/audit/audit.service.js';
import { withDatabase } from './database.js';

/** `npm run audit`: checks every invariant of the money. Exit code 1 if one is violated, 2 if it can't be checked. */
const config = loadConfigOrExit('cli');

async function audit(orm: MikroORM): Promise<number> {
  const log = createLogger('audit', 'silent');
  const findings = await runAudit(localContext({ em: orm.em.fork(), log, network: 'cli' }));
  for (const { invariant, violations, subjects } of findings) {
    const sample = violations > 0 ? `\n    ${subjects.join('\n    ')}` : '';
    process.stdout.write(
      `${String(violations).padStart(6)}  ${invariant.name.padEnd(15)} ${invariant.guarantee}${sample}\n`,
    );
  }
  const broken = findings.filter(({ violations }) => violations > 0).length;
  process.stdout.write(`${findings.length} invariants checked, ${broken} violated\n`);
  return broken > 0 ? 1 : 0;
}

try {
  process.exitCode = await withDatabase(config, 'audit', audit);
} catch (error) {
  process.stderr.write(`audit: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
