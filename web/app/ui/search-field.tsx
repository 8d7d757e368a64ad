import { TextInput } from '@mantine/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import classes from './search-field.module.css';

interface SearchFieldProps {
  /** Label for screen readers: `Search keys`. */
  label: string;
  /** Placeholder. */
  placeholder: string;
  value: string;
  /** The number of results. */
  counted?: string | undefined;
  onChange(text: string): void;
}

/** The list is searched after such a pause in typing. */
const PAUSE_MS = 250;

/** Searches a list while somebody types. */
export function SearchField({ label, placeholder, value, counted, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** The last search that hasn't come back as the value, trimmed, since a search may drop spaces. */
  const sent = useRef<string[]>([]);
  const search = useCallback((text: string): void => {
    sent.current.push(text.trim());
    latest.current(text);
  }, []);
  useEffect(() => {
    const own = sent.current.indexOf(value.trim());
    sent.current = own === -1 ? [] : sent.current.slice(own + 1);
    // A link has led to another search, or to none: drops the typed text.
    if (own === -1) setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === value) return;
    timer.current = setTimeout(() => search(typed), PAUSE_MS);
    return () => clearTimeout(timer.current);
  }, [typed, value, search]);
  // After a link was followed, a pending search must not lead back to the list.
  const searchAtOnce = (): void => {
    clearTimeout(timer.current);
    if (typed !== value) search(typed);
  };
  return (
    <div className={classes.search}>
      <TextInput
        type="search"
        aria-label={label}
        placeholder={placeholder}
        autoComplete="off"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onBlur={searchAtOnce}
      />
      <span className={classes.counted} aria-live="polite">
        {counted}
      </span>
    </div>
  );
}
