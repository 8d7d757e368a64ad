import classes from './status-word.module.css';

interface StatusWordProps {
  tone: 'good' | 'warn' | 'bad' | 'idle';
  children: string;
}

/** A state as a sign and a word, not by colour alone. */
export function StatusWord({ tone, children }: StatusWordProps) {
  return (
    <span className={classes.status} data-tone={tone}>
      {children}
    </span>
  );
}
