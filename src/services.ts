import { createAccountsService } from './services/accounts/accounts.service.js';
import { createAdminService } from './services/admin/admin.service.js';
import { createAlertsService } from './services/alerts/alerts.service.js';
import { createMailLinksService } from './services/alerts/mail-links.service.js';
import { createAnalyticsService } from './services/analytics/analytics.service.js';
import { createWhatIfService } from './services/analytics/what-if.service.js';
import { createBillingService } from './services/billing/billing.service.js';
import { createOutlookService } from './services/billing/outlook.service.js';
import { createStatementService } from './services/billing/statement.service.js';
import type { ServiceDeps } from './services/deps.js';
import { createInstallationService } from './services/installation/installation.service.js';
import { createKeysService } from './services/keys/keys.service.js';
import { createLeaderboardService } from './services/leaderboard/leaderboard.service.js';
import { createLeaderboardMixService } from './services/leaderboard/mix.service.js';
import { createStatusService } from './services/leaderboard/status.service.js';
import { createAccountFeed } from './services/live/account-feed.js';
import { createAlertFeed } from './services/live/alert-feed.js';
import { createNodeFeed } from './services/live/node-feed.js';
import { createPromptFeed } from './services/live/prompt-feed.js';
import { createUsageFeed } from './services/live/usage-feed.js';
import { createMigrationService } from './services/migration/migration.service.js';
import { createBenchmarksService } from './services/nodes/benchmarks.service.js';
import { createEconomicsService } from './services/nodes/economics.service.js';
import { createHeartbeatsService } from './services/nodes/heartbeats.service.js';
import { createNodesService } from './services/nodes/nodes.service.js';
import { createPlaygroundService } from './services/playground/playground.service.js';
import { createPromptsService } from './services/prompts/prompts.service.js';
import { createVersionStatsService } from './services/prompts/version-stats.service.js';
import { createRefusalsService } from './services/refusals/refusals.service.js';
import { createWidgetsService } from './services/widgets/widgets.service.js';

/** Creates all services. They keep no state of a request: each method takes the context first. */
export function createServices(deps: ServiceDeps) {
  const billing = createBillingService(deps.config.topUp);
  const leaderboard = createLeaderboardService(deps, billing);
  return {
    accountFeed: createAccountFeed(deps),
    accounts: createAccountsService(deps),
    admin: createAdminService(deps, billing),
    alerts: createAlertsService(deps),
    alertFeed: createAlertFeed(deps),
    analytics: createAnalyticsService(),
    benchmarks: createBenchmarksService(),
    billing,
    economics: createEconomicsService(deps),
    heartbeats: createHeartbeatsService(),
    installation: createInstallationService(deps),
    keys: createKeysService(deps),
    leaderboard,
    leaderboardMix: createLeaderboardMixService(deps, leaderboard),
    mailLinks: createMailLinksService(deps),
    migration: createMigrationService(deps),
    nodes: createNodesService(deps),
    nodeFeed: createNodeFeed(deps),
    outlook: createOutlookService(),
    refusals: createRefusalsService(),
    promptFeed: createPromptFeed(deps),
    prompts: createPromptsService(),
    playground: createPlaygroundService(deps),
    status: createStatusService(deps),
    statements: createStatementService(deps),
    usageFeed: createUsageFeed(deps),
    versionStats: createVersionStatsService(),
    whatIf: createWhatIfService(),
    widgets: createWidgetsService(deps),
  };
}

export type Services = ReturnType<typeof createServices>;
