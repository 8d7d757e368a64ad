import { HtmlValidate, StaticConfigLoader } from 'html-validate';
import { publicPages } from '../lib/pages.mjs';
import { until } from '../lib/until.mjs';

/** HTML has its doctype in either case; ours is in lower case, as all else. */
const LOWER_CASE = { 'doctype-style': ['error', { style: 'lowercase' }] };
const validatorOf = (rules) =>
  new HtmlValidate(
    new StaticConfigLoader({ extends: ['html-validate:recommended'], rules: { ...LOWER_CASE, ...rules } }),
  );
const PAGES = validatorOf({});
/** Programs for mail leave style sheets out. */
const MAILS = validatorOf({ 'no-inline-style': 'off' });

export async function run(checks, product) {
  const validates = (name, html, validator = PAGES) =>
    checks.check(name, async () => {
      const { results } = await validator.validateString(html);
      const messages = results.flatMap((result) => result.messages);
      if (messages.length > 0)
        throw new Error(
          messages.map(({ ruleId, line, message }) => `${ruleId} line ${line}: ${message}`).join('; '),
        );
    });
  for (const path of await publicPages(product.url))
    await validates(path, await (await fetch(product.url + path)).text());
  const absent = await fetch(`${product.url}/nothing-here`, { headers: { accept: 'text/html' } });
  await validates('the page for an unknown address', await absent.text());
  for (const [name, mail] of await mailsOf(product)) await validates(`mail: ${name}`, mail.html, MAILS);
}

/** One mail of each kind, as the mail server got it. */
async function mailsOf({ api, keyId, user, mails, url }) {
  const next = async (name, cause) => {
    const before = mails.length;
    await cause();
    return [name, await until(`the mail of ${name}`, () => mails[before])];
  };
  return [
    await next('an alert', async () => {
      const alerts = `/api/keys/${keyId}/alerts`;
      const { id } = await api('POST', alerts, {
        kind: 'email',
        destination: user.email,
        thresholds_pct: [80],
      });
      await api('POST', `${alerts}/${id}/test`);
    }),
    await next('a forgotten password', () =>
      fetch(`${url}/api/auth/forgot-password`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: user.email }),
      }),
    ),
  ];
}
