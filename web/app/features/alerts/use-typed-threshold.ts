import { useState } from 'react';
import { withThreshold } from './thresholds.rules';

/** A percentage that is being typed. */
export interface TypedThreshold {
  text: string;
  /** Its error. */
  fault: string | undefined;
  change(text: string): void;
  /**
   * Moves it to the list.
   * @returns the list with the percentage; undefined for an invalid one, which sets `fault`
   */
  add(): readonly number[] | undefined;
}

/** @param onChange gets the list with one more percentage. */
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
