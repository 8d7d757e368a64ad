import { dayStart } from '../../lib/clock.js';
import type { Money } from '../../lib/money.js';
import type { FlushResult } from '../../metering/usage-record.js';

/** What a key or a widget was charged on a UTC day. */
interface DayCharges {
  id: string;
  charges: Money;
  /** A time of that day, in milliseconds. */
  at: number;
}

/** The charges that a flush has committed, by key or widget and by UTC day. */
export function committedCharges({ own }: FlushResult): Iterable<DayCharges> {
  const all = new Map<string, DayCharges>();
  for (const { keyId, widgetId, cost, createdAt: at } of own) {
    const id = keyId ?? widgetId;
    if (id === null || cost === 0n) continue;
    const name = `${id} ${dayStart(at)}`;
    const known = all.get(name);
    if (known) known.charges += cost;
    else all.set(name, { id, charges: cost, at });
  }
  return all.values();
}
