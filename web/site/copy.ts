import { copyText } from '../app/ui/copy-text';

const SAID_MS = 2_000;

/** Gives each snippet below `root` a button that copies it and says so. */
export function addCopyButtons(root: ParentNode): void {
  for (const caption of root.querySelectorAll('.snippet figcaption')) {
    const code = caption.parentElement?.querySelector('code');
    if (!code) continue;
    const button = document.createElement('button');
    const say = (text: string): void => {
      button.textContent = text;
    };
    button.type = 'button';
    button.setAttribute('aria-live', 'polite');
    say('Copy');
    button.addEventListener('click', () => {
      void copyText(code.textContent ?? '').then((done) => {
        say(done ? 'Copied' : 'Select it by hand');
        setTimeout(() => say('Copy'), SAID_MS);
      });
    });
    caption.append(button);
  }
}
