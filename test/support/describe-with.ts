/**
 * `describe` for tests that need a program of the machine. CI must have it; elsewhere its absence is reported and the tests
 * are skipped.
 * @param program Name of the program and of its Debian package.
 */
export function describeWith(
  program: string,
  path: string | undefined,
  name: string,
  body: () => void,
): void {
  const remedy = `${program} is missing: install it (apt-get install ${program})`;
  if (path) {
    describe(name, body);
  } else if (process.env.CI) {
    test(name, () => {
      throw new Error(remedy);
    });
  } else {
    process.stderr.write(`SKIPPED, ${remedy}: ${name}\n`);
    describe.skip(name, body);
  }
}
