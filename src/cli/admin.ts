import { loadConfigOrExit } from '../config.js';
import { AppError } from '../errors.js';
import { commandLineContext, runCommand, UsageError } from './admin/commands.js';
import { withDatabase } from './database.js';

/**
 * `npm run admin -- COMMAND`: the administrators' REST operations, for anyone with a shell on the server. Prints JSON. Exit code
 * 1 if a command was refused, 2 without a database, 78 for an unknown command.
 */
const HELP = `Usage: npm run admin -- COMMAND [NAME=VALUE ...]

  users [search=TEXT] [limit=N] [offset=N]
  user EMAIL|ID [plan=NAME] [status=active|disabled] [role=user|admin]
  credit EMAIL|ID amount_usd=AMOUNT reason=TEXT [idempotency_key=KEY]
  nodes
  register-node name=… provider=… region=… gpu_type=… hourly_cost_usd=… endpoint_url=…
  node ID [status=active|draining|offline] [name=… hourly_cost_usd=… endpoint_url=…]
  delete-node ID
  actions [subject_id=ID] [action=NAME] [actor_id=ID] [limit=N] [offset=N]
  jobs
  routing
`;
const EXIT_CONFIG = 78;

try {
  const config = loadConfigOrExit('cli');
  await withDatabase(config, 'admin', async (orm) => {
    const result = await runCommand(commandLineContext(orm), config, process.argv.slice(2));
    if (result !== undefined) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  });
} catch (error) {
  process.stderr.write(`admin: ${(error as Error).message}\n`);
  if (error instanceof UsageError) process.stderr.write(`\n${HELP}`);
  if (error instanceof AppError) {
    for (const { field, message } of error.options.details ?? [])
      process.stderr.write(`  ${field} ${message}\n`);
  }
  process.exitCode = error instanceof UsageError ? EXIT_CONFIG : error instanceof AppError ? 1 : 2;
}
