import { startTransition } from 'react';
import type { Exchange } from 'urql';

/** The user has pressed something: from then on, each answer may be the one they wait for. */
let isUsed = false;
const press = (): void => {
  isUsed = true;
};
addEventListener('pointerdown', press, { capture: true, once: true });
addEventListener('keydown', press, { capture: true, once: true });

/**
 * Lets React render the first answers of a page in slices, so that a slow phone stays responsive while the page is filled.
 * Later ones are rendered at once: a page that is busy with live calls would put off slices.
 */
export const inSlices: Exchange =
  ({ forward }) =>
  (operations) => {
    const results = forward(operations);
    const answered = new Set<number>();
    return (take) =>
      results((signal) => {
        if (signal === 0 || signal.tag === 0) return take(signal);
        const { kind, key } = signal[0].operation;
        if (isUsed || kind !== 'query' || answered.has(key)) return take(signal);
        answered.add(key);
        startTransition(() => take(signal));
      });
  };
