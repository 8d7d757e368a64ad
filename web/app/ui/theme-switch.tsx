import { ActionIcon, useMantineColorScheme } from '@mantine/core';
import { MonitorIcon, MoonIcon, SunIcon } from 'lucide-react';

const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const;
const NAMES = { auto: 'system', light: 'light', dark: 'dark' } as const;
const ICONS = { auto: MonitorIcon, light: SunIcon, dark: MoonIcon } as const;

/** Switches between system, light and dark. */
export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Icon = ICONS[colorScheme];
  const next = NEXT[colorScheme];
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={32}
      aria-label={`Theme: ${NAMES[colorScheme]}. Change to ${NAMES[next]}`}
      onClick={() => setColorScheme(next)}
    >
      <Icon size={18} strokeWidth={1.5} />
    </ActionIcon>
  );
}
