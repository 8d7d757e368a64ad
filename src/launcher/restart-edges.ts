import { dataDirOrExit } from '../config.js';
import { dataDirLock, holderOf, isCommand } from '../lib/lock-file.js';

/**
 * `npm run restart:edges`: asks the launcher that runs from DATA_DIR to restart its edges one by one. Exit code 1 if none runs
 * there. Signalling npm instead doesn't work: it forwards SIGINT and SIGTERM only, and other signals end it.
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
  // The signal would end a command such as `npm run audit`.
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
