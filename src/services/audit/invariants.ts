import { accountInvariants } from './account-invariants.store.js';
import { alertInvariants } from './alert-invariants.store.js';
import { callInvariants } from './call-invariants.store.js';
import { guardInvariants } from './guard-invariants.store.js';
import type { Invariant } from './invariant.js';
import { rollupInvariants } from './rollup-invariants.store.js';

/**
 * The invariants of docs/requirements.md on our tables. Amounts are compared exactly. Comparisons with usage events cover the time for
 * which events are kept; the ledger proves itself for ever.
 */
export const invariants: readonly Invariant[] = [
  ...callInvariants,
  ...accountInvariants,
  ...rollupInvariants,
  ...alertInvariants,
  ...guardInvariants,
];
