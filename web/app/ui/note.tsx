import { type ReactNode, useEffect, useRef } from 'react';
import classes from './note.module.css';

interface NoteProps {
  tone: 'good' | 'warn' | 'bad' | 'plain';
  children: ReactNode;
  /** A button or link. */
  action?: ReactNode;
  /** Takes the focus when the note appears, if its button lost the focus by being disabled for good. */
  followsButton?: boolean;
}

/** A message about something that has just happened or should be known. Screen readers announce it politely. */
export function Note({ tone, children, action, followsButton = false }: NoteProps) {
  const element = useRef<HTMLDivElement>(null);
  // Only when the note appears: if the user has gone on since, the focus stays.
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
