import { requireViewer, type ServiceContext } from '../../context.js';
import { UNTRACKED } from '../../db/untracked.js';
import { RefusedCallHour } from '../../entities/analytics/refused-call-hour.js';
import { DAY_MS, dayStart, formatTimestamp, hourStart } from '../../lib/clock.js';
import type { PageInput } from '../../lib/page-input.js';
import { uuidsOf } from '../../lib/uuid.js';
import type { AnalyticsInput } from '../analytics/analytics.inputs.js';
import { ownedKeys } from '../keys/keys.store.js';
import { notFound } from '../not-found.js';
import type { RefusalHourOutput, RefusedCallOutput, RefusedCallsOutput } from './refusals.outputs.js';
import { refusalStatus, remedyFor } from './refusals.rules.js';
import { type RefusedRow, readRefusedCalls } from './refusals.store.js';
import { rejectedCall } from './rejected-call.js';

const MOST_REASONS = 100;
const MOST_HOURS = 5_000;

/**
 * The window begins with a UTC day. A window in the past ends at the beginning of the current hour, because counts
 * are hourly: otherwise a whole last day would be compared with a part of today.
 */
function windowOf(
  { clock }: ServiceContext,
  { window_days: days, ends_days_ago: ago = 0 }: AnalyticsInput,
): { from: Date; until: Date } {
  const now = clock.now() - ago * DAY_MS;
  const tomorrow = dayStart(now) + DAY_MS;
  return { from: new Date(tomorrow - days * DAY_MS), until: new Date(ago === 0 ? tomorrow : hourStart(now)) };
}

/** Refused calls as their owners see them: of the viewer's account, or of its keys. */
export function createRefusalsService() {
  const read = (
    context: ServiceContext,
    input: AnalyticsInput,
    keyIds?: readonly string[],
  ): Promise<RefusedRow[]> => {
    const { accountId } = requireViewer(context);
    return readRefusedCalls(context.em, {
      accountId,
      ...(keyIds && { keyIds }),
      ...windowOf(context, input),
      limit: MOST_REASONS,
    });
  };

  /** By key id. Keys of other accounts and malformed ids are absent. Takes as many statements as for one key. */
  const ofKeys = async (
    context: ServiceContext,
    { ids, ...input }: AnalyticsInput & { ids: readonly string[] },
  ): Promise<Map<string, RefusedCallsOutput>> => {
    const { accountId } = requireViewer(context);
    const own = await ownedKeys(context.em, { accountId, ids: uuidsOf(ids) });
    if (own.length === 0) return new Map();
    const byKey = Map.groupBy(await read(context, input, own), (row) => row.key_id);
    return new Map(own.map((id) => [id, outputOf(input, byKey.get(id) ?? [])]));
  };

  return {
    /** Of the whole account, including deleted keys. */
    async ofAccount(context: ServiceContext, input: AnalyticsInput): Promise<RefusedCallsOutput> {
      return outputOf(input, await read(context, input));
    },

    /** @throws AppError `not_found`, also for another account's key and for a malformed id. */
    async ofKey(
      context: ServiceContext,
      input: AnalyticsInput & { id: string },
    ): Promise<RefusedCallsOutput> {
      const found = (await ofKeys(context, { ...input, ids: [input.id] })).values().next().value;
      if (!found) throw notFound('API key');
      return found;
    },

    ofKeys,

    call: rejectedCall,

    /** Of the whole account by hour, newest first: a page, or the latest 5,000. */
    async byHour(
      context: ServiceContext,
      { limit = MOST_HOURS, offset = 0, ...input }: AnalyticsInput & Partial<PageInput>,
    ): Promise<RefusalHourOutput[]> {
      const { accountId } = requireViewer(context);
      const { from, until } = windowOf(context, input);
      const hours = await context.em.find(
        RefusedCallHour,
        { accountId, hour: { $gte: from, $lt: until } },
        {
          ...UNTRACKED,
          orderBy: { hour: 'desc', keyId: 'asc', code: 'asc', model: 'asc' },
          limit,
          offset,
        },
      );
      return hours.map(({ hour, keyId, model, code, calls }) => ({
        hour: formatTimestamp(hour),
        key_id: keyId,
        model_public_name: model === '' ? null : model,
        code,
        count: Number(calls),
      }));
    },
  };
}

const outputOf = (
  { window_days: windowDays }: AnalyticsInput,
  rows: readonly RefusedRow[],
): RefusedCallsOutput => ({
  window_days: windowDays,
  total_calls: rows[0]?.total ?? 0,
  reasons: rows.map(reasonOf),
});

const reasonOf = (row: RefusedRow): RefusedCallOutput => ({
  key_id: row.key_id,
  key_name: row.key_name,
  key_status: row.key_status,
  code: row.code,
  http_status: refusalStatus(row.code),
  model_public_name: row.model === '' ? null : row.model,
  calls: row.calls,
  last_at: formatTimestamp(row.last_ms),
  remedy: remedyFor(row.code, row.key_status),
});
