import type { CallMetrics } from '../inference/call-metrics.js';
import type { Catalog } from '../inference/catalog.js';
import type { KeyCache } from '../inference/keys/key-cache.js';
import type { Limits } from '../inference/limits/limits.js';
import type { BodyBudget } from '../inference/memory/body-budget.js';
import type { ModelRoutes } from '../inference/model-routes.js';
import type { Relay, RelayDeps } from '../inference/relay/relay.js';
import type { AllowedFields } from '../inference/request/body-fields.js';
import type { MediaRules } from '../inference/request/media-addresses.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SlotSet } from '../lib/slot-set.js';
import type { Tracing } from '../lib/tracing/tracing.js';
import type { RefusedCalls } from '../metering/refused-calls.js';
import type { Meter } from '../metering/usage-record.js';
import type { MinimumRate } from './minimum-rate.js';
import type { Served } from './not-supported.js';
import type { Responses } from './responses/responses.js';
import type { ReaderBounds } from './v1-sink.js';

export interface V1Deps {
  cache: KeyCache;
  catalog: Catalog;
  meter: Meter;
  refused: Pick<RefusedCalls, 'count'>;
  metrics: CallMetrics;
  clock: Clock;
  log: Logger;
  limits: Limits;
  routes: Pick<ModelRoutes, 'ownerOf'>;
  relay: RelayDeps;
  reader: ReaderBounds;
  /** Relays in flight, which a shutdown ends after its drain. */
  active: SlotSet<Relay>;
  bodies: BodyBudget;
  /** Additional body fields to forward. */
  allowedFields: AllowedFields;
  media: MediaRules;
  minimumUploadRate: MinimumRate;
  /** Absent unless RESPONSES_API is set. */
  responses?: Responses | undefined;
  /** Named in the 404 of an unknown endpoint. */
  served: Served;
  tracing: Tracing | undefined;
}
