import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** How a deployment names the bundled simulator; the launcher's word for it, the proxy's is in its own room. */
const SIMULATOR = 'os.environ/SIMULATOR_API_BASE';

/** Whether any deployment of a proxy configuration is the bundled simulator. False for a file that can't be read. */
export function pointsAtSimulator(proxyConfigPath: string): boolean {
  try {
    const config = parse(readFileSync(proxyConfigPath, 'utf8')) as {
      model_list?: { litellm_params?: { api_base?: string } }[];
    };
    return (config.model_list ?? []).some((deployment) => deployment.litellm_params?.api_base === SIMULATOR);
  } catch {
    // The proxy itself says what is wrong with its configuration.
    return false;
  }
}

/** What the person reads last: where it is, what to try first, and whether a real model answers. */
export function welcome(url: string, simulated: boolean): string {
  const lines = [
    '',
    `  Ready at   ${url}`,
    `  Dashboard  ${url}/signup`,
    `  API docs   ${url}/docs/api, GraphQL at ${url}/graphql/playground`,
    ...(simulated
      ? [
          '  Models     simulated on this machine. To use real models, see docs/operations.md and proxy.config.yaml',
        ]
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
