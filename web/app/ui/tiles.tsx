import type { ReactNode } from 'react';
import classes from './tiles.module.css';
import { Waiting } from './waiting';

interface TileProps {
  label: string;
  /** Absent while it is awaited. */
  children: ReactNode;
  /** Comparison below the figure. */
  note?: ReactNode;
}

interface TilesProps {
  /** Leaves room for amounts with many digits, which are never cut off. */
  roomy?: boolean;
  children: ReactNode;
}

/** The main figures, side by side. */
export function Tiles({ roomy = false, children }: TilesProps) {
  return (
    <dl className={classes.tiles} data-roomy={roomy || undefined}>
      {children}
    </dl>
  );
}

export function Tile({ label, children, note }: TileProps) {
  return (
    <div className={classes.tile}>
      <dt>{label}</dt>
      <dd className={classes.value}>{children ?? <Waiting width="60%" />}</dd>
      <dd className={classes.note}>{note}</dd>
    </div>
  );
}
