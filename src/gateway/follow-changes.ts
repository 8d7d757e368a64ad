import {
  ALERT_FIRED_CHANNEL,
  decodeFlushed,
  decodeInvalidation,
  INVALIDATION_CHANNEL,
  PROMPTS_CHANNEL,
} from '../db/invalidation.js';
import { type Listener, listen } from '../db/listen.js';
import type { Catalog } from '../inference/catalog.js';
import type { KeyCache } from '../inference/keys/key-cache.js';
import type { WidgetCache } from '../inference/widgets/widget-cache.js';
import type { Logger } from '../lib/logger.js';

interface Followed {
  databaseUrl: string;
  log: Logger;
  cache: KeyCache;
  catalog: Catalog;
  widgets: WidgetCache;
}

/** Keeps what this edge has cached up to date with what other processes change. */
export const followChanges = ({ databaseUrl, log, cache, catalog, widgets }: Followed): Listener =>
  listen({
    databaseUrl,
    channel: [INVALIDATION_CHANNEL, PROMPTS_CHANNEL, ALERT_FIRED_CHANNEL],
    log,
    onNotify(payload, channel) {
      if (channel === PROMPTS_CHANNEL) {
        widgets.promptsChanged(payload);
        return;
      }
      if (channel === ALERT_FIRED_CHANNEL) {
        cache.guardsActed(decodeFlushed(payload));
        return;
      }
      const change = decodeInvalidation(payload);
      if (!change) return;
      if (change.kind === 'catalog') void catalog.reload();
      cache.invalidate(change);
      widgets.invalidate(change);
    },
    onListening() {
      void catalog.reload();
      cache.invalidateAll();
      widgets.invalidateAll();
    },
  });
