import { NativeSelect } from '@mantine/core';

interface VersionChoiceProps {
  label: string;
  /** How many versions there are: their numbers have no gaps. */
  count: number;
  /** Number of the active one, which is named so. */
  active: number;
  value: number;
  /** A version that can't be chosen: it stands on the other side. */
  without?: number;
  onChange(version: number): void;
}

/** One of the versions of a prompt, newest first. */
export function VersionChoice({ label, count, active, value, without, onChange }: VersionChoiceProps) {
  const numbers = Array.from({ length: count }, (_, index) => count - index).filter((n) => n !== without);
  return (
    <NativeSelect
      label={label}
      data={numbers.map((n) => ({
        value: String(n),
        label: n === active ? `Version ${n}, active` : `Version ${n}`,
      }))}
      value={String(value)}
      onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}
    />
  );
}

/** Two versions to begin with: the active one, and the newest beside it or else the one before. */
export function firstPair(active: number, count: number): { from: number; to: number } {
  if (active < count) return { from: active, to: count };
  return { from: Math.max(1, active - 1), to: active };
}
