import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Note } from '../ui/note';
import classes from './app-layout.module.css';

interface ClosableBannerProps {
  onClose(): void;
  children: ReactNode;
}

/** A warning above every page, until it is closed. */
export function ClosableBanner({ onClose, children }: ClosableBannerProps) {
  return (
    <div className={classes.banner}>
      <Note
        tone="warn"
        action={
          <Button size="xs" variant="default" onClick={onClose}>
            Close
          </Button>
        }
      >
        {children}
      </Note>
    </div>
  );
}
