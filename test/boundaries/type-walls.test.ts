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
  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'gateway-walls-'));
    symlinkSync(join(productRoot(), 'node_modules'), join(scratch, 'node_modules'));
  });
  afterEach(() => rmSync(scratch, { recursive: true }));

  /** Writes a file that imports as JavaScript everything that a source imports, types included. */
  function writeImports(name: string, imports: readonly string[]): void {
    const target = join(scratch, name.replace(/\.tsx?$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, imports.map((path) => `import ${JSON.stringify(path)};\n`).join(''));
  }

  /** Does so for each source below a folder. @returns how many there are */
  function writeFolder(folder: string, target: string): number {
    const root = join(productRoot(), folder);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(?<!\.d)\.tsx?$/.test(name),
    );
    for (const file of files) writeImports(join(target, file), importsOf(join(root, file)));
    return files.length;
  }

  /** The violations of rules by the files below a folder, and how many modules were looked at. */
  async function check(folder: string, isApplied: (rule: string) => boolean) {
    const forbidden = rules.forbidden.filter(({ name }: { name: string }) => isApplied(name));
    const { output } = await cruise([folder], {
      ...rules.options,
      baseDir: scratch,
      ruleSet: { forbidden },
      validate: true,
    });
    const { summary } = output as ICruiseResult;
    const named = (path: string) => relative('.', path);
    return {
      modules: summary.totalCruised,
      dependencies: summary.totalDependenciesCruised ?? 0,
      violations: summary.violations.map(
        ({ rule, from, to }) => `${rule.name}: ${named(from)} → ${named(to)}`,
      ),
    };
  }
  const isCycle = (rule: string): boolean => rule === 'no-cycle';

  test('keeps the walls of the architecture, and has no cycle', async () => {
    const files = writeFolder('src', 'dist');
    const { modules, violations } = await check('dist', (rule) => !OF_LOADED_CODE.includes(rule));
    expect(files).toBeGreaterThan(400);
    expect(modules).toBeGreaterThanOrEqual(files);
    expect(violations).toEqual([]);
  });

  test('has no cycle in web/', async () => {
    const files = writeFolder('web', 'web');
    const { modules, dependencies, violations } = await check('web', isCycle);
    expect(files).toBeGreaterThan(200);
    expect(modules).toBeGreaterThanOrEqual(files);
    // Paths without an extension are resolved: most modules import several others.
    expect(dependencies).toBeGreaterThan(3 * files);
    expect(violations).toEqual([]);
  });

  test('shows a cycle of two pages of which one only imports a type', async () => {
    writeImports('web/page.tsx', ['./part']);
    const part = join(scratch, 'part.ts');
    writeFileSync(part, "import type { Loaded } from './page';\nexport type Part = Loaded;\n");
    writeImports('web/part.ts', importsOf(part));
    const { violations } = await check('web', isCycle);
    expect(violations).toEqual([expect.stringMatching(/^no-cycle: web\/pa.* → web\/pa/)]);
  });
});
