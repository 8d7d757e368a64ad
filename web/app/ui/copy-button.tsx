import { Button } from '@mantine/core';
import { CheckIcon, CopyIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { copyText } from './copy-text';

const CONFIRMED_MS = 2_000;

interface CopyButtonProps {
  text: string;
  /** What is copied: `key`, `snippet`. */
  what: string;
  onCopied?(): void;
}

/** Copies a text to the clipboard, and shows that it did. */
export function CopyButton({ text, what, onCopied }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(undefined), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    const done = await copyText(text);
    setOutcome(done ? 'copied' : 'refused');
    if (done) onCopied?.();
  };
  const Icon = outcome === 'copied' ? CheckIcon : CopyIcon;
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Icon size={14} strokeWidth={1.5} aria-hidden="true" />}
      onClick={() => void copy()}
    >
      <span aria-live="polite">
        {outcome === 'copied' ? 'Copied' : outcome === 'refused' ? 'Select it by hand' : `Copy ${what}`}
      </span>
    </Button>
  );
}
