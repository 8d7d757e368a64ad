import classes from './status-word.module.css';

interface StatusWordProps {
  tone: 'good' | 'warn' | 'bad' | 'idle';
  children: string;
}

/** A state by a sign and a word: colour alone says nothing. */
export function StatusWord({ tone, children }: StatusWordProps) {
  return (
    <span className={classes.status} data-tone={tone}>
      {children}
    </span>
  );
}
