import type { CSSProperties } from 'react';
import classes from './waiting.module.css';

/** A grey bar in the shape of what comes, seen only if it takes a while. */
export function Waiting({ width = '100%', height = 12 }: Pick<CSSProperties, 'width' | 'height'>) {
  return <span className={classes.bar} style={{ width, height }} />;
}
