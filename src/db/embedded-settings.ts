import { totalmem } from 'node:os';

const MB = 1024 * 1024;
/** The server touches its table of buffers when it starts: for 1 GB, each start takes 0.25 s of CPU and 30 MB more than for 128 MB. */
const SHARED_BUFFERS_MB = { least: 128, most: 256 };
/** For each sort and hash table of a query. Small machines keep PostgreSQL's default. */
const WORK_MEM_MB = { least: 4, most: 16 };

const clamp = (value: number, { least, most }: { least: number; most: number }): number =>
  Math.floor(Math.min(most, Math.max(least, value)));

/** Memory that this machine or container may use, in bytes. */
function usableMemory(): number {
  // 0 without a limit, or more than there is.
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/** Settings of every embedded server, also of those for tests, so that tests get the same plans. */
const OF_ALL = [
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_destination=stderr',
  // Compiling a plan takes longer than any of our queries.
  'jit=off',
  // Data lies in memory or on an SSD, where a random read costs hardly more than a sequential one.
  'random_page_cost=1.1',
];

/** Settings for tests: no data outlives the server, and autovacuum would never rest with many short-lived databases. */
const DISPOSABLE = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'autovacuum=off',
  'wal_level=minimal',
  'max_wal_senders=0',
];

/** docs/operations.md recommends the same for other servers. Nothing here weakens durability. */
function lasting(memoryBytes: number): string[] {
  const memoryMb = memoryBytes / MB;
  return [
    `shared_buffers=${clamp(memoryMb / 8, SHARED_BUFFERS_MB)}MB`,
    `effective_cache_size=${Math.floor(memoryMb / 2)}MB`,
    `work_mem=${clamp(memoryMb / 512, WORK_MEM_MB)}MB`,
    // The first change of a page after a checkpoint writes the whole page: compress it, and make checkpoints rarer.
    'wal_compression=pglz',
    'checkpoint_timeout=15min',
  ];
}

/** Settings of an embedded server, as `name=value`. */
export const serverSettings = (disposable: boolean, memoryBytes = usableMemory()): string[] => [
  ...OF_ALL,
  ...(disposable ? DISPOSABLE : lasting(memoryBytes)),
];
