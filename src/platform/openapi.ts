import swagger from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { noBody } from '../rest/operations.js';
import type { RestApp } from '../rest/rest-app.js';
import { finishDocument, type OpenApiDocument } from './openapi-finish.js';
import { INFERENCE_TAG, KEY_SCHEME, withInference } from './openapi-inference.js';

const DESCRIPTION = `Inference, accounts, keys, credits and usage of the gateway.

For everything under \`/api\`, log in with \`POST /api/auth/login\` and send the token as \`Authorization: Bearer …\`, or let the browser send the
\`pr_session\` cookie. Inference is available under \`/v1\`: it is compatible with OpenAI's API and takes an API key.
Amounts are exact decimals in strings; timestamps are in UTC.`;

/** Collects the routes' schemas into one OpenAPI 3.1 document (\`app.swagger()\`). Register it before the routes. */
export async function collectOpenApi(app: RestApp): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Inference gateway',
        version: '1.1.0',
        description: DESCRIPTION,
        contact: { name: 'The operator of this installation' },
        license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      },
      servers: [{ url: '/', description: 'The installation that serves this document.' }],
      tags: [
        INFERENCE_TAG,
        { name: 'Account', description: 'Sign-up, login and your account.' },
        { name: 'Billing', description: 'Credits, ledger, usage, plans and models.' },
        { name: 'Keys', description: 'API keys and their spending limits.' },
        { name: 'Leaderboard', description: 'Model rankings over all accounts.' },
        { name: 'Status', description: 'Availability of the models.' },
        { name: 'Migration', description: 'Cost estimates for a move from another provider.' },
        { name: 'Widgets', description: 'Chat widgets for web pages.' },
        { name: 'Prompts', description: 'Saved prompts, their versions and statistics.' },
        { name: 'Alerts', description: 'Spend alerts and their delivery.' },
        { name: 'Playground', description: 'One prompt for several models, and their responses.' },
        { name: 'Administration', description: 'Account management for administrators.' },
        { name: 'Nodes', description: 'GPU nodes, heartbeats and benchmarks, for administrators and nodes.' },
        { name: 'Health', description: 'Liveness and readiness.' },
      ],
      components: {
        securitySchemes: {
          key: KEY_SCHEME,
          internal: { type: 'http', scheme: 'bearer', description: 'The value of `GPU_HEARTBEAT_SECRET`.' },
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A session token.' },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'pr_session',
            description:
              'The session token as a cookie, for browsers. All tabs share it: if a request names an account in `X-Gateway-Account` and the cookie belongs to another, it fails with 409 `account_changed` and does nothing.',
          },
        },
      },
      security: [{ bearer: [] }, { cookie: [] }],
    },
    // A body that may be `{}` or absent is left out of the document.
    transform: (route) => {
      const { body, ...schema } = route.schema;
      const described = jsonSchemaTransform(body === noBody ? { ...route, schema } : route);
      tellDefaults(route.schema.querystring, described.schema.querystring);
      return described;
    },
    transformObject: (document) =>
      finishDocument(withInference(jsonSchemaTransformObject(document) as OpenApiDocument)),
  });
}

/**
 * Adds the defaults of a query to its description. Zod leaves out the defaults of preprocessed values, such as
 * numbers in a query string.
 */
function tellDefaults(query: unknown, described: unknown): void {
  // Hidden routes have no description.
  if (!(query instanceof z.ZodObject) || described === undefined) return;
  const { properties } = described as { properties: Record<string, { default?: unknown }> };
  for (const [name, field] of Object.entries(query.shape)) {
    if (field instanceof z.ZodDefault) properties[name]!.default ??= field.def.defaultValue;
  }
}
