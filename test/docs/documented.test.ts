import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorTable } from '../../src/errors.js';

const read = (path: string): string => readFileSync(path, 'utf8');

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** First cells of a document's table rows that are one name in backticks, below a heading; all of it without one. */
function namesInTables(path: string, heading?: string): string[] {
  const sections = read(path).split(/^## /m);
  const text =
    heading === undefined ? sections.join('\n') : sections.find((part) => part.startsWith(heading));
  return [...(text ?? '').matchAll(/^\| `(\w+)` (?:\* )?\|/gm)].map(([, name]) => name!);
}

const sources = filesBelow('src', '.ts').map(read).join('\n');
const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...filesBelow('docs', '.md')];

/** The anchor that a heading gets. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

describe('the documentation', () => {
  test('lists every error code with its status, type and message, and no other', () => {
    const rows = [...read('docs/api.md').matchAll(/^\| `(\w+)` \| (\d{3}) \| `(\w+)` \|[^|]+\| (.+) \|$/gm)];
    const documented = rows.map(([, code, status, type, message]) => `${code} ${status} ${type} ${message}`);
    const real = Object.entries(errorTable).map(
      ([code, { status, type, message }]) => `${code} ${status} ${type} ${message}`,
    );
    expect(documented.toSorted()).toEqual(real.toSorted());
  });

  test('says of every error code where it occurs, as the API reference does', () => {
    interface Reference {
      paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
    }
    const { paths } = JSON.parse(read('schema/openapi.json')) as Reference;
    const codesBelow = (isPlace: (path: string) => boolean): Set<string> => {
      const operations = Object.entries(paths).flatMap(([path, item]) =>
        isPlace(path) ? Object.values(item) : [],
      );
      const errors = operations.flatMap(({ responses }) =>
        Object.entries(responses).filter(([status]) => Number(status) >= 400),
      );
      return new Set(
        errors.flatMap(([, { description }]) =>
          [...description.matchAll(/`(\w+)`/g)].map(([, code]) => code!),
        ),
      );
    };
    const v1 = codesBelow((path) => path.startsWith('/v1/'));
    const widget = codesBelow((path) => path.startsWith('/api/widget/'));
    const api = codesBelow((path) => path.startsWith('/api/') && !path.startsWith('/api/widget/'));
    const placeOf = (code: string): string | undefined => {
      if (v1.has(code)) return api.has(code) ? 'both' : '`/v1`';
      if (api.has(code)) return '`/api`';
      return widget.has(code) ? '`/api/widget`' : undefined;
    };
    const rows = [
      ...read('docs/api.md').matchAll(/^\| `(\w+)` \| \d{3} \| `\w+` \| ([^|;]+?)(?:;[^|]*)? \|/gm),
    ];
    const documented = rows.flatMap(([, code, place]) => (placeOf(code!) ? [`${code} ${place}`] : []));
    expect(documented.length).toBeGreaterThan(25);
    expect(documented).toEqual(
      rows.flatMap(([, code]) => (placeOf(code!) ? [`${code} ${placeOf(code!)}`] : [])),
    );
  });

  test('lists every variable that is read, and no other', () => {
    const schema =
      /const schema = z\.object\(\{\n([\s\S]*?)\n\}\);/.exec(read('src/config-schema.ts'))?.[1] ?? '';
    const variables = [...schema.matchAll(/^ {2}([A-Z][A-Z0-9_]*):/gm)].map(([, name]) => name!);
    expect(variables.length).toBeGreaterThan(30);
    expect(namesInTables('docs/operations.md', 'Settings').toSorted()).toEqual(variables.toSorted());
  });

  test('states the default of every variable that has one', () => {
    const fields = read('src/config-schema.ts').matchAll(
      /^ {2}([A-Z][A-Z0-9_]*):(?:(?!^ {2}[A-Z])[\s\S])*?\.default\(([^)[]+)\)/gm,
    );
    const defaults = [...fields].map(([, name, value]) => {
      const text = value!.replace(/^'(.*)'$/, '$1').replaceAll('_', '');
      return `${name} ${text === 'false' ? '0' : text}`;
    });
    expect(defaults.length).toBeGreaterThan(20);
    const rows = [...read('docs/operations.md').matchAll(/^\| `(\w+)` (?:\* )?\| `([^`|]+)` \|/gm)];
    const documented = rows.map(([, name, value]) => `${name} ${value!.replaceAll('_', '')}`);
    expect(defaults.filter((one) => !documented.includes(one))).toEqual([]);
  });

  test('lists every metric that is registered, and no other', () => {
    // `tally` and `talliedHistogram` get their options as arguments; the `new Counter` inside of one has no name of its own.
    const constructed =
      sources.match(/(?:new (?:Counter|Gauge|Histogram)|= (?:tally|talliedHistogram))\((?!\{\s*\.\.\.)/g) ??
      [];
    const metrics = [
      ...sources.matchAll(
        /(?:new (?:Counter|Gauge|Histogram)|= (?:tally|talliedHistogram))\(\s*\{\s*name: '([a-z][a-z0-9_]*)'/g,
      ),
    ].map(([, name]) => name!);
    // One whose name isn't a literal would be overlooked.
    expect(metrics).toHaveLength(constructed.length);
    expect(metrics.length).toBeGreaterThan(15);
    expect(namesInTables('docs/operations.md', 'Metrics').toSorted()).toEqual(metrics.toSorted());
  });

  test.each(documents)('%s links to files and headings that exist', (path) => {
    const links = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
    const broken = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [file = '', anchor] = link.split('#', 2);
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(target)) return true;
      const headings = [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
      return anchor !== undefined && !headings.includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test.each(documents)('%s names files of the repository that exist', (path) => {
    // `notes` is the example of CONTRIBUTING.md.
    const named = [...read(path).matchAll(/`((?:src|test|docs|scripts|schema)\/[\w./-]+)`/g)]
      .map(([, name]) => name!)
      .filter((name) => !/\/notes(?:[./]|$)/.test(name));
    expect(named.filter((name) => !existsSync(name))).toEqual([]);
  });

  test('has pictures that load fast: npm run pictures makes them', () => {
    const sizes = filesBelow('docs/pictures', '').map((path) => statSync(path).size);
    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThan(60_000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(400_000);
  });

  test('names the pages of administrators as the navigation does', () => {
    const group = /const ADMIN[\s\S]*?\n\};/.exec(read('web/app/shell/navigation.ts'))![0];
    const labels = [...group.matchAll(/label: '([^']+)'/g)].map(([, label]) => label!.toLowerCase());
    expect(labels.length).toBeGreaterThan(5);
    expect(read('docs/operations.md')).toContain(`pages below \`/admin\` (${labels.join(', ')})`);
  });

  test('names no command that package.json lacks', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const commands = documents
      .flatMap((path) => [...read(path).matchAll(/npm run ([a-z:-]+)/g)])
      .map(([, name]) => name!);
    expect(commands.length).toBeGreaterThan(5);
    expect(commands.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('names one version: in package.json, its lock, OpenAPI and the changelog', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    const lock = JSON.parse(read('package-lock.json')) as { version: string };
    const openApi = JSON.parse(read('schema/openapi.json')) as { info: { version: string } };
    const [, released] = /^## (\d\S+)$/m.exec(read('CHANGELOG.md'))!;
    expect([lock.version, openApi.info.version, released]).toEqual([version, version, version]);
  });

  test('explains every requirement that is cited by its id', () => {
    const rows = read('docs/requirements.md').matchAll(/^\| ([A-Z]\d+) \|/gm);
    const explained = new Set([...rows].map(([, id]) => id!));
    const files = [...filesBelow('src', '.ts'), ...filesBelow('test', '.ts'), ...filesBelow('docs', '.md')];
    const cited = files.flatMap(
      (path) => read(path).match(/(?<!DeepSeek )(?<![\w/-])[CFGINRT][1-9]\d?(?![\w/])/g) ?? [],
    );
    expect(explained.size).toBeGreaterThan(60);
    expect([...new Set(cited)].filter((id) => !explained.has(id))).toEqual([]);
  });

  test('is there where the sources point to it', () => {
    const named = [...sources.matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([name]) => name);
    expect(named).toContain('docs/operations.md');
    expect(named.filter((name) => !existsSync(name))).toEqual([]);
  });
});
