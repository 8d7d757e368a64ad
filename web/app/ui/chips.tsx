import type { ReactNode } from 'react';
import classes from './chips.module.css';

/** Several values, each of which can be removed by itself. */
export function Chips({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={classes.chips} aria-label={label}>
      {children}
    </ul>
  );
}

interface ChipProps {
  children: ReactNode;
  /** Says that something has come of it. */
  isReached?: boolean;
  /** What the button removes; without it the chip only stands there. */
  removes?: string | undefined;
  onRemove?(): void;
}

/** One of the values. */
export function Chip({ children, isReached = false, removes, onRemove }: ChipProps) {
  return (
    <li className={classes.chip} data-reached={isReached || undefined}>
      {children}
      {removes !== undefined && (
        <button type="button" aria-label={`Remove ${removes}`} onClick={onRemove}>
          ×
        </button>
      )}
    </li>
  );
}
