/**
 * Finds the turns of phrase that CONTRIBUTING.md asks to avoid, in comments, strings and identifiers (`toldUsage`,
 * `isTold`, `TOLD`). Prints file, line and a remedy for each, and fails if there is one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const SOURCE = /\.(ts|tsx|mjs|css|graphql|html)$/;
/** Generated, or never changed again. */
const LEFT_OUT = /^web\/generated\/|\.data\.ts$|\/migrations\//;

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
const ALLOWED = [
  // What the simulator has answered since 1.0.0.
  { file: 'src/proxy/simulator/chat.ts', text: 'The tool said:' },
  // The column is in databases of today.
  { file: 'src/entities/accounts/account.ts', text: 'lowBalanceTold' },
  ...[
    'db/functions/fire-alerts',
    'services/alerts/alerts.store',
    'services/billing/grants.store',
    'services/billing/ledger.store',
  ].map((name) => ({ file: `src/${name}.ts`, text: 'low_balance_told' })),
  // Names of invariants are labels of a metric.
  { file: 'src/services/audit/alert-invariants.store.ts', text: 'I11-told' },
  { file: 'src/services/audit/guard-invariants.store.ts', text: 'I14-told' },
  { file: 'test/jobs/audit.test.ts', text: 'I11-told' },
  { file: 'test/jobs/audit.test.ts', text: 'I14-told' },
];

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
  .filter((file) => SOURCE.test(file) && !LEFT_OUT.test(file))
  .flatMap(hitsOf);

for (const { file, line, phrase, remedy } of hits)
  process.stderr.write(`${file}:${line} avoid "${phrase}"; write ${remedy}\n`);
process.exitCode = hits.length > 0 ? 1 : 0;
