import { requireViewer, type ServiceContext } from '../../context.js';
import { DAY_MS, formatTimestamp, HOUR_MS, hourStart } from '../../lib/clock.js';
import { idOf, notFound } from '../not-found.js';
import type { RejectedCallOutput } from './refusals.outputs.js';
import { REFUSED_IDS_DAYS, refusalStatus, remedyFor } from './refusals.rules.js';
import { readRefusedCall } from './refusals.store.js';

/**
 * One rejected call of the viewer by its id, from the last 30 days. Of each hour, key, code and model only the latest
 * ids are kept.
 * @throws AppError `not_found`, also for another account's call and for a malformed id.
 */
export async function rejectedCall(context: ServiceContext, callId: string): Promise<RejectedCallOutput> {
  const { accountId } = requireViewer(context);
  const id = idOf(callId, 'call');
  // A UUIDv7 begins with its creation time.
  const began = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  const now = context.clock.now();
  if (began < now - REFUSED_IDS_DAYS * DAY_MS || began > now + HOUR_MS) throw notFound('call');
  // It may have been rejected in the following hour.
  const from = hourStart(began);
  const hours = { from: new Date(from), until: new Date(from + 2 * HOUR_MS) };
  const row = await readRefusedCall(context.em, { accountId, id, ...hours });
  if (!row) throw notFound('call');
  return {
    id,
    status: 'rejected',
    key_id: row.key_id,
    key_name: row.key_name,
    key_status: row.key_status,
    error_code: row.code,
    http_status: refusalStatus(row.code),
    model_public_name: row.model === '' ? null : row.model,
    created_at: formatTimestamp(began),
    remedy: remedyFor(row.code, row.key_status),
  };
}
