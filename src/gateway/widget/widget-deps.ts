import type { BodyBudget } from '../../inference/memory/body-budget.js';
import type { History } from '../../inference/widgets/history.js';
import type { Loops } from '../../inference/widgets/loops.js';
import type { SiteNames } from '../../inference/widgets/site-names.js';
import type { Visitors } from '../../inference/widgets/visitors.js';
import type { WidgetCache } from '../../inference/widgets/widget-cache.js';
import type { NetworkBudget } from '../../lib/fair/network-budget.js';
import type { RefusedCalls } from '../../metering/refused-calls.js';
import type { V1Deps } from '../v1-deps.js';

/** What chats with widgets are answered with. */
export interface WidgetDeps
  extends Pick<
    V1Deps,
    | 'meter'
    | 'metrics'
    | 'clock'
    | 'log'
    | 'limits'
    | 'catalog'
    | 'relay'
    | 'reader'
    | 'active'
    | 'bodies'
    | 'pace'
    | 'tracing'
  > {
  /** Memory for messages whose widget isn't known yet. */
  strangerBodies: BodyBudget;
  widgets: Pick<WidgetCache, 'find' | 'renew'>;
  visitors: Visitors;
  loops: Loops;
  /** Refusals by the network that they went to: they cost it nothing. */
  refusals: Pick<NetworkBudget, 'require' | 'count'>;
  sites: SiteNames;
  history: History;
  /** Messages by site and outcome; a site takes the place of a model. */
  outcomes: Pick<RefusedCalls, 'count'>;
}
