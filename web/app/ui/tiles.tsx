import type { ReactNode } from 'react';
import classes from './tiles.module.css';
import { Waiting } from './waiting';

interface TileProps {
  label: string;
  /** Absent while it is awaited. */
  children: ReactNode;
  /** Below the figure: what it is compared with. */
  note?: ReactNode;
}

interface TilesProps {
  /** They have room for amounts of many digits, which are never cut. */
  roomy?: boolean;
  children: ReactNode;
}

/** Figures that are read at one glance, beside each other. */
export function Tiles({ roomy = false, children }: TilesProps) {
  return (
    <dl className={classes.tiles} data-roomy={roomy || undefined}>
      {children}
    </dl>
  );
}

/** One of them. */
export function Tile({ label, children, note }: TileProps) {
  return (
    <div className={classes.tile}>
      <dt>{label}</dt>
      <dd className={classes.value}>{children ?? <Waiting width="60%" />}</dd>
      <dd className={classes.note}>{note}</dd>
    </div>
  );
}
