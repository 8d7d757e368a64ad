import swagger from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { RestApp } from '../rest/rest-app.js';
import { finishDocument, type OpenApiDocument } from './openapi-finish.js';

const DESCRIPTION = `Accounts, keys, credits and usage of the inference gateway.

Sign in with \`POST /api/auth/login\` and send the token as \`Authorization: Bearer …\`, or let the browser send the
cookie \`pr_session\`. Inference itself is at \`/v1\`, in the form of OpenAI's API, with an API key.
Money is an exact decimal in a string; times are UTC.`;

/** Collects the routes' schemas into one OpenAPI 3.1 document (\`app.swagger()\`). Register it before the routes. */
export async function collectOpenApi(app: RestApp): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Inference gateway',
        version: '1.0.0',
        description: DESCRIPTION,
        contact: { name: 'The operator of this installation' },
        license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      },
      servers: [{ url: '/', description: 'The installation that serves this document.' }],
      tags: [
        { name: 'Account', description: 'Sign-up, log-in and your own account.' },
        { name: 'Billing', description: 'Credits, ledger, usage, plans and models.' },
        { name: 'Keys', description: 'API keys and their caps.' },
        { name: 'Alerts', description: 'Who is told of spend, and what they were told.' },
        { name: 'Playground', description: 'One prompt for several models, and its answers.' },
        { name: 'Administration', description: 'For operators.' },
        { name: 'Health', description: 'Whether the service works.' },
      ],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A session token.' },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'pr_session',
            description: 'The same token, for browsers.',
          },
        },
      },
      security: [{ bearer: [] }, { cookie: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => finishDocument(jsonSchemaTransformObject(document) as OpenApiDocument),
  });
}
