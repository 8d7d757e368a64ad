import { NativeSelect } from '@mantine/core';

interface VersionChoiceProps {
  label: string;
  /** The number of versions, which are numbered without gaps. */
  count: number;
  /** The active version, which is marked. */
  active: number;
  value: number;
  /** A version that can't be chosen, since it is on the other side. */
  without?: number;
  onChange(version: number): void;
}

/** Chooses a version of a prompt; the list begins with the newest. */
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

/** The first two versions to compare: the active one and the newest, or the one before. */
export function firstPair(active: number, count: number): { from: number; to: number } {
  if (active < count) return { from: active, to: count };
  return { from: Math.max(1, active - 1), to: active };
}
