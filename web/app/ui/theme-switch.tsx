import { ActionIcon, useMantineColorScheme } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';

const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const;
const NAMES = { auto: 'system', light: 'light', dark: 'dark' } as const;
const ICONS = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon } as const;

/** System, light, dark, and again. */
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
      <Icon size={18} stroke={1.5} />
    </ActionIcon>
  );
}
