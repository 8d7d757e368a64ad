import {
  ALERT_FIRED_CHANNEL,
  decodeFlushed,
  decodeInvalidation,
  INVALIDATION_CHANNEL,
  PROMPTS_CHANNEL,
} from '../db/invalidation.js';
import { type Listener, listen } from '../db/listen.js';
import type { Catalog } from '../inference/catalog.js';
import type { Payers } from '../inference/payers.js';
import type { Logger } from '../lib/logger.js';

interface InvalidationDeps {
  databaseUrl: string;
  log: Logger;
  payers: Payers;
  catalog: Catalog;
}

/** Drops or reloads what this edge has cached when another process changes it. */
export const startCacheInvalidation = ({ databaseUrl, log, payers, catalog }: InvalidationDeps): Listener =>
  listen({
    databaseUrl,
    channel: [INVALIDATION_CHANNEL, PROMPTS_CHANNEL, ALERT_FIRED_CHANNEL],
    log,
    onNotify(payload, channel) {
      if (channel === PROMPTS_CHANNEL) {
        payers.widgets.invalidate({ kind: 'account', id: payload });
        return;
      }
      if (channel === ALERT_FIRED_CHANNEL) {
        payers.keys.guardsActed(decodeFlushed(payload));
        return;
      }
      const change = decodeInvalidation(payload);
      if (!change) return;
      if (change.kind === 'catalog') void catalog.reload();
      payers.invalidate(change);
    },
    onListening() {
      void catalog.reload();
      payers.invalidateAll();
    },
  });
