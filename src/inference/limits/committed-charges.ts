import type { Money } from '../../lib/money.js';
import type { FlushResult } from '../../metering/usage-record.js';

/** The charges of each key or widget, by its id, that a flush has committed. */
export function committedCharges({ own }: FlushResult): Map<string, Money> {
  const charges = new Map<string, Money>();
  for (const { keyId, widgetId, cost } of own) {
    const id = keyId ?? widgetId;
    if (id !== null && cost !== 0n) charges.set(id, (charges.get(id) ?? 0n) + cost);
  }
  return charges;
}
