/** What a suite reports to: each check by name, and whether it passed, failed or is exempt. */

const CHECK_MS = 120_000;

export class Checks {
  results = [];
  skipped;

  /**
   * Runs one check. With `exempt`, the reason why it need not pass, a failure counts as exempt; an exemption that isn't needed
   * any more is a failure, so that none stays behind.
   */
  async check(name, run, { exempt } = {}) {
    const error = await outcome(run);
    if (!exempt) return this.#add(name, error ? 'failed' : 'passed', error && wordsOf(error));
    if (error) return this.#add(name, 'exempt', exempt);
    return this.#add(name, 'failed', 'it passes: the exemption can go');
  }

  /** The tool isn't on this machine. */
  skip(reason) {
    this.skipped = reason;
  }

  #add(name, status, why) {
    this.results.push({ name, status, why });
    const sign = { passed: '✓', failed: '✗', exempt: '–' }[status];
    process.stdout.write(`  ${sign} ${name}${why ? `: ${why}` : ''}\n`);
  }
}

async function outcome(run) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${CHECK_MS / 1000} s`)), CHECK_MS);
  });
  try {
    await Promise.race([run(), late]);
    return undefined;
  } catch (error) {
    return error ?? new Error('it threw nothing');
  } finally {
    clearTimeout(timer);
  }
}

const wordsOf = (error) =>
  String(error?.message ?? error)
    .replace(/\s+/g, ' ')
    .slice(0, 1_000);
