import { loadConfigOrExit } from './config.js';
import { launch } from './launcher/launch.js';
import { createReporter } from './launcher/reporter.js';

/** `npm start`: everything on one address, from nothing. */
const config = loadConfigOrExit('launcher');
// A reader that goes away (`npm start | head`) must not take the service along.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

const reporter = createReporter(process.stdout, process.stdout.isTTY && !config.environment.NO_COLOR);
reporter.title('Inference gateway');
// The lock names this process as soon as it is launched.
process.on('SIGUSR2', () => launcher.restartEdges());
const launcher = launch({ config, reporter });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => launcher.stop(signal));
// Not left to run out: whatever a library still holds must not keep the terminal.
process.exit(await launcher.ended);
