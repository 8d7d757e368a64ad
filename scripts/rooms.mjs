/**
 * Draws the rooms of src/ for docs/architecture.md: a table of files and lines, and a Mermaid graph of the imports between
 * rooms, types included. `node scripts/rooms.mjs [checkout]`; by default this one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

const IMPORT = /(?:from|import|import\()\s*'(\.[^']+)\.js'/g;
/** An arrow of fewer imports would hide the others. */
const LEAST_IMPORTS = 10;

const src = join(process.argv[2] ?? '.', 'src');
const print = (line) => process.stdout.write(`${line}\n`);
const roomOf = (file) => (file.includes(sep) ? file.split(sep)[0] : 'main');

const rooms = new Map();
const imports = new Map();
for (const file of readdirSync(src, { recursive: true })) {
  if (!file.endsWith('.ts')) continue;
  const text = readFileSync(join(src, file), 'utf8');
  const room = roomOf(file);
  const { files, lines } = rooms.get(room) ?? { files: 0, lines: 0 };
  rooms.set(room, { files: files + 1, lines: lines + text.split('\n').length - 1 });
  for (const [, path] of text.matchAll(IMPORT)) {
    const other = roomOf(normalize(join(dirname(file), path)));
    if (other !== room) imports.set(`${room} ${other}`, (imports.get(`${room} ${other}`) ?? 0) + 1);
  }
}

print('| room | files | lines |\n|---|---|---|');
for (const [room, { files, lines }] of [...rooms].sort()) print(`| ${room} | ${files} | ${lines} |`);
print('\n```mermaid\ngraph TD');
for (const [pair, count] of [...imports].sort(([, a], [, b]) => b - a)) {
  const [from, to] = pair.split(' ');
  if (count >= LEAST_IMPORTS) print(`  ${from} -->|${count}| ${to}`);
}
print('```');
