import { loadConfigOrExit } from './config.js';
import { launch } from './launcher/launch.js';
import { createReporter } from './launcher/reporter.js';
import { collectWhenIdle } from './lib/collect-when-idle.js';

/** `npm start`: everything on one address, from nothing. */
const config = loadConfigOrExit('launcher');
// A closed pipe (`npm start | head`) must not end the service.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

const reporter = createReporter(process.stdout, process.stdout.isTTY && !config.environment.NO_COLOR);
reporter.title('Inference gateway');
// Handled before `launch`, which takes the lock: `restart:edges` may then signal this process at any time.
process.on('SIGUSR2', () => launcher.restartEdges());
const launcher = launch({ config, reporter });
collectWhenIdle();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => launcher.stop(signal));
// Exits explicitly, so that open handles of a library can't keep the process running.
process.exit(await launcher.ended);
