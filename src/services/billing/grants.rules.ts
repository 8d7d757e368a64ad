import { utcMonth } from '../../lib/clock.js';

/** Names the grant of a plan's included credits: once per account, plan and UTC month. */
export function grantKey(accountId: string, planId: string, nowMs: number): string {
  return `grant:${accountId}:${planId}:${utcMonth(nowMs)}`;
}

/** What the ledger says about a grant. */
export function grantDescription(planId: string, nowMs: number): string {
  return `Included credits of plan ${planId}, ${utcMonth(nowMs)}`;
}
