import pa11y from 'pa11y';
import { NO_BROWSER, startBrowser } from '../lib/browser.mjs';
import { publicPages } from '../lib/pages.mjs';

const USERNAME = 'HTML lets an email field be the `username` of a form; the rule is older than that';
const isUsername = ({ message }) => message.startsWith('Invalid autocomplete value: username.');

const none = (issues) => async () => {
  const lines = issues.map(({ code, selector, message }) => `${code} at ${selector}: ${message}`);
  if (lines.length > 0) throw new Error(lines.join('; '));
};

export async function run(checks, { url }) {
  if (NO_BROWSER) return checks.skip(NO_BROWSER);
  const browser = await startBrowser();
  try {
    for (const path of await publicPages(url)) {
      const { issues } = await pa11y(url + path, { browser, standard: 'WCAG2AA', timeout: 60_000 });
      await checks.check(path, none(issues.filter((issue) => !isUsername(issue))));
      const usernames = issues.filter(isUsername);
      if (usernames.length > 0)
        await checks.check(`${path}: username`, none(usernames), { exempt: USERNAME });
    }
  } finally {
    await browser.close();
  }
}
