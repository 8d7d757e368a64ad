import { gzipSync } from 'node:zlib';

/** Kilobytes are 1,000 bytes of `gzip -9`. GraphiQL contains an editor and is loaded by itself: it has no budget. */
const BUDGETS_BYTES = {
  app: { firstLoad: 200_000, lazyRoute: 110_000, styles: 25_000 },
};

/** For server-rendered pages: all scripts of a page, and the styles. For the widget: its parts. */
const SITE_BUDGETS = [
  { what: 'site: scripts', names: ['theme.js', 'site.js', 'migrate.js'], limit: 10_000 },
  { what: 'widget: loader', names: ['widget-loader.js'], limit: 4_000 },
  { what: 'widget: frame', names: ['widget-frame.js', 'widget-frame.css'], limit: 15_000 },
  { what: 'site: styles', names: ['site.css'], limit: 12_000 },
];

const compressed = (content) => gzipSync(content, { level: 9 }).length;
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

/** A chunk with everything that it imports before it can run. */
function closure(chunks, fileName, seen = new Set()) {
  const chunk = chunks.get(fileName);
  if (!chunk || seen.has(fileName)) return seen;
  seen.add(fileName);
  for (const next of chunk.imports) closure(chunks, next, seen);
  return seen;
}

/** Every chunk that is reached by dynamic imports. */
function lazyChunks(chunks, first) {
  const found = new Set();
  const queue = [...first];
  for (const name of queue) {
    for (const lazy of chunks.get(name)?.dynamicImports ?? []) {
      if (found.has(lazy)) continue;
      found.add(lazy);
      queue.push(...closure(chunks, lazy));
    }
  }
  return [...found];
}

/**
 * Compares what a visitor downloads with its budget.
 * @returns one line per page, to be printed
 * @throws Error with `budget` set, naming every excess
 */
export function checkBudgets(files) {
  const chunks = new Map(
    files.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]),
  );
  const byName = new Map(files.map((file) => [file.fileName, file]));
  const sizes = new Map();
  // Only for files with a budget: compressing GraphiQL's editor takes as long as everything else.
  const sizeOf = (name) => {
    const { code, source } = byName.get(name);
    if (!sizes.has(name)) sizes.set(name, compressed(code ?? source));
    return sizes.get(name);
  };
  const sum = (names) => [...names].reduce((total, name) => total + sizeOf(name), 0);
  const excesses = [];
  const report = [];
  const measure = ({ what, bytes, limit }) => {
    const line = `${what}: ${kilobytes(bytes)} of ${kilobytes(limit)}`;
    if (bytes > limit) excesses.push(line);
    report.push(line);
  };
  for (const [page, budget] of Object.entries(BUDGETS_BYTES)) {
    const entry = [...chunks.values()].find(({ isEntry, name }) => isEntry && name === page);
    const first = closure(chunks, entry.fileName);
    const lazy = lazyChunks(chunks, first).map((name) => {
      const more = [...closure(chunks, name)].filter((part) => !first.has(part));
      return {
        what: `${page}: ${chunks.get(name).name}, loaded lazily`,
        bytes: sum(more),
        limit: budget.lazyRoute,
      };
    });
    const styles = new Set([...first].flatMap((name) => [...chunks.get(name).viteMetadata.importedCss]));
    const measured = [
      { what: `${page}: scripts of the first load`, bytes: sum(first), limit: budget.firstLoad },
      { what: `${page}: styles of the first load`, bytes: sum(styles), limit: budget.styles },
      ...lazy,
    ];
    measured.forEach(measure);
  }
  for (const { what, names, limit } of SITE_BUDGETS) {
    const own = files.filter((file) => file.names?.some((name) => names.includes(name)));
    measure({ what, bytes: sum(own.map(({ fileName }) => fileName)), limit });
  }
  if (excesses.length > 0) {
    throw Object.assign(new Error(`the web build is over its budget:\n${excesses.join('\n')}`), {
      budget: true,
    });
  }
  return report;
}
