import { startTransition } from 'react';
import type { Exchange } from 'urql';

/**
 * Hands answers to queries to the page as a transition: what they change is rendered in slices, and whoever types or clicks
 * meanwhile comes first. Results of actions are shown at once.
 */
export function inSlices(): Exchange {
  return ({ forward }) =>
    (operations$) =>
    (sink) =>
      forward(operations$)((signal) => {
        const isAnswer =
          typeof signal === 'object' && signal.tag === 1 && signal[0].operation.kind === 'query';
        if (isAnswer) startTransition(() => sink(signal));
        else sink(signal);
      });
}
