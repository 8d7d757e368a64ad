import type { BodyBudget } from '../../inference/memory/body-budget.js';
import type { History } from '../../inference/widgets/history.js';
import type { Loops } from '../../inference/widgets/loops.js';
import type { SiteNames } from '../../inference/widgets/site-names.js';
import type { Visitors } from '../../inference/widgets/visitors.js';
import type { WidgetCache } from '../../inference/widgets/widget-cache.js';
import type { NetworkBudget } from '../../lib/fair/network-budget.js';
import type { RefusedCalls } from '../../metering/refused-calls.js';
import type { V1Deps } from '../v1-deps.js';

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
    | 'minimumUploadRate'
    | 'tracing'
  > {
  /** Memory for messages whose widget isn't known yet. */
  strangerBodies: BodyBudget;
  widgets: Pick<WidgetCache, 'find' | 'renew'>;
  visitors: Visitors;
  loops: Loops;
  /** Counts refusals by network, since a refused visitor pays nothing. */
  refusals: Pick<NetworkBudget, 'require' | 'count'>;
  sites: SiteNames;
  history: History;
  /** Counts messages by site and outcome. The site is stored in the field for the model. */
  outcomes: Pick<RefusedCalls, 'count'>;
}
