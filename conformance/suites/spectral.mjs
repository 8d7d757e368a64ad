import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

export async function run(checks, { url }) {
  const document = await (await fetch(`${url}/openapi.json`)).json();
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset({ extends: [spectralRulesets.oas] });
  const results = await spectral.run(document);
  await checks.check('no problem by the rules for OpenAPI', async () => {
    const lines = results.map(({ code, message, path }) => `${code} #/${path.join('/')}: ${message}`);
    if (lines.length > 0) throw new Error(lines.join('; '));
  });
}
