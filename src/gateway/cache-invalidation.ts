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

interface Followed {
  databaseUrl: string;
  log: Logger;
  payers: Payers;
  catalog: Catalog;
}

/** Keeps what this edge has cached up to date with what other processes change. */
export const startCacheInvalidation = ({ databaseUrl, log, payers, catalog }: Followed): Listener =>
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
