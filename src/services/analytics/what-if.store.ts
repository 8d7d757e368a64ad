import type { EntityManager } from '@mikro-orm/postgresql';
import type { Endpoint } from '../../metering/usage-record.js';
import { countVersions } from '../prompts/version-hours.store.js';
import type { Scope } from './analytics.store.js';
import { countByDayAndModel } from './analytics.store.js';

/** Charged calls of one endpoint. Tokens and dollars are strings, since they may be large. */
export interface ChargedCalls {
  endpoint: Endpoint;
  requests: number;
  input_tokens: string;
  output_tokens: string;
  /** Dollars. */
  cost: string;
}

/** Charged calls with a version of a prompt, optionally of one key. */
export async function chargedOfVersion(
  em: EntityManager,
  { accountId, keyIds, from, until, dirty }: Scope,
  versionId: string,
  endpointOf: (model: string) => Endpoint | undefined,
): Promise<ChargedCalls[]> {
  const scope = { accountId, versionIds: [versionId], keyId: keyIds?.[0], from, until, dirty };
  return charged(await countVersions(em, scope), endpointOf);
}

/** Charged calls per day and model, from the roll-ups. Failed calls have neither tokens nor cost. */
export async function chargedOfScope(
  em: EntityManager,
  scope: Scope,
  endpointOf: (model: string) => Endpoint | undefined,
): Promise<ChargedCalls[]> {
  return charged(await countByDayAndModel(em, scope), endpointOf);
}

/** Counts of one model in a roll-up. */
interface Counted {
  model: string;
  requests: number;
  errors: number;
  input_tokens: number | string;
  output_tokens: number | string;
  cost: string;
}

const charged = (
  rows: readonly Counted[],
  endpointOf: (model: string) => Endpoint | undefined,
): ChargedCalls[] =>
  rows.flatMap(({ model, requests, errors, input_tokens, output_tokens, cost }) => {
    const endpoint = endpointOf(model);
    if (endpoint === undefined || requests === errors) return [];
    return [
      {
        endpoint,
        requests: requests - errors,
        input_tokens: String(input_tokens),
        output_tokens: String(output_tokens),
        cost,
      },
    ];
  });
