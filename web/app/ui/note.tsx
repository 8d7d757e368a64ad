import { type ReactNode, useEffect, useRef } from 'react';
import classes from './note.module.css';

interface NoteProps {
  tone: 'good' | 'warn' | 'bad' | 'plain';
  children: ReactNode;
  /** What can be done about it. */
  action?: ReactNode;
  /** Takes the focus when it appears, if its button has lost it: one that stays disabled once its work is done. */
  followsButton?: boolean;
}

/** Something that has just happened or should be known, said politely. */
export function Note({ tone, children, action, followsButton = false }: NoteProps) {
  const element = useRef<HTMLDivElement>(null);
  // Only when it appears: whoever has gone on since then keeps the focus.
  useEffect(() => {
    const focused = document.activeElement;
    if (followsButton && (!focused || focused.matches('body, :disabled'))) element.current?.focus();
  }, []);
  return (
    <div
      ref={element}
      role="status"
      {...(followsButton && { tabIndex: -1 })}
      className={classes.note}
      data-tone={tone}
    >
      <div>{children}</div>
      {action}
    </div>
  );
}
