import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { createCallMetrics } from '../../src/inference/call-metrics.js';
import { createRegistry } from '../../src/lib/metrics.js';

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string };
}

describe('deploy/alerts.yml', () => {
  const { groups } = parse(readFileSync('deploy/alerts.yml', 'utf8')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const rows = readFileSync('docs/operations.md', 'utf8')
    .split('\n')
    .filter((line) => /^\| `[a-z]+_\w+` \|/.test(line))
    .map((line) => ({
      name: /`(\w+)`/.exec(line)![1]!,
      wantsAlarm: /\balert (?:above|if)\b|\(alert/.test(line),
    }));
  const measured = rules.flatMap(
    ({ expr }) => expr.match(/\b(?:gateway|metering|proxy|platform)_\w+/g) ?? [],
  );

  test('has a rule for each metric with an alert in docs/operations.md, and for no other', () => {
    const wanted = rows.filter(({ wantsAlarm }) => wantsAlarm).map(({ name }) => name);
    expect(wanted.length).toBeGreaterThan(7);
    expect(measured.toSorted()).toEqual(wanted.toSorted());
  });

  test('describes in each rule what is wrong', () => {
    expect(rules.filter(({ annotations }) => !/\w{3}.*[.?]$/.test(annotations.summary))).toEqual([]);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  test('uses counters that exist before their first event', async () => {
    const registry = createRegistry('test');
    createCallMetrics(registry);
    const [, flag] = /gateway_flagged_events_total\{flag="(\w+)"\}/.exec(
      rules.map(({ expr }) => expr).join('\n'),
    )!;
    expect(await registry.metrics()).toMatch(
      new RegExp(`^gateway_flagged_events_total\\{flag="${flag}",[^}]*\\} 0$`, 'm'),
    );
  });

  test('has a rule for a process that does not respond, whose metrics are missing', () => {
    const { scrape_configs: jobs } = parse(readFileSync('deploy/prometheus.yml', 'utf8')) as {
      scrape_configs: { job_name: string }[];
    };
    const down = rules.filter(({ expr }) => expr.startsWith('up{'));
    expect(down.map(({ expr }) => expr)).toEqual(jobs.map(({ job_name: name }) => `up{job="${name}"} == 0`));
  });

  test('is read by Prometheus in the containers', () => {
    const { rule_files: files } = parse(readFileSync('deploy/prometheus.yml', 'utf8')) as {
      rule_files: string[];
    };
    expect(files).toEqual(['alerts.yml']);
    expect(readFileSync('docker-compose.yml', 'utf8')).toContain(
      './deploy/alerts.yml:/etc/prometheus/alerts.yml:ro',
    );
  });

  test('names labels that Prometheus leaves as the product writes them', () => {
    expect(rules.some(({ expr }) => /\bjob="audit"/.test(expr))).toBe(true);
    const { scrape_configs: scraped } = parse(readFileSync('deploy/prometheus.yml', 'utf8')) as {
      scrape_configs: { honor_labels?: boolean }[];
    };
    // Otherwise the product's `job` becomes `exported_job`.
    expect(scraped.map(({ honor_labels }) => honor_labels)).toEqual([true]);
  });

  // Without promtool, only the other tests check the rules.
  const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
  if (hasPromtool) {
    test('is valid to promtool', () => {
      expect(() => execFileSync('promtool', ['check', 'rules', 'deploy/alerts.yml'])).not.toThrow();
    });
  }
});
