import { LIMITS } from '../../graphql/limits.js';
import { SELECTION_LIMITS } from '../../graphql/selections.js';
import type { SitePage } from '../site.js';
import { code, docsPage, paragraph, type Section, table } from './html.js';
import { EXAMPLE_BASE, subscriptionExample } from './subscription-example.js';

const start = (baseUrl: string): Section => ({
  id: 'start',
  title: 'One endpoint',
  body: [
    paragraph(
      'The GraphQL API at `/graphql` covers what the REST API under `/api` does, except for CSV exports, widget chats and internal routes, and follows the same rules. Send queries and mutations by POST, and subscriptions over WebSocket. Queries with a bearer token or without a session also run by GET. Inference is only available under `/v1`. Every field is documented in the schema: use introspection, or, where it is off, as in production by default, read `schema/schema.graphql` of the source.',
    ),
    code(`curl ${baseUrl}/graphql -H 'content-type: application/json' \\
  -d '{"query":"{ models { modelPublicName inputPricePerMillionUsd outputPricePerMillionUsd } }"}'`),
    '<p>Try it in the <a href="/graphql/playground">playground</a>.</p>',
  ].join(''),
});

const authentication = (openOperations: readonly string[]): Section => ({
  id: 'authentication',
  title: 'Authentication',
  body: [
    paragraph(
      '`signup` and `login` return an access token. Send it as `Authorization: Bearer …`. Both also set the `pr_session` cookie, which is meant for the pages of this site: on its own, it only runs their documents, by `documentId`; in production, any other document fails with `document_not_trusted`. API keys work only under `/v1`, not here.',
    ),
    code(`mutation {
  login(input: { email: "me@example.com", password: "correct horse battery" }) {
    accessToken
    expiresIn
    user { id name }
  }
}`),
    paragraph(
      `These operations don’t require a session; everything else fails with \`unauthorized\` without one: ${openOperations.map((name) => `\`${name}\``).join(', ')}.`,
    ),
    paragraph(
      'Over WebSocket, send the token in the payload of `connection_init`, as `{ "authorization": "Bearer …" }` in any case. Pages of this site can rely on the cookie for their own documents, or ignore it with `"credentials": "omit"`. Upgrades from other sites are rejected. Every operation is authenticated again, and the socket is closed with 4403 when the token expires or the session ends.',
    ),
  ].join(''),
});

const errors: Section = {
  id: 'errors',
  title: 'Errors',
  body: [
    paragraph(
      '`extensions.code` holds the error code, the same as in the REST API. Use the code in your program, not the message. For `validation_error`, `extensions.details` lists every invalid field as `{ "field", "message" }`; for `rate_limit_exceeded`, `extensions.retryAfterSeconds` says when to retry. A failed query or mutation is null, and the others in the request still return their results, with status 200.',
    ),
    code(`{
  "data": { "createApiKey": null },
  "errors": [{
    "message": "The input is not valid.",
    "path": ["createApiKey"],
    "extensions": {
      "code": "validation_error",
      "details": [{ "field": "name", "message": "must not be empty" }]
    }
  }]
}`),
    paragraph(
      'Errors in the document itself use GraphQL’s codes. Their status is 400 if you accept `application/graphql-response+json`, otherwise 200:',
    ),
    table(
      ['code', 'meaning'],
      [
        ['`GRAPHQL_PARSE_FAILED`', 'The document is not valid GraphQL, or is too long.'],
        ['`GRAPHQL_VALIDATION_FAILED`', 'The document doesn’t match the schema, or exceeds a limit.'],
        [
          '`OPERATION_RESOLUTION_FAILURE`',
          'The operation doesn’t exist, or isn’t supported over this transport.',
        ],
      ],
    ),
  ].join(''),
};

const paging: Section = {
  id: 'paging',
  title: 'Paging',
  body: [
    paragraph(
      'Lists are connections, newest first. `first` is the page size, from 1 to 100 (default 50), and `after` is the cursor of the last entry you received. Entries added in the meantime cause neither duplicates nor gaps. Cursors are opaque and only valid for their list.',
    ),
    code(`query ($after: String) {
  viewer {
    usageEvents(first: 100, after: $after) {
      nodes { id costUsd createdAt apiKey { name } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`),
  ].join(''),
};

const values: Section = {
  id: 'values',
  title: 'Money and times',
  body: paragraph(
    '`Decimal` is an exact decimal in a string with 6 to 12 decimal places, such as `"0.9999562"`. Inputs accept such a string, which is never rounded, or a number. `DateTime` is in UTC with microseconds, such as `"2026-11-21T08:55:57.123000Z"`.',
  ),
};

const subscriptions = (baseUrl: string): Section => ({
  id: 'subscriptions',
  title: 'Subscriptions',
  body: [
    paragraph(
      '`usageRecorded` delivers each call of the account once it is charged, a few tenths of a second after it ends, and exactly once while the socket is open. Slow readers get events later, but don’t lose any. After a disconnect, page through `usageEvents` to catch up. The protocol is `graphql-transport-ws`, as implemented by the graphql-ws package.',
    ),
    paragraph(
      '`alertFired` delivers each alert of the account when it fires, one per destination and before delivery. Query `alertEvents` for the outcome.',
    ),
    paragraph(
      '`accountChanged` reports changes of balance, plan and keys, wherever they were made, and rejected calls; `refusedCalls` has the reasons. Changes in quick succession arrive as one event.',
    ),
    code(subscriptionExample.replace(EXAMPLE_BASE, baseUrl)),
    table(
      ['close', 'meaning'],
      [
        ['4400', 'A message was malformed, or of a type that only servers may send.'],
        ['4401', 'An operation was sent before `connection_init`.'],
        [
          '4403',
          'There is no session, it has ended, or its cookie belongs to another account than `accountId` in `connection_init`. Reconnect with a new token.',
        ],
        ['4408', 'No `connection_init` was received within 5 seconds.'],
        [
          '4429',
          'The account already has 10 connections, or this connection sent `connection_init` twice or too many messages.',
        ],
        ['1009', 'A frame was larger than 64 KiB.'],
        ['1001', 'The server is stopping. Reconnect.'],
        ['1011', 'Something went wrong on our side.'],
        ['1013', 'The service is temporarily unavailable. Reconnect after a moment.'],
      ],
    ),
  ].join(''),
});

const limits: Section = {
  id: 'limits',
  title: 'Limits',
  body: table(
    ['limit', 'maximum'],
    [
      ['depth', `${LIMITS.depth} fields, ${LIMITS.introspectionDepth} with introspection`],
      ['aliases', String(LIMITS.aliases)],
      ['repetitions of one field or fragment in one place', String(SELECTION_LIMITS.repeats)],
      ['fields and fragments in one place', String(SELECTION_LIMITS.selections)],
      [
        'fields and fragments of the document after expanding fragments',
        SELECTION_LIMITS.expanded.toLocaleString('en'),
      ],
      ['tokens', LIMITS.tokens.toLocaleString('en')],
      [
        'cost: number of values the response may contain; a search by model or status adds 20 per day of its window',
        LIMITS.cost.toLocaleString('en'),
      ],
      ['the same of one event of a subscription', String(LIMITS.eventCost)],
      ['mutations that take a password', '1'],
      ['body', '768 KiB, one operation: no batches'],
      ['frame size, connections per account, operations per connection', '64 KiB, 10, 20'],
      ['subscriptions of one kind per account', '20'],
      ['reads per account and minute: one per operation, plus one for every 500 of its cost', '600'],
      ['mutations per account and minute', '120'],
    ],
  ),
};

/** The guide to GraphQL: what the schema alone doesn't explain. */
export const graphqlGuide = (baseUrl: string, openOperations: readonly string[]): SitePage =>
  docsPage('/docs/graphql', 'GraphQL', 'Accounts, keys, billing and usage in one request, and live usage.', [
    start(baseUrl),
    authentication(openOperations),
    errors,
    paging,
    values,
    subscriptions(baseUrl),
    limits,
  ]);
