import { type AccountsService, createAccountsService } from './services/accounts/accounts.service.js';
import { type AlertsService, createAlertsService } from './services/alerts/alerts.service.js';
import { createMailLinksService, type MailLinksService } from './services/alerts/mail-links.service.js';
import { type AnalyticsService, createAnalyticsService } from './services/analytics/analytics.service.js';
import { type BillingService, createBillingService } from './services/billing/billing.service.js';
import type { ServiceDeps } from './services/deps.js';
import {
  createInstallationService,
  type InstallationService,
} from './services/installation/installation.service.js';
import { createKeysService, type KeysService } from './services/keys/keys.service.js';
import {
  createLeaderboardService,
  type LeaderboardService,
} from './services/leaderboard/leaderboard.service.js';
import { type AlertFeed, createAlertFeed } from './services/live/alert-feed.js';
import { createUsageFeed, type UsageFeed } from './services/live/usage-feed.js';
import { createMigrationService, type MigrationService } from './services/migration/migration.service.js';

/** Every service of the product by its domain. */
export interface Services {
  accounts: AccountsService;
  alerts: AlertsService;
  alertFeed: AlertFeed;
  analytics: AnalyticsService;
  billing: BillingService;
  installation: InstallationService;
  keys: KeysService;
  leaderboard: LeaderboardService;
  mailLinks: MailLinksService;
  migration: MigrationService;
  usageFeed: UsageFeed;
}

/** Makes the services of one process. They hold no state of a request: each method takes the context first. */
export function createServices(deps: ServiceDeps): Services {
  const billing = createBillingService();
  return {
    accounts: createAccountsService(deps),
    alerts: createAlertsService(deps),
    alertFeed: createAlertFeed(deps),
    analytics: createAnalyticsService(),
    billing,
    installation: createInstallationService(deps),
    keys: createKeysService(deps),
    leaderboard: createLeaderboardService(deps, billing),
    mailLinks: createMailLinksService(deps),
    migration: createMigrationService(deps),
    usageFeed: createUsageFeed(deps),
  };
}
