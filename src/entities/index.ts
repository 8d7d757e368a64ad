import { Account } from './accounts/account.js';
import { EndedSession } from './accounts/ended-session.js';
import { KnownNetwork } from './accounts/known-network.js';
import { LoginFailure } from './accounts/login-failure.js';
import { NetworkCount } from './accounts/network-count.js';
import { PasswordReset } from './accounts/password-reset.js';
import { StarterCredit } from './accounts/starter-credit.js';
import { AdminAction } from './admin/admin-action.js';
import { AlertEvent } from './alerts/alert-event.js';
import { AlertMail } from './alerts/alert-mail.js';
import { AlertSubscription } from './alerts/alert-subscription.js';
import { MailRecipient } from './alerts/mail-recipient.js';
import { ThresholdFiring } from './alerts/threshold-firing.js';
import { RefusedCallHour } from './analytics/refused-call-hour.js';
import { RollupDirtyDay } from './analytics/rollup-dirty-day.js';
import { RollupDirtyHour } from './analytics/rollup-dirty-hour.js';
import { RollupUnsummedDay } from './analytics/rollup-unsummed-day.js';
import { UsageLatencyDay } from './analytics/usage-latency-day.js';
import { UsageRollup } from './analytics/usage-rollup.js';
import { UsageSlice } from './analytics/usage-slice.js';
import { UsageSlicedHour } from './analytics/usage-sliced-hour.js';
import { AccountUsageHour } from './billing/account-usage-hour.js';
import { AuditRound } from './billing/audit-round.js';
import { AuditSeal } from './billing/audit-seal.js';
import { AuditTime } from './billing/audit-time.js';
import { CallRoute } from './billing/call-route.js';
import { FormerUsage } from './billing/former-usage.js';
import { LedgerEntry } from './billing/ledger-entry.js';
import { Model } from './billing/model.js';
import { Plan } from './billing/plan.js';
import { RecordedCall } from './billing/recorded-call.js';
import { UsageRetention } from './billing/usage-retention.js';
import { SealedSecret } from './installation/sealed-secret.js';
import { ApiKey } from './keys/api-key.js';
import { DeletedApiKey } from './keys/deleted-api-key.js';
import { KeyGuard } from './keys/key-guard.js';
import { KeySpendDay } from './keys/key-spend-day.js';
import { AccountBandHour } from './leaderboard/account-band-hour.js';
import { ModelAccountHour } from './leaderboard/model-account-hour.js';
import { ModelBandHour } from './leaderboard/model-band-hour.js';
import { ModelHour } from './leaderboard/model-hour.js';
import { GpuBenchmark } from './nodes/gpu-benchmark.js';
import { GpuHeartbeat } from './nodes/gpu-heartbeat.js';
import { GpuNode } from './nodes/gpu-node.js';
import { GpuSweep } from './nodes/gpu-sweep.js';
import { NodeHour } from './nodes/node-hour.js';
import { ProxyReport } from './nodes/proxy-report.js';
import { PlaygroundDay } from './playground/playground-day.js';
import { PlaygroundRun } from './playground/playground-run.js';
import { PlaygroundSession } from './playground/playground-session.js';
import { PlaygroundStart } from './playground/playground-start.js';
import { Prompt } from './prompts/prompt.js';
import { PromptActivation } from './prompts/prompt-activation.js';
import { PromptVersion } from './prompts/prompt-version.js';
import { PromptVersionHour } from './prompts/prompt-version-hour.js';
import { PromptVersionLatencyDay } from './prompts/prompt-version-latency-day.js';
import { VirtualKey } from './proxy/virtual-key.js';
import { Widget } from './widgets/widget.js';
import { WidgetDay } from './widgets/widget-day.js';
import { WidgetSiteDay } from './widgets/widget-site-day.js';

/** Every entity. MikroORM only knows those listed here. */
export const entities = [
  Account,
  AccountBandHour,
  AccountUsageHour,
  AdminAction,
  AlertEvent,
  AlertMail,
  AlertSubscription,
  ApiKey,
  DeletedApiKey,
  EndedSession,
  GpuBenchmark,
  GpuHeartbeat,
  GpuNode,
  GpuSweep,
  KeyGuard,
  KeySpendDay,
  KnownNetwork,
  AuditRound,
  AuditSeal,
  AuditTime,
  RecordedCall,
  CallRoute,
  FormerUsage,
  LedgerEntry,
  LoginFailure,
  MailRecipient,
  Model,
  ModelAccountHour,
  ModelBandHour,
  ModelHour,
  NetworkCount,
  NodeHour,
  PasswordReset,
  Plan,
  PlaygroundDay,
  PlaygroundRun,
  PlaygroundSession,
  PlaygroundStart,
  Prompt,
  PromptActivation,
  PromptVersion,
  PromptVersionHour,
  PromptVersionLatencyDay,
  ProxyReport,
  RefusedCallHour,
  RollupDirtyDay,
  RollupDirtyHour,
  RollupUnsummedDay,
  SealedSecret,
  StarterCredit,
  ThresholdFiring,
  UsageLatencyDay,
  UsageRetention,
  UsageRollup,
  UsageSlice,
  UsageSlicedHour,
  VirtualKey,
  Widget,
  WidgetDay,
  WidgetSiteDay,
];
