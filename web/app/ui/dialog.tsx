import './modal-styles';
import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './dialog.module.css';
import { NO_BANNER } from './no-banner';

interface DialogProps {
  opened: boolean;
  /** Also called for Escape and a click beside the dialog. */
  onClose(): void;
  title: ReactNode;
  wide?: boolean;
  children: ReactNode;
}

/** A modal dialog. Returns the focus when it closes. */
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

/** The buttons of a dialog, the confirming one first. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={classes.actions}>{children}</div>;
}
