import { copyText } from '../app/ui/copy-text';

/** An element tells with it of snippets below it that came after the page, so that no other script needs the buttons itself. */
export const SNIPPETS_CAME = 'snippets-came';

const SAID_MS = 2_000;

/** Gives each snippet below `root` a button that copies it and says so, with the name of `data-copy` where there is one. */
export function addCopyButtons(root: ParentNode): void {
  for (const caption of root.querySelectorAll('.snippet figcaption')) {
    const figure = caption.parentElement;
    const code = figure?.querySelector('code');
    if (!figure || !code) continue;
    const { copy: what } = figure.dataset;
    const label = what === undefined ? 'Copy' : `Copy ${what}`;
    const button = document.createElement('button');
    const say = (text: string): void => {
      button.textContent = text;
    };
    button.type = 'button';
    button.setAttribute('aria-live', 'polite');
    say(label);
    button.addEventListener('click', () => {
      void copyText(code.textContent ?? '').then((done) => {
        say(done ? 'Copied' : 'Select it by hand');
        setTimeout(() => say(label), SAID_MS);
      });
    });
    caption.append(button);
  }
}
