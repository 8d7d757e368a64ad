import './modal-styles';
import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './dialog.module.css';
import { NO_BANNER } from './no-banner';

interface DialogProps {
  opened: boolean;
  /** Also by Escape and by a click beside it. */
  onClose(): void;
  title: ReactNode;
  wide?: boolean;
  children: ReactNode;
}

/** What needs an answer before anything else goes on. Gives the focus back. */
export function Dialog({ opened, onClose, title, wide = false, children }: DialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size={wide ? 720 : 440}
      padding={24}
      classNames={{ title: classes.title! }}
      attributes={NO_BANNER}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <div className={classes.body}>{children}</div>
    </Modal>
  );
}

/** The buttons at its end, the one that does it first. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={classes.actions}>{children}</div>;
}
