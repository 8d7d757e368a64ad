import type { CSSProperties } from 'react';
import classes from './waiting.module.css';

interface WaitingProps extends Pick<CSSProperties, 'width' | 'height'> {
  /** Its container has the animation (`appearing`): each animation costs the page two events. */
  isPart?: boolean;
}

/** A grey placeholder bar, only visible if loading takes a while. */
export function Waiting({ width = '100%', height = 12, isPart = false }: WaitingProps) {
  return <span className={`${classes.bar} ${isPart ? '' : appearing}`} style={{ width, height }} />;
}

/** The class for a container of several bars. */
export const appearing = classes.appearing!;
