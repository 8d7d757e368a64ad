import { useEffect, useState } from 'react';

/** An answer that shows what was saved comes within this. */
const READ_AGAIN_MS = 5_000;

/**
 * What was saved, until the page has read it: another change would be based on a value that isn't there any more.
 * @param value what the page knows, as a text.
 * @returns the text that was saved, undefined once it was read; how to note one
 */
export function useUnread(value: string): [unread: string | undefined, note: (text: string) => void] {
  const [saved, setSaved] = useState<{ text: string; was: string }>();
  useEffect(() => {
    const timer = saved && window.setTimeout(() => setSaved(undefined), READ_AGAIN_MS);
    return () => window.clearTimeout(timer);
  }, [saved]);
  const note = (text: string): void => {
    if (text !== value) setSaved({ text, was: value });
  };
  return [saved?.was === value ? saved.text : undefined, note];
}
