import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from './support.js';

const run = promisify(execFile);
const NPM_TIMEOUT_MS = 120_000;

/** Calls scripts/install.mjs, and prints the commands of npm that it runs. */
const PROGRAM = `
import { spawnSync } from 'node:child_process';
import { install } from ${JSON.stringify(pathToFileURL(resolve('scripts/install.mjs')))};
const run = async (command, args) => {
  console.log(args.find((arg) => arg === 'ci' || arg === 'install'));
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return { ok: status === 0, output: stdout + stderr };
};
const reason = await install({ root: process.cwd(), withTests: process.argv[1] === 'tests', run, say: () => {} });
if (reason) console.log(reason);
`;

/** A checkout with packages from archives, which npm installs without a network. */
describe('installing', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(async () => {
    folder = temporaryFolder();
    const here = { os: [process.platform], cpu: [process.arch] };
    await archive('1.0.0', { runs: {}, tests: {}, fits: here, foreign: { os: ['aix'], cpu: ['ppc64'] } });
    manifest('1.0.0');
    await npm('install', '--package-lock-only');
  }, NPM_TIMEOUT_MS);
  afterEach(() => folder.remove());

  const at = (path: string): string => join(folder.path, path);
  const npm = (...args: string[]) => run('npm', [...args, '--offline', '--no-audit'], { cwd: folder.path });
  async function archive(version: string, packages: Record<string, object>): Promise<void> {
    for (const [name, fields] of Object.entries(packages)) {
      mkdirSync(at(name), { recursive: true });
      writeFileSync(at(`${name}/package.json`), JSON.stringify({ name, version, ...fields }));
    }
    await npm('pack', ...Object.keys(packages).map((name) => `./${name}`));
  }
  function manifest(version: string): void {
    const file = (name: string, of = '1.0.0') => ({ [name]: `file:${name}-${of}.tgz` });
    writeFileSync(
      at('package.json'),
      JSON.stringify({
        name: 'checkout',
        version: '1.0.0',
        dependencies: file('runs', version),
        devDependencies: file('tests'),
        optionalDependencies: { ...file('fits'), ...file('foreign') },
      }),
    );
  }
  const install = async (what: 'start' | 'tests'): Promise<string> => {
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROGRAM, what], {
      cwd: folder.path,
    });
    return stdout.trim();
  };
  const installed = (): string[] =>
    ['runs', 'tests', 'fits', 'foreign'].filter((name) => existsSync(at(`node_modules/${name}`)));

  test(
    'a start installs no packages of tests, tests add them, and nothing is installed twice',
    async () => {
      expect(await install('start')).toBe('ci');
      expect(installed()).toEqual(['runs', 'fits']);
      expect(await install('start')).toBe('');
      // Of a product that may be running.
      writeFileSync(at('node_modules/runs/in-use'), '');
      expect(await install('tests')).toBe('install');
      expect(installed()).toEqual(['runs', 'tests', 'fits']);
      expect(existsSync(at('node_modules/runs/in-use'))).toBe(true);
      expect(await install('tests')).toBe('');
      expect(await install('start')).toBe('');
    },
    NPM_TIMEOUT_MS,
  );

  test(
    'what npm has installed by itself is taken, and what it left out is added',
    async () => {
      await npm('install');
      expect([await install('start'), await install('tests')]).toEqual(['', '']);
      await npm('prune', '--omit=dev');
      expect([await install('start'), await install('tests')]).toEqual(['', 'install']);
      await npm('ci', '--omit=optional');
      expect([await install('start'), installed()]).toEqual(['install', ['runs', 'tests', 'fits']]);
    },
    NPM_TIMEOUT_MS,
  );

  test(
    'a changed lockfile is followed, and a start keeps the packages of tests',
    async () => {
      await install('tests');
      await archive('2.0.0', { runs: {} });
      manifest('2.0.0');
      // It makes npm believe that the packages are there.
      await npm('install', '--package-lock-only');
      expect(await install('start')).toBe('install\nci');
      expect(installed()).toEqual(['runs', 'tests', 'fits']);
      expect((await run('npm', ['ls', 'runs'], { cwd: folder.path })).stdout).toContain('runs@2.0.0');
    },
    NPM_TIMEOUT_MS,
  );

  test(
    'what npm says is passed on if it can install nothing',
    async () => {
      writeFileSync(at('package.json'), '{ "dependencies": ');
      const reported = await install('start');
      expect(reported).toMatch(/^ci\ninstall\nnpm could not install the packages\./);
      expect(reported).toContain('EJSONPARSE');
    },
    NPM_TIMEOUT_MS,
  );
});
