/**
 * Runs suites that others wrote against the whole product, through its public address.
 *
 *   npm run conformance [-- --only SUITE]
 */
import { parseArgs } from 'node:util';
import { Checks } from './lib/checks.mjs';
import { install, versionOf } from './lib/install.mjs';
import { SUITES } from './suites.mjs';

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const chosen = SUITES.filter(({ name }) => !values.only || name === values.only);
if (chosen.length === 0) {
  process.stderr.write(
    `There is no suite ${values.only}; there are ${SUITES.map(({ name }) => name).join(', ')}.\n`,
  );
  process.exit(2);
}

// Nothing of a suite tells its makers that it ran.
Object.assign(process.env, {
  DO_NOT_TRACK: '1',
  MASTRA_TELEMETRY_DISABLED: '1',
  LANGCHAIN_TRACING_V2: 'false',
  REDOCLY_TELEMETRY: 'off',
});

install();
// They need what has just been installed.
const [{ startMailbox }, { startProduct }, { report }] = await Promise.all([
  import('./lib/mailbox.mjs'),
  import('./lib/product.mjs'),
  import('./lib/report.mjs'),
]);

const mailbox = await startMailbox();
const product = await startProduct({ smtp: mailbox.url });
const rows = [];
try {
  for (const { name, package: packageName, what, load } of chosen) {
    process.stdout.write(`\n${name}\n`);
    const checks = new Checks();
    const row = { name, version: packageName ? versionOf(packageName) : '', what, checks };
    rows.push(row);
    try {
      const { run } = await load();
      row.version = (await run(checks, { ...product, mails: mailbox.mails }, row)) ?? row.version;
    } catch (error) {
      await checks.check('the suite runs', () => Promise.reject(error));
    }
    if (checks.skipped) process.stdout.write(`  SKIPPED: ${checks.skipped}\n`);
  }
} finally {
  await product.stop();
  await mailbox.close();
}
process.exit(report(rows, { write: !values.only }) ? 0 : 1);
