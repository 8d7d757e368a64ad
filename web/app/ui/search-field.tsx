import { TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
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
  useEffect(() => {
    if (typed === value) return;
    timer.current = setTimeout(() => latest.current(typed), PAUSE_MS);
    return () => clearTimeout(timer.current);
  }, [typed, value]);
  // Whoever follows a link right after typing leaves for good: nothing may bring them back to the list later.
  const searchAtOnce = (): void => {
    clearTimeout(timer.current);
    if (typed !== value) latest.current(typed);
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
