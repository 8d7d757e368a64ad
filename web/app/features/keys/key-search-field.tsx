import { TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import classes from './keys.module.css';

interface KeySearchFieldProps {
  value: string;
  /** How many there are. */
  counted: string;
  onChange(text: string): void;
}

/** The list follows when somebody stops typing for so long. */
const PAUSE_MS = 250;

/** Looks keys up by name and by what is shown of them. */
export function KeySearchField({ value, counted, onChange }: KeySearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => latest.current(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <div className={classes.search}>
      <TextInput
        type="search"
        aria-label="Search keys"
        placeholder="Name, or the start or end of the key"
        autoComplete="off"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <span className={classes.hint} aria-live="polite">
        {counted}
      </span>
    </div>
  );
}
