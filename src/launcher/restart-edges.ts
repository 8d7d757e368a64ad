import { dataDirOrExit } from '../config.js';
import { dataDirLock, holderOf, isCommand } from '../lib/lock-file.js';

/**
 * `npm run restart:edges`: asks the launcher that runs from DATA_DIR to restart its edges one by one. A signal to
 * `npm start` doesn't reach it: npm passes on SIGINT and SIGTERM, and ends by any other. Exit code 1 when nothing runs there.
 */
const dataDir = dataDirOrExit();
const holder = holderOf(dataDirLock(dataDir));

function faultOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EPERM')
    return `process ${holder!.pid} belongs to another user: run this as that user, or as root`;
  return code === 'ESRCH' ? `process ${holder!.pid} has just ended` : message;
}

try {
  // A command such as `npm run audit` would end by the signal.
  if (!holder || isCommand(holder))
    throw new Error(`nothing runs from ${dataDir}. Set DATA_DIR to that of npm start, on the same machine`);
  process.kill(holder.pid, 'SIGUSR2');
  process.stdout.write(
    `asked process ${holder.pid} (${holder.note}) to restart its edges one by one; its output says when that is done\n`,
  );
} catch (error) {
  process.stderr.write(`restart:edges: ${faultOf(error)}\n`);
  process.exitCode = 1;
}
