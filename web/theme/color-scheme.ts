/** The themes to choose from; `auto` follows the system. */
export type ColorScheme = 'light' | 'dark' | 'auto';

/** Name of the choice in local storage, shared by all pages; Mantine writes it too. */
export const COLOR_SCHEME_KEY = 'gateway-color-scheme';

/** The theme chosen on this device; any other stored value is ignored. */
export function storedColorScheme(): ColorScheme {
  try {
    const stored = localStorage.getItem(COLOR_SCHEME_KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'auto';
  } catch {
    // Storage is forbidden: the system decides.
    return 'auto';
  }
}

/** The theme of a choice on this device now. */
export function resolvedColorScheme(choice: ColorScheme): 'light' | 'dark' {
  if (choice !== 'auto') return choice;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
