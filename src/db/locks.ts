/**
 * All advisory locks of the product in one list, so that no number is used twice. All processes on a database share them; the
 * numbers are arbitrary and never change.
 */
export const advisoryLocks = {
  /** Migrations and seed. */
  migration: 7_203_411,
  /** The one edge that may run without shared counters. */
  singleEdge: 7_203_412,
  /** Revoking the rights of an administrator. */
  administrators: 7_203_414,
  /** Admitting mails of an account, and mails to a recipient; by a hash of each as second number, in this order. */
  mailsOfAccount: 7_203_462,
  mailsToRecipient: 7_203_463,
  /** Starting runs of the model playground, by a hash of the account as second number. */
  playgroundStarts: 7_203_464,
  /** Adding and removing partitions of the usage events. */
  partitions: 7_203_413,
  /** Building the parts of an index of a partitioned table. */
  partitionIndexes: 7_203_416,
  /** Rolling up the hours of usage. */
  rollups: 7_203_415,
} as const;
