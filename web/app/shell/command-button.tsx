import { Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { CommandIcon } from 'lucide-react';
import { Suspense, useEffect, useRef, useState } from 'react';
import { lazyPage } from '../lazy-page';
import { useCommands } from './use-commands';

const CommandPalette = lazyPage(() => import('./command-palette'), 'default');

/** Longer than the dialog takes to close and to return the focus by itself. */
const GONE_MS = 50;

const isMac = /Mac|iP(?:hone|ad)/.test(navigator.platform);

/** Opens the command palette, as Ctrl or ⌘ K does. */
export function CommandButton() {
  const [opened, setOpened] = useState(false);
  const [wanted, setWanted] = useState(false);
  const commands = useCommands();
  const focused = useRef<HTMLElement>(null);
  const open = (): void => {
    // Not over an open dialog: commands would lead away from it.
    if (document.querySelector('[role=dialog]')) return;
    focused.current = document.activeElement as HTMLElement | null;
    // If it can't be fetched, nothing opens: the layout must not fail with it.
    void CommandPalette.preload().then(() => {
      setWanted(CommandPalette.isThere());
      setOpened(CommandPalette.isThere());
    });
  };
  // Mantine only returns the focus if the dialog was already mounted, closed, before it opened.
  const close = (): void => {
    setOpened(false);
    focused.current?.focus();
  };
  // A dialog that closes slowly takes the focus with it. If the user has focused something since, that stays.
  useEffect(() => {
    if (opened) return;
    const timer = setTimeout(() => {
      if (document.activeElement === document.body) focused.current?.focus();
    }, GONE_MS);
    return () => clearTimeout(timer);
  }, [opened]);
  // Also in a field: the key combination means nothing there.
  useHotkeys([['mod+K', open]], []);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        aria-keyshortcuts="Control+K Meta+K"
        leftSection={<CommandIcon size={16} strokeWidth={1.5} />}
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
