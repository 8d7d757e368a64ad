import type { ComplexityEstimator } from 'graphql-query-complexity';
import { ID } from 'type-graphql';
import { z } from 'zod';
import { firstUpTo } from '../../lib/connection-input.js';
import { uuid } from '../../lib/output-fields.js';
import { idOrText } from '../../lib/uuid.js';
import {
  cancelPlaygroundInput,
  listPlaygroundInput,
  playgroundParams,
  runParametersInput,
  runPlaygroundInput,
  sharePlaygroundInput,
  slugParams,
} from '../../services/playground/playground.inputs.js';
import {
  parametersOutput,
  playgroundSessionOutput,
  runEventOutput,
  runOutput,
  sharedSessionOutput,
  sharingOutput,
} from '../../services/playground/playground.outputs.js';
import { KEPT_SESSIONS, SHARED_SESSIONS } from '../../services/playground/playground.rules.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased, toGraphql, toGraphqlAs } from '../case.js';
import { pageSize } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { field, mutation, query, subscription } from '../fields.js';
import { checked } from '../input.js';
import { TEXT_COST } from '../text-cost.js';
import { descriptionOf, inputType, objectType } from '../zod-fields.js';

const PlaygroundRunStatus = enumOf(
  'PlaygroundRunStatus',
  'Status of a playground run.',
  runOutput.shape.status,
  {
    pending: 'The run is queued.',
    running: 'The model is answering.',
    success: 'The answer is complete.',
    error: 'The run failed; `errorMessage` gives the reason.',
    cancelled: 'The run was cancelled.',
  },
);

const askedCosts = { prompt: TEXT_COST, systemPrompt: TEXT_COST };
objectType('PlaygroundRun', runOutput, {}, { responseContent: TEXT_COST });
objectType('PlaygroundParameters', parametersOutput);
const PlaygroundSession = objectType('PlaygroundSession', playgroundSessionOutput, {}, askedCosts);
const SharedPlaygroundSession = objectType('SharedPlaygroundSession', sharedSessionOutput, {}, askedCosts);
const PlaygroundRunEvent = objectType(
  'PlaygroundRunEvent',
  runEventOutput,
  { status: PlaygroundRunStatus },
  { delta: TEXT_COST },
);

const sessionsInput = z.strictObject({ first: firstUpTo(SHARED_SESSIONS) });
const sessionId = z.object({ session_id: playgroundParams.shape.id });
const sessionIdType = { sessionId: ID };
const sessionPayload = z.object({ session: playgroundSessionOutput.describe('The updated session.') });
const ParametersInput = inputType('PlaygroundParametersInput', runParametersInput);

/** Every text of a session is decrypted to show its beginning. */
const OPENING_COST = 50;
/** Maximum cost of decrypting, so that a list of all shared sessions fits into an operation. */
const MOST_OPENING_COST = KEPT_SESSIONS * OPENING_COST;
/** Lists have only the beginnings of texts, so an entry costs a fifth of a whole session. */
const ENTRIES_PER_SESSION = 5;
/** Six texts are decrypted and returned in full. */
const sessionCost: ComplexityEstimator = ({ childComplexity }) => 500 + childComplexity;

