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
      [...readFileSync(file, 'utf8').matchAll(/new pg\.(?:Pool|Client)\(\{[^}]*\}/g)].map(([text]) => text),
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
