import type { Deployment } from '../router/routing.js';

/** The models of a routing file that the simulator answers, once each, and whether these are all. */
export interface SimulatedModels {
  names: string[];
  all: boolean;
}

/** All models are real, as far as the launcher knows. */
export const NOT_SIMULATED: SimulatedModels = { names: [], all: false };

export function simulatedModels(
  deployments: readonly Pick<Deployment, 'group' | 'simulated'>[],
): SimulatedModels {
  const simulated = deployments.filter((one) => one.simulated);
  return {
    names: [...new Set(simulated.map(({ group }) => group))],
    all: simulated.length === deployments.length,
  };
}

function simulatedLine({ names, all }: SimulatedModels): string[] {
  if (names.length === 0) return [];
  const which = all ? 'simulated on this machine' : `simulated on this machine: ${names.join(', ')}`;
  return [`  Models     ${which}. To use real models, see docs/operations.md and proxy.config.yaml`];
}

/** The last lines of a start: the addresses, what to try first, and which models are simulated. */
export function welcome(url: string, simulated: SimulatedModels): string {
  const lines = [
    '',
    `  Ready at   ${url}`,
    `  Dashboard  ${url}/signup`,
    `  API docs   ${url}/docs/api, GraphQL at ${url}/graphql/playground`,
    ...simulatedLine(simulated),
    '',
    '  Try it: sign up, create a key and call a model (copy and paste)',
    '',
    `    BASE=${url}`,
    '    TOKEN=$(curl -s $BASE/api/auth/signup -H "content-type: application/json" \\',
    `      -d '{"email":"me'$RANDOM'@example.com","password":"correct horse battery","name":"Me"}' \\`,
    `      | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    '    KEY=$(curl -s $BASE/api/keys -H "authorization: Bearer $TOKEN" -H "content-type: application/json" \\',
    `      -d '{"name":"first"}' | sed 's/.*"key":"\\(sk-pr-[^"]*\\)".*/\\1/')`,
    '    curl $BASE/v1/chat/completions -H "authorization: Bearer $KEY" -H "content-type: application/json" \\',
    `      -d '{"model":"gateway/fast","messages":[{"role":"user","content":"Hello!"}]}'`,
    '',
    '  Press Ctrl-C to stop.',
    '',
  ];
  return lines.join('\n');
}
