import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { compiled, compiledFiles } from './loaded-modules.js';

/** The product, and the suites of `npm run conformance`. */
const MANIFESTS = ['package.json', 'conformance/package.json'];

describe('the repository', () => {
  test('reads the environment in config.ts only', () => {
    const readers = compiledFiles()
      // Comments may speak of it.
      .filter((file) =>
        /\bprocess\s*\.\s*env\b|\bprocess\['env'\]|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b|import \{[^}]*\benv\b[^}]*\} from 'node:process'/.test(
          readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ''),
        ),
      )
      .map((file) => relative(compiled, file))
      // Programs for customers, which stand there as text.
      .filter(
        (file) =>
          !/^(?:pages.docs.(?:subscription-example|webhook-examples)|services.migration.snippets\.rules)\.js$/.test(
            file,
          ),
      );
    expect(readers).toEqual(['config.js']);
  });

  test('opens every connection to the database with the limits of a session', () => {
    const openings = compiledFiles().flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/new (?:pg\.Pool|pg\.Client|DatabaseClient)\(\{[^}]*\}/g)].map(
        ([text]) => text,
      ),
    );
    expect(openings.length).toBeGreaterThan(3);
    // `sessionSettings` leaves them out before a pooler, which refuses them.
    expect(openings.filter((text) => !/\.\.\.(?:SESSION_LIMITS|sessionSettings\()/.test(text))).toEqual([]);
  });

  test.each(MANIFESTS)(
    'names no registry in the lock of %s, so that it installs from whatever one is configured',
    (manifest) => {
      const lockfile = readFileSync(manifest.replace('package.json', 'package-lock.json'), 'utf8');
      const { packages } = JSON.parse(lockfile) as {
        packages: Record<string, { integrity?: string; resolved?: string }>;
      };
      const installed = Object.entries(packages).filter(([path]) => path !== '');
      expect(installed.length).toBeGreaterThan(300);
      expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
      expect(installed.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
      expect(lockfile).not.toMatch(/"(?:resolved|tarball)":|registry\./);
    },
  );

  // No version with a known vulnerability (requirement G25).
  test.each([
    ['fastify', [5, 8, 1], 'CVE-2026-25223, CVE-2026-3419'],
    ['undici', [7, 24, 0], 'CVE-2026-22036, CVE-2026-1526, CVE-2026-1527'],
    ['@mikro-orm/core', [7, 0, 6], 'CVE-2026-34220, CVE-2026-34221'],
    ['@apollo/server', [5, 5, 0], 'CVE-2026-23897'],
  ])('installs no %s below %j (%s)', (name, floor) => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { version?: string }>;
    };
    const versions = Object.entries(packages)
      .filter(([path]) => path.endsWith(`node_modules/${name}`))
      .map(([, { version }]) => version!.split('.').map((part) => Number.parseInt(part, 10)));
    expect(versions.length).toBeGreaterThan(0);
    const isBelow = (version: number[]): boolean => {
      const first = floor.findIndex((part, at) => version[at] !== part);
      return first !== -1 && version[first]! < floor[first]!;
    };
    expect(versions.filter(isBelow)).toEqual([]);
  });

  test.each(MANIFESTS)('pins every direct dependency of %s to one version', (path) => {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Record<string, string>>;
    const direct = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((group) =>
      Object.entries(manifest[group] ?? {}),
    );
    expect(direct.length).toBeGreaterThan(20);
    // `npm:` gives a package another name.
    const loose = direct.filter(([, version]) => !/^(?:npm:[^@]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version));
    expect(loose).toEqual([]);
  });
});
