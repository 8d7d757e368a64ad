import { LIMITS } from '../../graphql/limits.js';
import { SELECTION_LIMITS } from '../../graphql/selections.js';
import { code, docsPage, paragraph, type Section, table } from './html.js';
import { subscriptionExample } from './subscription-example.js';

const start: Section = {
  id: 'start',
  title: 'One endpoint',
  body: [
    paragraph(
      'Everything that the REST API under `/api` does can be done at `/graphql`, by the same rules: queries and mutations by POST, subscriptions over WebSocket. Inference stays at `/v1`. The schema describes every field; ask it, or read `schema/schema.graphql`.',
    ),
    code(`curl http://localhost:8080/graphql -H 'content-type: application/json' \\
  -d '{"query":"{ models { modelPublicName inputPricePerMillionUsd outputPricePerMillionUsd } }"}'`),
    '<p>Try it in the <a href="/graphql/playground">playground</a>.</p>',
  ].join(''),
};

const authentication: Section = {
  id: 'authentication',
  title: 'Authentication',
  body: [
    paragraph(
      '`signup` and `login` give an access token. Send it as `Authorization: Bearer …`. The cookie `pr_session`, which both set as well, is for the pages of this site: with it alone only their own documents run, by `documentId`; another is `document_not_trusted`. API keys are for `/v1` alone and worth nothing here. `installation`, `plans`, `models`, `signup` and `login` need no session; everything else answers `unauthorized` without one.',
    ),
    code(`mutation {
  login(input: { email: "me@example.com", password: "correct horse battery" }) {
    accessToken
    expiresIn
    user { id name }
  }
}`),
    paragraph(
      'Over WebSocket the token goes into the payload of `connection_init`, as `{ "authorization": "Bearer …" }`; pages of this site may rely on the cookie for their own documents, and leave it aside with `"credentials": "omit"`. Other sites are refused at the upgrade. Each operation is checked anew, and the socket is closed with 4403 when the token or the session ends.',
    ),
  ].join(''),
};

const errors: Section = {
  id: 'errors',
  title: 'Errors',
  body: [
    paragraph(
      'What went wrong stands in `extensions.code`, with the codes of REST: switch on it, not on the message. `validation_error` names each field that is wrong in `extensions.details`, as `{ "field", "message" }`; `rate_limit_exceeded` says in `extensions.retryAfterSeconds` when to come back. A query or mutation that failed is null, and the others are answered all the same: the status of such an answer is 200.',
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
      'Faults of the document have codes of GraphQL. Their status is 400 if you accept `application/graphql-response+json`, otherwise 200:',
    ),
    table(
      ['code', 'meaning'],
      [
        ['`GRAPHQL_PARSE_FAILED`', 'The document is not GraphQL, or longer than is taken.'],
        ['`GRAPHQL_VALIDATION_FAILED`', 'The document does not fit the schema, or asks for too much.'],
        [
          '`OPERATION_RESOLUTION_FAILURE`',
          'There is no such operation, or it does not run over this transport.',
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
      'Lists are connections, newest first. `first` takes 1 to 100 entries (50), `after` the cursor of the last entry that you have. Entries that come meanwhile neither repeat nor hide others. Cursors are opaque and belong to their list.',
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
    '`Decimal` is an exact decimal in a string with 6 to 12 digits after the point, `"0.9999562"`; inputs take such a string, to the last digit, or a number. `DateTime` is UTC with six digits, `"2026-11-21T08:55:57.123000Z"`.',
  ),
};

const subscriptions: Section = {
  id: 'subscriptions',
  title: 'Subscriptions',
  body: [
    paragraph(
      '`usageRecorded` tells each call of the account once it is charged, some tenths of a second after its end, each exactly once while the socket is open. Whoever reads slowly is told later, not less. After a break, page through `usageEvents` for what came in between. The protocol is `graphql-transport-ws`, which the package graphql-ws speaks.',
    ),
    paragraph(
      '`alertFired` tells each alert of the account once it has fired, one for each destination, before its delivery; how that ended is in `alertEvents`.',
    ),
    paragraph(
      '`accountChanged` tells what of balance, plan and keys has changed, wherever it was done, and that calls were refused; `refusedCalls` has the reasons. Changes that follow each other closely come as one event.',
    ),
    code(subscriptionExample),
    table(
      ['close', 'meaning'],
      [
        ['4400', 'A message was malformed, or one that only servers send.'],
        ['4401', 'An operation came before `connection_init`.'],
        ['4403', 'There is no session, or it has ended. Come back with another token.'],
        ['4408', 'Nothing was said for 5 seconds.'],
        [
          '4429',
          'The account has 10 connections already, or this one began twice or sent too many messages.',
        ],
        ['1009', 'A frame was larger than 64 KiB.'],
        ['1001', 'The server is stopping. Come back.'],
      ],
    ),
  ].join(''),
};

const limits: Section = {
  id: 'limits',
  title: 'Limits',
  body: table(
    ['of one request', 'at most'],
    [
      ['depth', `${LIMITS.depth} fields, ${LIMITS.introspectionDepth} with introspection`],
      ['aliases', String(LIMITS.aliases)],
      ['one field or fragment, repeated in one place', String(SELECTION_LIMITS.repeats)],
      ['fields and fragments in one place', String(SELECTION_LIMITS.selections)],
      [
        'fields and fragments of the document, with each fragment counted wherever it is spread',
        SELECTION_LIMITS.expanded.toLocaleString('en'),
      ],
      ['tokens', LIMITS.tokens.toLocaleString('en')],
      [
        'cost: values that the answer may hold; a search by model or status adds 20 for each day of its window',
        LIMITS.cost.toLocaleString('en'),
      ],
      ['mutations that take a password', '1'],
      ['body', '256 KiB, one operation: no batches'],
      ['frames, connections per account, operations over one connection', '64 KiB, 10, 20'],
      ['subscriptions of one kind per account', '20'],
      ['reads of an account in a minute: each operation, and one more for each 500 of its cost', '600'],
      ['mutations of an account in a minute', '120'],
    ],
  ),
};

/** The page on GraphQL: what a program needs to know that the schema doesn't say. */
export const graphqlGuide = (): string =>
  docsPage('GraphQL', 'Accounts, keys, billing and usage in one request, and usage live.', [
    start,
    authentication,
    errors,
    paging,
    values,
    subscriptions,
    limits,
  ]);
