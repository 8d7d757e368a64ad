import { actGuards } from './functions/act-guards.js';
import { callRouteIds } from './functions/call-route-ids.js';
import { chargeCalls } from './functions/charge-calls.js';
import { fireAlerts } from './functions/fire-alerts.js';
import { formerCalls } from './functions/former-calls.js';
import { keepLedger } from './functions/keep-ledger.js';
import { keyMonthSpend } from './functions/key-month-spend.js';
import { ledgerEntryId } from './functions/ledger-entry-id.js';
import { postCharges } from './functions/post-charges.js';
import { postChargesBefore } from './functions/post-charges-before.js';
import { refuseChange } from './functions/refuse-change.js';
import type { SqlFunction } from './functions/sql-function.js';
import { unlockedAccountsFunction } from './functions/unlocked-accounts.js';
import { uuidV7 } from './functions/uuid-v7.js';
import { writeCalls } from './functions/write-calls.js';

/** All functions in the database, one file each. A function that is no longer listed stays until a migration drops it. */
export const functions: readonly SqlFunction[] = [
  refuseChange,
  keepLedger,
  uuidV7,
  keyMonthSpend,
  fireAlerts,
  actGuards,
  callRouteIds,
  formerCalls,
  chargeCalls,
  writeCalls,
  ledgerEntryId,
  postCharges,
  postChargesBefore,
  unlockedAccountsFunction,
];
