import { execFile, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { processStat } from '../../src/lib/process-stat.js';
import { startUnreaped } from '../support/unreaped.js';
import { until } from '../support/until.js';
import { temporaryFolder } from './support.js';

/** A small checkout with the real bootstrap script and linked packages, which it must not install. */
describe('the bootstrap', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
    mkdirSync(at('scripts'));
    mkdirSync(at('src'));
    for (const name of ['bootstrap', 'install'])
      copyFileSync(`scripts/${name}.mjs`, at(`scripts/${name}.mjs`));
    copyFileSync('package-lock.json', at('package-lock.json'));
    writeFileSync(at('package.json'), '{"type":"module"}');
    symlinkSync(realpathSync(resolve('node_modules')), at('node_modules'));
    writeFileSync(
      at('tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          target: 'es2023',
          module: 'nodenext',
          strict: true,
          incremental: true,
          types: [],
          // The small library: reading it is most of the compiler's work here.
          lib: ['es5'],
          rootDir: 'src',
          outDir: 'dist',
          tsBuildInfoFile: 'dist/.tsbuildinfo',
        },
        include: ['src'],
      }),
    );
    writeFileSync(at('src/one.ts'), 'export const one: number = 1;\n');
    writeFileSync(at('src/two.ts'), 'export const two: number = 2;\n');
  });
  afterEach(() => folder.remove());

  const at = (path: string): string => join(folder.path, path);
  const bootstrap = (...flags: string[]): Promise<{ code: number; output: string; errors: string }> =>
    new Promise((done) => {
      // A process that waits for a lock would outlive the test.
      const limits = { timeout: 25_000 };
      execFile(process.execPath, [at('scripts/bootstrap.mjs'), ...flags], limits, (error, output, errors) =>
        done({ code: error ? Number(error.code) : 0, output, errors }),
      );
    });

  test('builds once, and again only after a change', async () => {
    expect(await bootstrap()).toMatchObject({ code: 0, output: expect.stringMatching(/built +dist in \d/) });
    expect(await bootstrap()).toEqual({ code: 0, output: '', errors: '' });
    writeFileSync(at('src/one.ts'), 'export const one: number = 11;\n');
    expect((await bootstrap('--quiet')).output).toBe('');
    expect(readFileSync(at('dist/one.js'), 'utf8')).toContain('11');
  });

  test('builds the pages once, and again after a change of any of their sources, wherever it is', async () => {
    mkdirSync(at('web/tools'), { recursive: true });
    writeFileSync(
      at('web/tools/main.mjs'),
      `import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
       appendFileSync('runs', 'x');
       mkdirSync('web/generated', { recursive: true });
       mkdirSync('dist/web/assets', { recursive: true });
       if (readFileSync('web/page.html', 'utf8') === 'bad') throw new Error('a bad page');
       cpSync('web/page.html', 'dist/web/page.html');
       for (const name of ['a.js', 'a.js.br', 'documents.json']) writeFileSync('dist/web/assets/' + name, '');
       writeFileSync('dist/web/manifest.json', JSON.stringify({
         pages: { page: 'page.html' },
         persisted: 'assets/documents.json',
         assets: [{ path: '/assets/a.js', encodings: ['br'] }],
         inputs: ['src/two.ts'],
       }));`,
    );
    writeFileSync(at('web/page.html'), 'one');
    const runs = (): number => readFileSync(at('runs'), 'utf8').length;
    expect(await bootstrap()).toMatchObject({
      code: 0,
      output: expect.stringMatching(/built +dist\/web in \d/),
    });
    expect(await bootstrap()).toEqual({ code: 0, output: '', errors: '' });
    expect(runs()).toBe(1);
    // The compiler removes files that it didn't make, but not the pages.
    expect(existsSync(at('dist/web/assets/a.js'))).toBe(true);
    const changes = [
      () => writeFileSync(at('web/page.html'), 'two'),
      () => writeFileSync(at('src/two.ts'), 'export const two: number = 22;\n'),
      () => rmSync(at('dist/web/assets/a.js.br')),
      () => writeFileSync(at('dist/web/manifest.json'), '{"pages":{"pa'),
      () => writeFileSync(at('dist/web/manifest.json'), '{}'),
    ];
    for (const [index, change] of changes.entries()) {
      change();
      expect((await bootstrap()).code).toBe(0);
      expect(runs()).toBe(index + 2);
    }
    writeFileSync(at('src/one.ts'), 'export const one: number = 11;\n');
    await bootstrap();
    expect(runs()).toBe(changes.length + 1);
    writeFileSync(at('web/page.html'), 'bad');
    expect(await bootstrap('--quiet')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/a bad page[\s\S]*The web pages could not be built/),
    });
  });

  /** Replaces scripts/bundle.mjs: writes a journal, and waits for the file `go` if the test wants that. */
  function bundler(): void {
    writeFileSync(
      at('scripts/bundle.mjs'),
      `import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
       import { setTimeout } from 'node:timers/promises';
       appendFileSync('journal', 'begins ');
       while (existsSync('wait') && !existsSync('go')) await setTimeout(10);
       mkdirSync('dist/bundle', { recursive: true });
       writeFileSync('dist/bundle/a.js', '');
       writeFileSync('dist/bundle/files.json', '["a.js"]');
       appendFileSync('journal', 'ends ');`,
    );
  }
  const journal = (): string => (existsSync(at('journal')) ? readFileSync(at('journal'), 'utf8') : '');

  test('bundles again if its list of files is truncated or invalid', async () => {
    bundler();
    await bootstrap();
    for (const [nth, text] of ['["a', '{}', 'null', ''].entries()) {
      writeFileSync(at('dist/bundle/files.json'), text);
      expect([text, await bootstrap()]).toMatchObject([text, { code: 0, errors: '' }]);
      expect([text, journal()]).toEqual([text, 'begins ends '.repeat(nth + 2)]);
    }
  });

  test('waits for programs that a killed start left running', async () => {
    bundler();
    writeFileSync(at('wait'), '');
    const killed = spawn(process.execPath, [at('scripts/bootstrap.mjs')], { stdio: 'ignore' });
    await until(() => journal() === 'begins ', { what: 'the bundle to be under way' });
    const ended = new Promise((done) => killed.once('close', done));
    killed.kill('SIGKILL');
    await ended;
    let output = '';
    const next = spawn(process.execPath, [at('scripts/bootstrap.mjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    next.stdout.on('data', (chunk) => (output += chunk));
    const over = new Promise((done) => next.once('close', done));
    await until(() => output.includes('waiting') || journal() !== 'begins ', {
      what: 'the next start to be under way',
    });
    writeFileSync(at('go'), '');
    expect(await over).toBe(0);
    expect(journal()).toBe('begins ends begins ends ');
    expect(existsSync(at('.bootstrap.lock'))).toBe(false);
  });

  test('rebuilds after the loss of dist, or of one file in it', async () => {
    await bootstrap();
    rmSync(at('dist'), { recursive: true });
    await bootstrap();
    expect(existsSync(at('dist/one.js'))).toBe(true);
    rmSync(at('dist/two.js'));
    await bootstrap();
    expect(existsSync(at('dist/two.js'))).toBe(true);
  });

  test('removes the output of a source that is gone', async () => {
    await bootstrap();
    rmSync(at('src/two.ts'));
    await bootstrap();
    expect(existsSync(at('dist/two.js'))).toBe(false);
    expect(existsSync(at('dist/one.js'))).toBe(true);
  });

  test("stops at a type error with the compiler's message until it is repaired", async () => {
    writeFileSync(at('src/one.ts'), "export const one: number = 'one';\n");
    for (let i = 0; i < 2; i++) {
      const { code, errors } = await bootstrap('--quiet');
      expect(code).toBe(1);
      expect(errors).toContain(
        "src/one.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.",
      );
    }
    writeFileSync(at('src/one.ts'), 'export const one: number = 1;\n');
    expect((await bootstrap()).code).toBe(0);
  });

  test('compiles the sources once for starts and tests, and a type error stops later starts, too', async () => {
    mkdirSync(at('test'));
    writeFileSync(
      at('test/one.test.ts'),
      "import { one } from '../src/one.js';\nexport const two = one + one;\n",
    );
    const { compilerOptions } = JSON.parse(readFileSync(at('tsconfig.json'), 'utf8')) as {
      compilerOptions: object;
    };
    writeFileSync(
      at('tsconfig.test.json'),
      JSON.stringify({
        compilerOptions: {
          ...compilerOptions,
          rootDir: '.',
          outDir: 'build',
          tsBuildInfoFile: 'build/.tsbuildinfo',
        },
        include: ['src', 'test'],
      }),
    );
    writeFileSync(at('src/one.ts'), "export const one: number = 'one';\n");
    for (const flags of [['--with-tests'], [], ['--with-tests']]) {
      const { code, errors } = await bootstrap('--quiet', ...flags);
      expect(code).toBe(1);
      expect(errors.match(/error TS2322/g)).toEqual(['error TS2322']);
    }
    writeFileSync(at('src/one.ts'), 'export const one: number = 1;\n');
    expect((await bootstrap('--with-tests')).code).toBe(0);
    expect(await bootstrap()).toEqual({ code: 0, output: '', errors: '' });
    expect(readFileSync(at('dist/one.js'), 'utf8')).toBe(readFileSync(at('build/src/one.js'), 'utf8'));
  });

  test('many starts at once take turns and leave no lock', async () => {
    const results = await Promise.all(Array.from({ length: 4 }, () => bootstrap()));
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(results.filter(({ output }) => output.includes('built'))).toHaveLength(1);
    expect(existsSync(at('.bootstrap.lock'))).toBe(false);
  });

  test('takes over the lock of a process that is gone', async () => {
    writeFileSync(at('.bootstrap.lock'), `${process.pid} 1\n`);
    expect((await bootstrap()).code).toBe(0);
    expect(existsSync(at('dist/one.js'))).toBe(true);
  });

  test('takes over the lock of a killed process that was never reaped', async () => {
    const holder = await startUnreaped('sleep', ['600']);
    try {
      writeFileSync(at('.bootstrap.lock'), `${holder.pid} ${processStat(holder.pid)!.startTime}\n`);
      await holder.kill();
      expect((await bootstrap()).code).toBe(0);
      expect(existsSync(at('dist/one.js'))).toBe(true);
    } finally {
      await holder.release();
    }
  });
});
