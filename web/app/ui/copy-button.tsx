import { Button } from '@mantine/core';
import { CheckIcon, CopyIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { copyText } from './copy-text';

const SAID_MS = 2_000;

interface CopyButtonProps {
  text: string;
  /** What is copied: `key`, `snippet`. */
  what: string;
  onCopied?(): void;
}

/** Puts a text into the clipboard and says so. */
export function CopyButton({ text, what, onCopied }: CopyButtonProps) {
  const [said, setSaid] = useState<'copied' | 'refused'>();
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    const done = await copyText(text);
    setSaid(done ? 'copied' : 'refused');
    if (done) onCopied?.();
  };
  const Icon = said === 'copied' ? CheckIcon : CopyIcon;
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Icon size={14} strokeWidth={1.5} aria-hidden="true" />}
      onClick={() => void copy()}
    >
      <span aria-live="polite">
        {said === 'copied' ? 'Copied' : said === 'refused' ? 'Select it by hand' : `Copy ${what}`}
      </span>
    </Button>
  );
}
