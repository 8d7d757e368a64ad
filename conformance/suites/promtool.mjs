import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const DEFAULTS = /^nodejs_active_(?:handles|requests|resources)_total /;
const promtool = process.env.PROMTOOL_PATH ?? 'promtool';
const rules = fileURLToPath(new URL('../../deploy/alerts.yml', import.meta.url));

/** What it finds, line by line. */
function findings(words, input) {
  const { status, stdout, stderr } = spawnSync(promtool, words, { input, encoding: 'utf8' });
  return status === 0 ? [] : (stdout + stderr).split('\n').filter(Boolean);
}

const none = (lines) => async () => {
  if (lines.length > 0) throw new Error(lines.join('; '));
};

export async function run(checks, { metrics }) {
  const { error, stdout, stderr } = spawnSync(promtool, ['--version'], { encoding: 'utf8' });
  if (error)
    return checks.skip(
      'promtool is part of Prometheus, which npm doesn’t have. Install it (on Debian: `apt-get install prometheus`) or set `PROMTOOL_PATH`.',
    );
  for (const { name, url } of metrics) {
    const lines = findings(['check', 'metrics'], await (await fetch(url)).text());
    await checks.check(`metrics of ${name}`, none(lines.filter((line) => !DEFAULTS.test(line))));
    await checks.check(
      `metrics of ${name}: Node.js's own`,
      none(lines.filter((line) => DEFAULTS.test(line))),
      {
        exempt:
          'prom-client names its gauges of handles, requests and resources like counters; dashboards of Node.js expect these names',
      },
    );
  }
  await checks.check('the alert rules', none(findings(['check', 'rules', rules])));
  return /version (\S+)/.exec(stdout + stderr)?.[1];
}
