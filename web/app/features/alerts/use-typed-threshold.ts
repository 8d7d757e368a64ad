import { useState } from 'react';
import { withThreshold } from './thresholds.rules';

/** A percentage that is being typed, beside those of the list. */
export interface TypedThreshold {
  text: string;
  /** What is wrong with it. */
  fault: string | undefined;
  change(text: string): void;
  /**
   * Moves it to the list.
   * @returns the list with it; undefined where it is no percentage to add, which then is told
   */
  add(): readonly number[] | undefined;
}

/** @param onChange takes the list with one more. */
export function useTypedThreshold(
  thresholds: readonly number[],
  onChange: (thresholds: number[]) => void,
): TypedThreshold {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string>();
  return {
    text,
    fault,
    change(next) {
      setFault(undefined);
      setText(next);
    },
    add() {
      const added = withThreshold(thresholds, text);
      if ('fault' in added) {
        setFault(added.fault);
        return undefined;
      }
      onChange(added.list);
      setFault(undefined);
      setText('');
      return added.list;
    },
  };
}
