/**
 * Finds the turns of phrase that CONTRIBUTING.md asks to avoid, in comments, strings and identifiers (`toldUsage`,
 * `isTold`, `TOLD`). Prints file, line and a remedy for each, and fails if there is one.
 *
 *   node scripts/lint-words.mjs [--counts]    --counts: how many there are per folder, enforced or not
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** Folders in which a hit fails the check. */
const ENFORCED = ['web', 'test/web', 'src/inference', 'test/gateway/limits', 'test/gateway/cache'];
const SOURCE = /\.(ts|tsx|mjs|css|graphql|html)$/;
const GENERATED = /^web\/generated\/|\.data\.ts$/;

const WORDS = {
  told: '"reported", "notified" or "sent"',
  said: '"returned", "reported", "shown" or "announced"',
  stands: '"is" or "is shown"; a connection "is open"',
  'goes by': '"uses", "follows" or "depends on"',
  'is none': '"is missing", "is empty", "isn\'t a …" or "without …"',
  'of its making': 'name who made it',
  anew: '"again", "new" or "from the start"',
  likewise: 'the sentence itself',
};

/** Names that others chose: file, the text that may stay, and the reason. */
const ALLOWED = [];

/** Whole words, also as parts of identifiers; the words of a phrase may be on two lines of a comment. */
const patternOf = (phrase) => {
  const [first, ...rest] = phrase.split(' ');
  const initial = first[0];
  const tail = [first.slice(1), ...rest].join('\\s+(?:(?:\\*|//)\\s+)?');
  const upper = phrase.toUpperCase().replaceAll(' ', '_');
  return new RegExp(
    `(?:(?<![A-Za-z])${initial}|${initial.toUpperCase()})${tail}(?![a-z])|(?<![A-Za-z])${upper}(?![A-Za-z])`,
    'g',
  );
};
const PATTERNS = Object.entries(WORDS).map(([phrase, remedy]) => ({
  phrase,
  remedy,
  pattern: patternOf(phrase),
}));

const hitsOf = (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return PATTERNS.flatMap(({ phrase, remedy, pattern }) =>
    [...text.matchAll(pattern)].map(({ index }) => {
      const line = text.slice(0, index).split('\n').length;
      return { file, line, phrase, remedy, text: text.split('\n')[line - 1] };
    }),
  ).filter((hit) => !ALLOWED.some(({ file, text }) => file === hit.file && hit.text.includes(text)));
};

const hits = ['src', 'test', 'web']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map(
      (name) => `${folder}/${name.replaceAll(sep, '/')}`,
    ),
  )
  .filter((file) => SOURCE.test(file) && !GENERATED.test(file))
  .flatMap(hitsOf);
const enforced = hits.filter(({ file }) => ENFORCED.some((folder) => file.startsWith(`${folder}/`)));

if (process.argv.includes('--counts')) {
  const counts = { total: hits.length };
  for (const { file } of hits) {
    const folder = file.split('/').slice(0, 2).join('/');
    counts[folder] = (counts[folder] ?? 0) + 1;
  }
  process.stdout.write(`${JSON.stringify(counts, null, 2)}\n`);
} else {
  for (const { file, line, phrase, remedy } of enforced)
    process.stderr.write(`${file}:${line} avoid "${phrase}"; write ${remedy}\n`);
  process.exitCode = enforced.length > 0 ? 1 : 0;
}
