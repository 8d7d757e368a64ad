import { resolvedColorScheme, storedColorScheme } from './color-scheme';

// Runs before the first paint, so that no page flashes in the wrong theme. The attribute is Mantine's.
document.documentElement.dataset.mantineColorScheme = resolvedColorScheme(storedColorScheme());
