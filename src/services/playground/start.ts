import type { EntityManager } from '@mikro-orm/postgresql';
import { requireViewer, type ServiceContext, type Viewer } from '../../context.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';
import { Model } from '../../entities/billing/model.js';
import { PlaygroundRun } from '../../entities/playground/playground-run.js';
import { PlaygroundSession } from '../../entities/playground/playground-session.js';
import { AppError } from '../../errors.js';
import type { Catalog, CatalogModel } from '../../inference/catalog.js';
import { estimateTokens } from '../../inference/usage/usage.js';
import { utcDay } from '../../lib/clock.js';
import type { Envelope } from '../../lib/crypto.js';
import { newId } from '../../lib/ids.js';
import { pricePerToken } from '../../lib/money.js';
import { newDataKey } from '../accounts/account-creation.js';
import { findById } from '../accounts/accounts.store.js';
import { requireLive } from '../accounts/acting.js';
import { findPlan } from '../accounts/users.store.js';
import type { ServiceDeps } from '../deps.js';
import { accountAuthorization } from './account-key.js';
import { dropOldSessions, lockDataKey, lockStarts, take, takenBy } from './bounds.store.js';
import { type ContentKey, contentKey, sessionView } from './content.js';
import { MAX_TOKENS, type RunPlaygroundInput } from './playground.inputs.js';
import type { SessionOutput } from './playground.outputs.js';
import {
  promptField,
  requireModels,
  requireRunCapacity,
  runsPerMinute,
  systemPromptField,
} from './playground.rules.js';
import { firstLease } from './run-state.store.js';
import type { LiveSession } from './runs/live-session.js';

/** A started session: as it was stored, and its live state. */
export interface Started {
  session: SessionOutput;
  live: LiveSession;
}

/**
 * Checks a prompt against plan and limits, stores its session and starts its runs.
 * @throws AppError `model_not_allowed`, `validation_error`, `upstream_unconfigured`, `rate_limit_exceeded`
 */
export async function startSession(
  context: ServiceContext,
  input: RunPlaygroundInput,
  deps: ServiceDeps,
): Promise<Started> {
  const viewer = requireViewer(context);
  const { accountId } = viewer;
  const { runner } = deps.playground;
  if (runner.stopping) throw new AppError('service_unavailable', { retryAfterSeconds: 1, quiet: true });
  const { catalog, requestsPerMinute } = await requireAllowed(context, accountId, input.models);
  const authorization = await accountAuthorization(context, accountId, deps);
  const now = context.clock.now();
  const bounds = {
    runsPerMinute: runsPerMinute(deps.config.playgroundRunsPerMinute, requestsPerMinute),
    runsPerDay: deps.config.playgroundRunsPerDay,
    outputTokensPerDay: deps.config.playgroundOutputTokensPerDay,
    inputTokensPerDay: deps.config.playgroundInputTokensPerDay,
  };
  const { session, key } = await writeSession(context, { viewer, input, now, bounds }, deps);
  const live = runner.begin({
    ...{ id: session.id, accountId, key, authorization, runs: session.runs, catalog },
    day: utcDay(now),
    maxTokens: session.parameters.max_tokens,
    estimatedInputTokens: inputTokensOf(input),
    bodyFor: (model) => bodyOf(model, session),
  });
  return { session, live };
}

/** All models, after checking that the requested ones are in the plan. */
async function requireAllowed(
  { em }: ServiceContext,
  accountId: string,
  names: readonly string[],
): Promise<{ catalog: Catalog; requestsPerMinute: number }> {
  const account = await findById(em, accountId);
  const plan = account && (await findPlan(em, account.planId));
  if (!plan) throw new AppError('unauthorized');
  const catalog = asCatalog(await em.find(Model, {}, UNTRACKED));
  requireModels(names, plan, (name) => catalog.get(name)?.kind);
  return { catalog, requestsPerMinute: plan.requestsPerMinute };
}

interface Writing {
  viewer: Viewer;
  input: RunPlaygroundInput;
  now: number;
  bounds: Parameters<typeof requireRunCapacity>[2];
}

