/** Replaced by the installation's own URL. */
export const EXAMPLE_BASE = 'http://localhost:8080';

/** The example of the GraphQL guide. A test runs it unchanged. */
export const subscriptionExample = `// usage.mjs: prints each call of the account once it is charged. Node 22 or newer; npm install graphql-ws graphql
import { createClient } from 'graphql-ws';

const base = process.env.GATEWAY_URL ?? '${EXAMPLE_BASE}';

async function logIn() {
  const answer = await fetch(base + '/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: 'mutation ($input: LoginInput!) { login(input: $input) { accessToken } }',
      variables: { input: { email: process.env.GATEWAY_EMAIL, password: process.env.GATEWAY_PASSWORD } },
    }),
  });
  const { data, errors } = await answer.json();
  if (errors) throw new Error(errors[0].extensions.code + ': ' + errors[0].message);
  return data.login.accessToken;
}

const client = createClient({
  url: base.replace(/^http/, 'ws') + '/graphql',
  // Called for each connection: when the token ends, the socket is closed with 4403, and the next one sends a new
  // token.
  connectionParams: async () => ({ authorization: 'Bearer ' + (await logIn()) }),
  shouldRetry: () => true,
  on: { connected: () => console.log('connected') },
});

const usage = client.iterate({
  query: 'subscription { usageRecorded { id modelPublicName inputTokens outputTokens costUsd } }',
});
for await (const { data, errors } of usage) {
  if (errors) throw new Error(errors[0].message);
  const { modelPublicName, inputTokens, outputTokens, costUsd } = data.usageRecorded;
  console.log(modelPublicName + ': ' + inputTokens + ' in, ' + outputTokens + ' out, $' + costUsd);
}
`;
