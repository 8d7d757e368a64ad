import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { parseSync } from 'oxc-parser';
import { productRoot } from '../../src/lib/product-root.js';

const rules = createRequire(import.meta.url)('../../../.dependency-cruiser.cjs');
const sources = join(productRoot(), 'src');
/** Who names a type of another room depends on it as well, though nothing of it is loaded. These speak of what is loaded. */
const OF_LOADED_CODE = ['gateway-lean', 'resolvable'];

/** What a source file imports, types included. */
function importsOf(file: string): string[] {
  const { module, errors } = parseSync(file, readFileSync(file, 'utf8'));
  expect(errors).toEqual([]);
  const exported = module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest));
  const imported = module.staticImports.map(({ moduleRequest }) => moduleRequest);
  return [...imported, ...exported].flatMap((request) => (request ? [request.value] : []));
}

describe('the import graph, types included', () => {
  let scratch: string;
  beforeAll(() => {
    scratch = mkdtempSync(join(tmpdir(), 'gateway-walls-'));
    symlinkSync(join(productRoot(), 'node_modules'), join(scratch, 'node_modules'));
  });
  afterAll(() => rmSync(scratch, { recursive: true }));

  /** Files that import as JavaScript what the sources import at all: the walls are checked on those. */
  function writeImports(): number {
    const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(?<!\.d)\.ts$/.test(name),
    );
    for (const file of files) {
      const target = join(scratch, 'dist', file.replace(/\.ts$/, '.js'));
      mkdirSync(dirname(target), { recursive: true });
      const lines = importsOf(join(sources, file)).map((name) => `import ${JSON.stringify(name)};\n`);
      writeFileSync(target, lines.join(''));
    }
    return files.length;
  }

  test('keeps the walls of the architecture, and has no cycle', async () => {
    const files = writeImports();
    const forbidden = rules.forbidden.filter(({ name }: { name: string }) => !OF_LOADED_CODE.includes(name));
    const { output } = await cruise(['dist'], {
      ...rules.options,
      baseDir: scratch,
      ruleSet: { forbidden },
      validate: true,
    });
    const { summary } = output as ICruiseResult;
    expect(files).toBeGreaterThan(400);
    expect(summary.totalCruised).toBeGreaterThanOrEqual(files);
    const named = (path: string) => relative('.', path);
    expect(
      summary.violations.map(({ rule, from, to }) => `${rule.name}: ${named(from)} → ${named(to)}`),
    ).toEqual([]);
  });
});