/** Reserves what the session may use and stores it, in one transaction. */
async function writeSession(
  { em }: ServiceContext,
  { viewer, input, now, bounds }: Writing,
  { envelopes, config }: ServiceDeps,
): Promise<{ session: SessionOutput; key: ContentKey }> {
  const { accountId } = viewer;
  const maxTokens = input.parameters?.max_tokens ?? MAX_TOKENS.default;
  return em.transactional(async (inside) => {
    await lockStarts(inside, accountId);
    const known = await lockDataKey(inside, accountId);
    if (known === undefined) throw new AppError('unauthorized');
    // After all locks: the session may have ended during the wait.
    await requireLive(inside, viewer);
    const sealed = known ?? (await renewDataKey(inside, accountId, envelopes.dataKey));
    const wanted = { runs: input.models.length, maxTokens, inputTokens: inputTokensOf(input) };
    requireRunCapacity(await takenBy(inside, accountId, now), wanted, bounds, now);
    const key = contentKey(envelopes.dataKey, accountId, sealed);
    const session = sessionRow({ viewer, input, now }, maxTokens, key);
    const aliveUntil = await firstLease(inside);
    const runs = input.models.map((modelPublicName, position) =>
      inside.create(
        PlaygroundRun,
        { id: newId(), sessionId: session.id, position, modelPublicName, aliveUntil, ...NOT_BEGUN },
        { persist: false },
      ),
    );
    await take(inside, { sessionId: session.id, accountId, ...wanted, now });
    await inside.insert(PlaygroundSession, session);
    await inside.insertMany(PlaygroundRun, runs);
    await dropOldSessions(inside, accountId);
    const row = inside.create(PlaygroundSession, session, { persist: false });
    return { session: sessionView(row, runs, key, (slug) => `${config.publicBaseUrl}/p/${slug}`), key };
  });
}

/** Replaces a data key that was dropped. Starts take turns, so only one of them gets here. */
async function renewDataKey(em: EntityManager, accountId: string, dataKeys: Envelope): Promise<string> {
  const dataKeySealed = newDataKey(dataKeys, accountId);
  await em.nativeUpdate(Account, { id: accountId, dataKeySealed: null }, { dataKeySealed });
  return dataKeySealed;
}

/** An estimate until the model reports its own count. */
const inputTokensOf = ({ prompt, system_prompt: system }: RunPlaygroundInput): number =>
  estimateTokens(Buffer.byteLength(prompt) + Buffer.byteLength(system ?? ''));

/** Values of a run that hasn't started. */
const NOT_BEGUN = {
  servedModel: null,
  status: 'pending' as const,
  responseSealed: null,
  finishReason: null,
  errorCode: null,
  errorMessage: null,
  latencyMs: null,
  ttftMs: null,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: '0',
  listCostUsd: '0',
  cancelRequested: false,
};

function sessionRow({ viewer, input, now }: Omit<Writing, 'bounds'>, maxTokens: number, key: ContentKey) {
  const { accountId } = viewer;
  const id = newId();
  const { prompt, system_prompt: systemPrompt, parameters } = input;
  return {
    id,
    accountId,
    promptSealed: key.seal(prompt, promptField(accountId, id)),
    systemPromptSealed:
      systemPrompt === null ? null : key.seal(systemPrompt, systemPromptField(accountId, id)),
    parameters: {
      max_tokens: maxTokens,
      ...(parameters?.temperature != null && { temperature: parameters.temperature }),
      ...(parameters?.top_p != null && { top_p: parameters.top_p }),
    },
    shareSlug: null,
    shared: false,
    createdAt: new Date(now),
  };
}

/** The request body for one model. */
function bodyOf(model: string, { prompt, system_prompt: system, parameters }: SessionOutput): Buffer {
  const { temperature, max_tokens, top_p } = parameters;
  const messages = [
    ...(system === null ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: prompt },
  ];
  const sampling = { ...(temperature !== null && { temperature }), ...(top_p !== null && { top_p }) };
  return Buffer.from(JSON.stringify({ model, messages, stream: true, max_tokens, ...sampling }));
}

/** The current models and prices, so that the cost of a session doesn't change while it runs. */
function asCatalog(rows: readonly Model[]): Catalog {
  const models = new Map(
    rows.map((row): [string, CatalogModel] => [
      row.publicName,
      {
        publicName: row.publicName,
        kind: row.kind,
        contextWindow: row.contextWindow,
        priceIn: pricePerToken(row.inputPricePerMillionUsd),
        priceOut: pricePerToken(row.outputPricePerMillionUsd),
      },
    ]),
  );
  return {
    get: (name) => models.get(name),
    all: () => [...models.values()],
    names: new Set(models.keys()),
    reload: async () => undefined,
    stop: () => undefined,
  };
}
