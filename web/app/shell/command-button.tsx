import { Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { CommandIcon } from 'lucide-react';
import { Suspense, useEffect, useRef, useState } from 'react';
import { lazyPage } from '../lazy-page';
import { useCommands } from './use-commands';

const CommandPalette = lazyPage(() => import('./command-palette'), 'default');

/** Longer than the dialog takes to be gone, and than its own way to give the focus back. */
const GONE_MS = 50;

const isMac = /Mac|iP(?:hone|ad)/.test(navigator.platform);

/** Opens the command palette, as Ctrl or ⌘ K does. */
export function CommandButton() {
  const [opened, setOpened] = useState(false);
  const [wanted, setWanted] = useState(false);
  const commands = useCommands();
  const focused = useRef<HTMLElement>(null);
  const open = (): void => {
    // What an open dialog asks or shows comes first: commands would lead away from it.
    if (document.querySelector('[role=dialog]')) return;
    focused.current = document.activeElement as HTMLElement | null;
    // Where it can't be fetched nothing opens: what stands around the page must not fail with it.
    void CommandPalette.preload().then(() => {
      setWanted(CommandPalette.isThere());
      setOpened(CommandPalette.isThere());
    });
  };
  // Mantine gives the focus back only to what had it before a dialog that was there, closed, already.
  const close = (): void => {
    setOpened(false);
    focused.current?.focus();
  };
  // A dialog that is slow to go takes the focus with it. Whoever has focused something since keeps that.
  useEffect(() => {
    if (opened) return;
    const timer = setTimeout(() => {
      if (document.activeElement === document.body) focused.current?.focus();
    }, GONE_MS);
    return () => clearTimeout(timer);
  }, [opened]);
  // Also while a field has the focus: the combination means nothing there.
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
