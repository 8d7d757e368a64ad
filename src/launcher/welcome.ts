import type { Deployment } from '../router/routing.js';

/** The models of a routing file that the bundled simulator answers, once each, and whether those are all. */
export interface SimulatedModels {
  names: string[];
  all: boolean;
}

/** All models are real, as far as is known here. */
export const NOT_SIMULATED: SimulatedModels = { names: [], all: false };

/** Which models the simulator answers. */
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

const adminCommand = (dataDir: string | undefined): string => {
  const setting = dataDir === undefined ? '' : `DATA_DIR='${dataDir.replaceAll("'", "'\\''")}' `;
  return `${setting}npm run admin -- user EMAIL role=admin`;
};

interface WelcomeFacts {
  url: string;
  simulated: SimulatedModels;
  /** Whether no account is an administrator. */
  lacksAdministrator?: boolean;
  /** `DATA_DIR` as it was set. */
  dataDir?: string | undefined;
}

/** The last lines of the start: addresses, which models are simulated, and what to try first. */
export function welcome({ url, simulated, lacksAdministrator, dataDir }: WelcomeFacts): string {
  const lines = [
    '',
    `  Ready at   ${url}`,
    `  Dashboard  ${url}/signup`,
    `  API docs   ${url}/docs/api, GraphQL at ${url}/graphql/playground`,
    ...simulatedLine(simulated),
    ...(lacksAdministrator
      ? [`  Admin      none yet. To make an account an administrator: ${adminCommand(dataDir)}`]
      : []),
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
