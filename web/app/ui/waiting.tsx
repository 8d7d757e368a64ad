import type { CSSProperties } from 'react';
import classes from './waiting.module.css';

interface WaitingProps extends Pick<CSSProperties, 'width' | 'height'> {
  /** It appears with what it stands in (`appearing`): each animation tells the page of its start and end. */
  isPart?: boolean;
}

/** A grey bar in the shape of what comes, seen only if it takes a while. */
export function Waiting({ width = '100%', height = 12, isPart = false }: WaitingProps) {
  return <span className={`${classes.bar} ${isPart ? '' : appearing}`} style={{ width, height }} />;
}

/** Of what holds several bars. */
export const appearing = classes.appearing!;
