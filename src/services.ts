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
import { type AlertFeed, createAlertFeed } from './services/live/alert-feed.js';
import { createUsageFeed, type UsageFeed } from './services/live/usage-feed.js';
import { createPlaygroundService, type PlaygroundService } from './services/playground/playground.service.js';

/** Every service of the product by its domain. */
export interface Services {
  accounts: AccountsService;
  alerts: AlertsService;
  alertFeed: AlertFeed;
  analytics: AnalyticsService;
  billing: BillingService;
  installation: InstallationService;
  keys: KeysService;
  mailLinks: MailLinksService;
  playground: PlaygroundService;
  usageFeed: UsageFeed;
}

/** Makes the services of one process. They hold no state of a request: each method takes the context first. */
export function createServices(deps: ServiceDeps): Services {
  return {
    accounts: createAccountsService(deps),
    alerts: createAlertsService(deps),
    alertFeed: createAlertFeed(deps),
    analytics: createAnalyticsService(),
    billing: createBillingService(),
    installation: createInstallationService(deps),
    keys: createKeysService(deps),
    mailLinks: createMailLinksService(deps),
    playground: createPlaygroundService(deps),
    usageFeed: createUsageFeed(deps),
  };
}
