/**
 * Measures where the tests spend their time, and writes the table of docs/testing.md anew:
 *
 *   npm run test:times [-- <jest arguments>]
 *
 * With arguments the table is printed instead: it is of a part of the suite.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

const DOCUMENT = 'docs/testing.md';
const [BEGIN, END] = ['<!-- times -->', '<!-- /times -->'];
/** Faster files share one line: the list is for finding what is slow. */
const LISTED_MS = 3_000;

const folder = mkdtempSync(join(tmpdir(), 'gateway-times-'));
const file = join(folder, 'times.jsonl');
const args = process.argv.slice(2);
const began = performance.now();
const { status } = spawnSync(
  process.execPath,
  ['--no-warnings', '--max-semi-space-size=64', 'node_modules/jest/bin/jest.js', ...args],
  {
    stdio: 'inherit',
    env: { ...process.env, TEST_TIMES: file },
  },
);
const wall = performance.now() - began;

const rows = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))
  // What is neither this process's nor a child's processor time: timers, conditions, disks, the other files of the suite.
  .map((row) => ({
    ...row,
    path: row.path.replace(/.*\/build\/test\//, '').replace(/\.test\.js$/, ''),
    waiting: Math.max(0, row.wall - row.own - row.children),
  }))
  .sort((a, b) => b.wall - a.wall);
rmSync(folder, { recursive: true });

const columns = ['wall', 'modules', 'processes', 'children', 'argon2', 'own', 'waiting'];
const total = (of, name) => of.reduce((all, row) => all + row[name], 0);
const sum = (of, path) => ({ path, ...Object.fromEntries(columns.map((name) => [name, total(of, name)])) });
const cell = (row, name) => (name === 'processes' ? row[name] : (row[name] / 1_000).toFixed(1));
const line = (row) => `| ${row.path} | ${columns.map((name) => cell(row, name)).join(' | ')} |`;
const small = rows.filter((row) => row.wall < LISTED_MS);
const table = [
  `${rows.length} files in ${(wall / 1_000).toFixed(0)} s on ${availableParallelism()} cores, Node ${process.version}:`,
  '',
  '| file | wall s | modules s | processes | children s | argon2 s | own s | waiting s |',
  '|---|---|---|---|---|---|---|---|',
  line(sum(rows, '**all**')),
  ...rows.filter((row) => row.wall >= LISTED_MS).map(line),
  line(sum(small, `${small.length} others`)),
].join('\n');

if (args.length > 0) {
  process.stdout.write(`${table}\n`);
} else {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [before, rest] = text.split(BEGIN);
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n${table}\n${END}${rest.split(END)[1]}`);
}
process.exitCode = status ?? 1;
