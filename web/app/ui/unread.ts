import { useEffect, useState } from 'react';

/** An answer with the saved value comes within this time. */
const READ_AGAIN_MS = 5_000;

/**
 * The saved value until the page has loaded it: until then, another change would be based on the old value.
 * @param value the value that the page has, as a string.
 * @returns the saved string, undefined once it was loaded; a function that sets it
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
