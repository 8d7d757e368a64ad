import { readableOn } from './contrast';
import { markdown } from './markdown';
import type { Look, Turn } from './protocol';
import type { Explanation } from './words';

/** Within so many pixels of its end somebody reads along. */
const NEAR_END = 48;

const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

export type View = ReturnType<typeof createView>;

/** The chat as it is seen and heard. */
export function createView() {
  const log = byId('log');
  const form = byId<HTMLFormElement>('form');
  const box = byId<HTMLTextAreaElement>('box');
  const send = byId<HTMLButtonElement>('send');
  const trouble = byId('trouble');
  const spoken = byId('spoken');
  let greeting: HTMLElement | undefined;
  let growing: HTMLElement | undefined;
  let text = '';
  let isDrawing = false;

  /** Keeps the end in sight of who is there, and the place of who reads above. */
  const keepingPlace = (change: () => void): void => {
    const isNear = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
    change();
    if (isNear) log.scrollTop = log.scrollHeight;
  };
  const bubble = ({ role, content }: Turn): HTMLElement => {
    const made = document.createElement('div');
    made.className = `turn ${role}`;
    made.dir = 'auto';
    const who = document.createElement('span');
    who.className = 'unseen';
    who.textContent = role === 'user' ? 'You: ' : 'Assistant: ';
    made.append(who, role === 'user' ? content : markdown(content));
    return made;
  };
  const setBusy = (busy: boolean): void => {
    send.setAttribute('aria-disabled', String(busy));
    log.setAttribute('aria-busy', String(busy));
  };

  const view = {
    onSend: (_text: string): void => undefined,
    onRetry: (): void => undefined,
    onClear: (): void => undefined,
    onClose: (): void => undefined,

    look({ greeting: words, placeholder, primary }: Look): void {
      const { style } = document.documentElement;
      style.setProperty('--primary', primary);
      style.setProperty('--on-primary', readableOn(primary));
      box.placeholder = placeholder;
      greeting?.remove();
      greeting = words === '' ? undefined : bubble({ role: 'assistant', content: words });
      if (greeting) log.prepend(greeting);
    },

    opened(focus: boolean): void {
      log.scrollTop = log.scrollHeight;
      if (focus) box.focus();
    },

    add(turn: Turn): void {
      trouble.replaceChildren();
      log.append(bubble(turn));
      log.scrollTop = log.scrollHeight;
    },

    /** An answer is under way. */
    begin(): void {
      trouble.replaceChildren();
      growing = bubble({ role: 'assistant', content: '' });
      growing.classList.add('waiting');
      log.append(growing);
      log.scrollTop = log.scrollHeight;
      setBusy(true);
    },

    /** What has come of it so far; drawn once per frame. */
    grow(sofar: string): void {
      text = sofar;
      if (isDrawing) return;
      isDrawing = true;
      requestAnimationFrame(() => {
        isDrawing = false;
        if (growing) keepingPlace(() => replace(growing!, text));
      });
    },

    finish(whole: string): void {
      if (growing) keepingPlace(() => replace(growing!, whole));
      growing = undefined;
      setBusy(false);
      spoken.textContent = `Assistant: ${log.lastElementChild?.textContent?.replace('Assistant: ', '') ?? ''}`;
    },

    /** There will be no answer. */
    drop(): void {
      growing?.remove();
      growing = undefined;
      setBusy(false);
    },

    trouble({ text: words, canRetry }: Explanation): void {
      trouble.replaceChildren(words);
      if (!canRetry) return;
      const again = document.createElement('button');
      again.type = 'button';
      again.className = 'again';
      again.textContent = 'Try again';
      again.onclick = () => {
        box.focus();
        view.onRetry();
      };
      trouble.append(again);
    },

    clear(): void {
      view.drop();
      trouble.replaceChildren();
      spoken.textContent = '';
      log.replaceChildren(...(greeting ? [greeting] : []));
      box.focus();
    },
  };

  const submit = (): void => {
    if (send.getAttribute('aria-disabled') === 'true' || box.value.trim() === '') return;
    const said = box.value;
    box.value = '';
    view.onSend(said);
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    submit();
  };
  box.onkeydown = (event) => {
    // Enter while an input method composes chooses a word.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  };
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') view.onClose();
  });
  byId('clear').onclick = () => view.onClear();
  byId('close').onclick = () => view.onClose();
  return view;
}

/** The words of an answer in place of those before. */
function replace(bubble: HTMLElement, text: string): void {
  if (text !== '') bubble.classList.remove('waiting');
  bubble.replaceChildren(bubble.firstElementChild!, markdown(text));
}
