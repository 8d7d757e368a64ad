import { TextInput } from '@mantine/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import classes from './search-field.module.css';

interface SearchFieldProps {
  /** What is searched, for who doesn't see it: `Search keys`. */
  label: string;
  /** What can be typed. */
  placeholder: string;
  value: string;
  /** How many were found. */
  counted?: string | undefined;
  onChange(text: string): void;
}

/** The list follows when somebody stops typing for so long. */
const PAUSE_MS = 250;

/** Searches a list while somebody types. */
export function SearchField({ label, placeholder, value, counted, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** What was sent and hasn't come back as the value, without the spaces around it that a search may leave out. */
  const sent = useRef<string[]>([]);
  const search = useCallback((text: string): void => {
    sent.current.push(text.trim());
    latest.current(text);
  }, []);
  useEffect(() => {
    const own = sent.current.indexOf(value.trim());
    sent.current = own === -1 ? [] : sent.current.slice(own + 1);
    // Somebody has followed a link to another search, or to none: what was typed before is over.
    if (own === -1) setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === value) return;
    timer.current = setTimeout(() => search(typed), PAUSE_MS);
    return () => clearTimeout(timer.current);
  }, [typed, value, search]);
  // Whoever follows a link right after typing leaves for good: nothing may bring them back to the list later.
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
