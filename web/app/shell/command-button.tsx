import { Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconCommand } from '@tabler/icons-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { useCommands } from './use-commands';

const CommandPalette = lazy(() => import('./command-palette'));

const isMac = /Mac|iP(?:hone|ad)/.test(navigator.platform);

/** Opens the command palette, as Ctrl or ⌘ K does. */
export function CommandButton() {
  const [opened, setOpened] = useState(false);
  const [wanted, setWanted] = useState(false);
  const commands = useCommands();
  const focused = useRef<HTMLElement>(null);
  const open = (): void => {
    focused.current = document.activeElement as HTMLElement | null;
    setWanted(true);
    setOpened(true);
  };
  // Mantine gives the focus back only to what had it before a dialog that was there, closed, already.
  const close = (): void => {
    setOpened(false);
    focused.current?.focus();
  };
  // Also while a field has the focus: the combination means nothing there.
  useHotkeys([['mod+K', open]], []);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        aria-keyshortcuts="Control+K Meta+K"
        leftSection={<IconCommand size={16} stroke={1.5} />}
        onClick={open}
      >
        <span data-word>Commands</span> <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </Button>
      {wanted && (
        <Suspense>
          <CommandPalette opened={opened} onClose={close} commands={commands} />
        </Suspense>
      )}
    </>
  );
}
