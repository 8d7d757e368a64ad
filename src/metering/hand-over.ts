import type { Flusher } from './flusher.js';
import type { Pending } from './pending.js';
import type { UsageRecord } from './usage-record.js';

/** Records of a dead process that the flusher has: each is committed, set aside, or waits for a locked account. */
export interface Handed {
  /** Whether some wait. */
  waits: boolean;
  /** Resolves when none waits any longer; rejects when the process stops. */
  settled: Promise<void>;
}

/**
 * Gives records to the flusher, and resolves when it is through with all but those whose accounts are locked.
 * @throws What `ends` rejects with.
 */
export async function handOver(
  flusher: Flusher,
  records: readonly UsageRecord[],
  since: number,
  ends: Promise<never>,
): Promise<Handed> {
  const through = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let open = records.length;
  let waiting = 0;
  const look = (): void => {
    if (open === waiting) through.resolve();
    if (open === 0) over.resolve();
  };
  const pendingOf = (record: UsageRecord): Pending => {
    let waits = false;
    return {
      record,
      own: false,
      position: Number.POSITIVE_INFINITY,
      since,
      settled() {
        open--;
        if (waits) waiting--;
        look();
      },
      delayed() {
        if (!waits) waiting++;
        waits = true;
        look();
      },
    };
  };
  for (const record of records) flusher.add(pendingOf(record));
  await Promise.race([through.promise, ends]);
  const settled = Promise.race([over.promise, ends]);
  settled.catch(() => undefined);
  return { waits: open > 0, settled };
}
