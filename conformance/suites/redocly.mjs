import { createConfig, lintFromString } from '@redocly/openapi-core';

const PATHS =
  'GET asks for what `{slug}` names, POST and DELETE what stands behind an id: no request fits both';

export async function run(checks, { url }) {
  const source = await (await fetch(`${url}/openapi.json`)).text();
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  const meant = ({ ruleId, message }) =>
    ruleId === 'no-ambiguous-paths' && message.includes('/playground/shared/{slug}');
  const report = (some) => async () => {
    const lines = some.map(
      ({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`,
    );
    if (lines.length > 0) throw new Error(lines.join('; '));
  };
  await checks.check('no problem by the recommended rules', report(problems.filter((one) => !meant(one))));
  await checks.check('no-ambiguous-paths of shared playgrounds', report(problems.filter(meant)), {
    exempt: PATHS,
  });
}
