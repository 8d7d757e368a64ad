import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = fileURLToPath(new URL('../../docs/conformance.md', import.meta.url));
const BEGIN = '<!-- results -->';
const END = '<!-- end of results -->';

const count = (checks, status) => checks.results.filter((result) => result.status === status).length;
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The table as Markdown, and each exemption and failure below it. */
function markdown(rows) {
  const lines = rows.map(({ name, version, what, checks }) => {
    const figures = checks.skipped
      ? ['skipped', '', '']
      : ['passed', 'failed', 'exempt'].map((status) => count(checks, status));
    return `| ${[name, version, cell(what), ...figures].join(' | ')} |`;
  });
  const table = [
    '| suite | version | what it checks here | passed | failed | exempt |',
    '|---|---|---|---|---|---|',
    ...lines,
  ];
  return [...table, '', ...notes(rows)].join('\n').trimEnd();
}

/** One line for each reason, with how many checks it is about. */
function notes(rows) {
  return rows.flatMap(({ name, checks }) => {
    if (checks.skipped) return [`- **${name}: skipped.** ${checks.skipped}`];
    const reasons = new Map();
    for (const { name: check, status, why } of checks.results) {
      if (status === 'passed') continue;
      const key = `${status}\n${why}`;
      reasons.set(key, [...(reasons.get(key) ?? []), check]);
    }
    return [...reasons].map(([key, found]) => {
      const [status, why] = key.split('\n');
      const which = found.length > 3 ? `${found.length} checks` : found.map((one) => `“${one}”`).join(', ');
      return `- **${name}**, ${which} ${status}: ${cell(why)}`;
    });
  });
}

/** Prints the table, and writes it where all suites ran. @returns whether nothing failed */
export function report(rows, { write }) {
  const text = markdown(rows);
  process.stdout.write(`\n${text}\n`);
  if (write) {
    const [before, rest] = readFileSync(path, 'utf8').split(BEGIN);
    const after = rest.split(END)[1];
    writeFileSync(path, `${before}${BEGIN}\n${text}\n${END}${after}`);
  }
  return rows.every(({ checks }) => count(checks, 'failed') === 0);
}
