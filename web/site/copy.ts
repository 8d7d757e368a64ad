import { copyText } from '../app/ui/copy-text';

/** Event of an element that got new snippets, so that other scripts don't need the copy buttons themselves. */
export const SNIPPETS_CAME = 'snippets-came';

const CONFIRMED_MS = 2_000;

/** Gives each snippet below `root` a copy button, labelled with `data-copy` if present. */
export function addCopyButtons(root: ParentNode): void {
  for (const caption of root.querySelectorAll('.snippet figcaption')) {
    const figure = caption.parentElement;
    const code = figure?.querySelector('code');
    if (!figure || !code) continue;
    const { copy: what } = figure.dataset;
    const label = what === undefined ? 'Copy' : `Copy ${what}`;
    const button = document.createElement('button');
    const setLabel = (text: string): void => {
      button.textContent = text;
    };
    button.type = 'button';
    button.setAttribute('aria-live', 'polite');
    setLabel(label);
    button.addEventListener('click', () => {
      void copyText(code.textContent ?? '').then((done) => {
        setLabel(done ? 'Copied' : 'Select it by hand');
        setTimeout(() => setLabel(label), CONFIRMED_MS);
      });
    });
    caption.append(button);
  }
}
