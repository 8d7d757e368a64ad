import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';

interface Manifest {
  inputs: string[];
  assets: { path: string; etag: string; encodings: string[] }[];
}

const manifestOf = (root: string): Manifest =>
  JSON.parse(readFileSync(join(root, 'dist/web/manifest.json'), 'utf8')) as Manifest;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .filter((name) => name !== '/.build-stamp')
    .sort();
}

/**
 * Documents and bundle take most of a build and are the same twice: the second build reuses those of the first. Budgets,
 * compression and the change of folders are done again.
 */
function makeOnce(tools: string, name: 'documents' | 'bundle', make: string, plain: string): void {
  renameSync(join(tools, `${name}.mjs`), join(tools, `real-${name}.mjs`));
  writeFileSync(
    join(tools, `${name}.mjs`),
    `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
const kept = new URL('${name}.kept', import.meta.url);
const plain = ${plain};
export async function ${make}() {
  if (existsSync(kept)) return deserialize(readFileSync(kept));
  // Its packages take a second or more to load.
  const { ${make}: really } = await import('./real-${name}.mjs');
  const made = await really();
  writeFileSync(kept, serialize(plain(made)));
  return made;
}
`,
  );
}

/** The parts of the bundler's files that the rest of a build reads. */
const PLAIN_BUNDLE = `({ files, inputs }) => ({
  inputs,
  files: files.map(({ type, fileName, name, isEntry, imports, dynamicImports, viteMetadata, code, source, names }) =>
    ({ type, fileName, name, names, isEntry, imports, dynamicImports, viteMetadata, code, source })),
})`;

/** At the lowest quality, which a build never uses. */
const quickly = (content: Buffer): Buffer =>
  brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

describe('the web build', () => {
  let copy: string;
  beforeAll(() => {
    copy = realpathSync(mkdtempSync(join(tmpdir(), 'gateway-web-')));
    for (const name of ['web', 'src', 'schema', 'package.json', 'tsconfig.json']) {
      cpSync(name, join(copy, name), { recursive: true, filter: (path) => !path.includes('generated') });
    }
    symlinkSync(realpathSync('node_modules'), join(copy, 'node_modules'));
    // The previous build, whose compressed copies are reused, since compression takes most of the time.
    cpSync('dist/web', join(copy, 'dist/web'), { recursive: true });
    makeOnce(join(copy, 'web/tools'), 'documents', 'generateDocuments', '(documents) => documents');
    makeOnce(join(copy, 'web/tools'), 'bundle', 'bundle', PLAIN_BUNDLE);
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  const build = () =>
    promisify(execFile)(process.execPath, [join(copy, 'web/tools/main.mjs')], { cwd: copy });

  test('is identical to the byte in any folder, and contains no path of this machine', async () => {
    const [first, second] = manifestOf('.').assets.filter(({ encodings }) => encodings.includes('br'));
    const other = quickly(readFileSync(join('dist/web', first!.path)));
    writeFileSync(join(copy, `dist/web${first!.path}.br`), other);
    // A copy of something else, as after a full disk.
    writeFileSync(join(copy, `dist/web${second!.path}.br`), quickly(Buffer.from('something else')));
    await build();
    const names = filesBelow('dist/web');
    expect(filesBelow(join(copy, 'dist/web'))).toEqual(names);
    const contents = (root: string): Buffer[] =>
      names.map((name) => readFileSync(join(root, 'dist/web', name)));
    const ours = contents('.');
    const differing = contents(copy).flatMap((content, i) => (content.equals(ours[i]!) ? [] : [names[i]!]));
    // A compressed copy of the previous build is kept if it has the same content.
    expect(differing).toEqual([`${first!.path}.br`]);
    expect(readFileSync(join(copy, `dist/web${first!.path}.br`)).equals(other)).toBe(true);
    const places = [copy, process.cwd(), realpathSync('node_modules')];
    const telling = names.filter((_, i) => places.some((place) => ours[i]!.includes(place)));
    expect(telling).toEqual([]);
  }, 60_000);

  test('knows the sources that it shares with the server, so that changing them triggers a build', () => {
    expect(manifestOf('.').inputs).toContain('src/services/accounts/accounts.inputs.ts');
  });

  test('shares only pure modules with the server: no entity, store or service reaches a browser', () => {
    const { inputs } = manifestOf('.');
    const pure =
      /^src\/(?:lib\/[\w-]+|services\/[\w-]+\/[\w-]+\.(?:data|inputs|rules)|pages\/public\/(?:html|migrate\/[\w-]+\.rules))\.ts$/;
    expect(inputs.filter((path) => !pure.test(path))).toEqual([]);
  });

  test('fails when a page exceeds its budget, and keeps the previous build', async () => {
    const { assets } = manifestOf(copy);
    const budgets = join(copy, 'web/tools/budgets.mjs');
    const text = readFileSync(budgets, 'utf8');
    writeFileSync(budgets, text.replace('firstLoad: 200_000', 'firstLoad: 30_000'));
    await expect(build()).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /over its budget:\napp: scripts of the first load: \d+\.\d kB of 30\.0 kB/,
      ),
    });
    expect(manifestOf(copy).assets).toEqual(assets);
  }, 60_000);
});
