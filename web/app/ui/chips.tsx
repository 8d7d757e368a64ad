import type { ReactNode } from 'react';
import classes from './chips.module.css';

/** Several values, each with a button that removes it. */
export function Chips({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={classes.chips} aria-label={label}>
      {children}
    </ul>
  );
}

interface ChipProps {
  children: ReactNode;
  isReached?: boolean;
  /** Label of the button that removes the value; without it there is no button. */
  removes?: string | undefined;
  onRemove?(): void;
}

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
