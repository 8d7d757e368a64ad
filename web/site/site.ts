import {
  COLOR_SCHEME_KEY,
  type ColorScheme,
  resolvedColorScheme,
  storedColorScheme,
} from '../theme/color-scheme';
import { addCopyButtons, SNIPPETS_CAME } from './copy';

const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const;
const NAMES = { auto: 'system', light: 'light', dark: 'dark' } as const;

/** Switches the theme of the public pages: system, light, dark, as in the dashboard. Hidden without scripts. */
const button = document.querySelector<HTMLButtonElement>('[data-theme-switch]');

function show(choice: ColorScheme): void {
  document.documentElement.dataset.mantineColorScheme = resolvedColorScheme(choice);
  if (!button) return;
  button.textContent = `Theme: ${NAMES[choice]}`;
  button.setAttribute('aria-label', `Theme: ${NAMES[choice]}. Change to ${NAMES[NEXT[choice]]}`);
  button.style.visibility = 'visible';
}

let chosen = storedColorScheme();
show(chosen);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => show(chosen));
button?.addEventListener('click', () => {
  chosen = NEXT[chosen];
  try {
    localStorage.setItem(COLOR_SCHEME_KEY, chosen);
  } catch {
    // Storage is forbidden: the choice only applies to this page.
  }
  show(chosen);
});

addCopyButtons(document);
document.addEventListener(SNIPPETS_CAME, ({ target }) => addCopyButtons(target as Element));