/** The playground of the signed-in account, and its shared sessions. */
export const playgroundResolvers = [
  query('sharedPlaygroundSession', 'public', SharedPlaygroundSession, {
    nullable: true,
    description: 'A shared playground session, available to anyone with its URL.',
    complexity: sessionCost,
    args: slugParams,
    run: ({ services, service }, { slug }) => toGraphql(services.playground.shared(service, { slug })),
  }),
  mutation('runPlayground', 'session', {
    description:
      'Runs a prompt on up to 4 models and returns immediately. Use the subscription `playgroundRun` to stream the answers. Runs are free.',
    input: runPlaygroundInput,
    inputTypes: { parameters: ParametersInput },
    argument: 'The prompt and the models.',
    payload: sessionPayload.describe('The session whose runs have started.'),
    run: ({ services, service }, input) =>
      toGraphqlAs('session', services.playground.start(service, checked(runPlaygroundInput, input))),
  }),
  mutation('cancelPlaygroundRuns', 'session', {
    description: 'Cancels one or all unfinished runs of a session within a second.',
    input: sessionId.extend(cancelPlaygroundInput.unwrap().unwrap().shape).describe('The runs to cancel.'),
    inputTypes: { sessionId: ID, runId: ID },
    argument: 'The session and, optionally, the run.',
    payload: sessionPayload.describe('The session whose runs are being cancelled.'),
    run: async ({ services, service }, { sessionId, runId }) => {
      const session = await services.playground.cancel(service, { id: sessionId, runId: runId ?? null });
      return { session: camelCased(session) };
    },
  }),
  mutation('deletePlaygroundSession', 'session', {
    description: 'Permanently deletes a session and its runs. Unfinished runs are cancelled.',
    input: sessionId.describe('The session to delete.'),
    inputTypes: sessionIdType,
    argument: 'The session.',
    payload: z
      .object({ deleted_playground_session_id: uuid('ID of the deleted session.') })
      .describe('The result of a deletion.'),
    run: async ({ services, service }, { sessionId }) => {
      await services.playground.remove(service, { id: sessionId });
      return { deletedPlaygroundSessionId: idOrText(sessionId) };
    },
  }),
  mutation('sharePlaygroundSession', 'session', {
    description:
      'Creates a public URL with which anyone can read the session. Sharing again returns the same URL unless `rotate` is true.',
    input: sessionId.extend(sharePlaygroundInput.unwrap().unwrap().shape).describe('The session to share.'),
    inputTypes: sessionIdType,
    argument: 'The session.',
    payload: sharingOutput,
    run: ({ services, service }, { sessionId, rotate }) =>
      toGraphql(services.playground.share(service, { id: sessionId, rotate })),
  }),
  mutation('unsharePlaygroundSession', 'session', {
    description: 'Stops sharing a session. Its public URL stops working immediately.',
    input: sessionId.describe('The session to stop sharing.'),
    inputTypes: sessionIdType,
    argument: 'The session.',
    payload: sessionPayload.describe('The session, which is no longer shared.'),
    run: ({ services, service }, { sessionId }) =>
      toGraphqlAs('session', services.playground.unshare(service, { id: sessionId })),
  }),
  field(Viewer, 'playgroundSessions', [PlaygroundSession], {
    description: 'Playground sessions, newest first, with the first 1,000 characters of each text.',
    complexity: ({ args, childComplexity }) => {
      const first = pageSize(args.first, SHARED_SESSIONS);
      const opening = Math.min(first * OPENING_COST, MOST_OPENING_COST);
      return opening + first * Math.ceil(childComplexity / ENTRIES_PER_SESSION);
    },
    args: sessionsInput.extend({
      shared: z.boolean().nullish().describe(descriptionOf(listPlaygroundInput.shape.shared)),
    }),
    run: ({ services, service }, { first, shared }) => {
      const { first: limit } = checked(sessionsInput, { first });
      return toGraphql(services.playground.list(service, { shared: shared ?? undefined, limit }));
    },
  }),
  field(Viewer, 'playgroundSession', PlaygroundSession, {
    nullable: true,
    description: 'A playground session with its full texts.',
    complexity: sessionCost,
    args: playgroundParams,
    argTypes: { id: ID },
    run: ({ services, service }, { id }) => toGraphql(services.playground.get(service, { id })),
  }),
  subscription('playgroundRun', 'session', PlaygroundRunEvent, {
    description:
      'Streams the answers of a session: first the text received so far of each run, then each change, and finally the run with its metrics. The text of a run up to `offset`, followed by `delta`, is its text so far. Completes when the last run has finished. Requires a session.',
    args: sessionId,
    argTypes: sessionIdType,
    subscribe: ({ services, service }, { sessionId }) =>
      services.playground.runEvents(service, { id: sessionId }),
  }),
];
