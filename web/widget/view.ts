import { composes } from '../app/ui/composing';
import { readableOn } from './contrast';
import { markdown } from './markdown';
import type { Look, Turn } from './protocol';
import type { Explanation } from './words';

/** A reader within so many pixels of the end follows the answer. */
const NEAR_END = 48;

const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

/** Actions of the visitor. */
export interface Wishes {
  send(text: string): void;
  retry(): void;
  clear(): void;
  close(): void;
}

/** The visible chat, and its announcements for screen readers. */
export class View {
  readonly #log = byId('log');
  readonly #box = byId<HTMLTextAreaElement>('box');
  readonly #send = byId<HTMLButtonElement>('send');
  readonly #trouble = byId('trouble');
  readonly #spoken = byId('spoken');
  #greeting: HTMLElement | undefined;
  /** The answer that is under way, and its text so far. */
  #growing: HTMLElement | undefined;
  #text = '';
  #isDrawing = false;
  #isAtEnd = true;
  #top = 0;

  constructor(private readonly wishes: Wishes) {
    // No form submission: before this script runs, the browser would submit the form and stop loading the page.
    this.#send.onclick = () => this.#submit();
    this.#box.onkeydown = (event) => {
      // While an input method composes, Enter chooses a word.
      if (event.key !== 'Enter' || event.shiftKey || composes(event)) return;
      event.preventDefault();
      this.#submit();
    };
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && !composes(event)) wishes.close();
    });
    this.#log.onscroll = () => {
      const { scrollHeight, scrollTop, clientHeight } = this.#log;
      // While hidden, the log has no height and no position.
      if (clientHeight === 0) return;
      this.#top = scrollTop;
      this.#isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR_END;
    };
    // The keyboard came up, or the box grew.
    new ResizeObserver(() => this.#isAtEnd && this.#toEnd()).observe(this.#log);
    byId('clear').onclick = () => wishes.clear();
    byId('close').onclick = () => wishes.close();
  }

  look({ greeting, placeholder, primary, rtl }: Look): void {
    const { style } = document.documentElement;
    document.documentElement.dir = rtl ? 'rtl' : 'ltr';
    style.setProperty('--primary', primary);
    style.setProperty('--on-primary', readableOn(primary));
    this.#box.placeholder = placeholder;
    this.#greeting?.remove();
    this.#greeting = greeting === '' ? undefined : bubble({ role: 'assistant', content: greeting });
    if (this.#greeting) this.#log.prepend(this.#greeting);
  }

  /** Enables sending. Until then, text stays in the box. */
  ready(): void {
    this.#setBusy(false);
  }

  /** Restores the scroll position, which hiding the chat loses. */
  opened(focus: boolean): void {
    if (this.#isAtEnd) this.#toEnd();
    else this.#log.scrollTop = this.#top;
    if (focus) this.#box.focus();
  }

  add(turn: Turn): void {
    this.#trouble.replaceChildren();
    this.#log.append(bubble(turn));
    this.#toEnd();
  }

  /** An answer is under way. */
  begin(): void {
    this.#text = '';
    this.#trouble.replaceChildren();
    this.#growing = bubble({ role: 'assistant', content: '' });
    this.#growing.classList.add('waiting');
    this.#log.append(this.#growing);
    this.#toEnd();
    this.#setBusy(true);
  }

  /** Shows the answer so far; drawn once per animation frame. */
  grow(text: string): void {
    this.#text = text;
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#write(this.#text);
    });
  }

  finish(text: string): void {
    this.#write(text);
    const answer = this.#growing?.textContent ?? '';
    this.#growing = undefined;
    this.#setBusy(false);
    this.#spoken.textContent = answer;
  }

  /** Removes the answer: there will be none. */
  drop(): void {
    this.#growing?.remove();
    this.#growing = undefined;
    this.#setBusy(false);
  }

  trouble({ text, canRetry }: Explanation): void {
    this.#trouble.replaceChildren(text);
    if (this.#isAtEnd) this.#toEnd();
    if (!canRetry) return;
    const again = document.createElement('button');
    again.type = 'button';
    again.className = 'again';
    again.textContent = 'Try again';
    again.onclick = () => {
      this.#refocus();
      this.wishes.retry();
    };
    this.#trouble.append(again);
  }

  clear(): void {
    this.drop();
    this.#trouble.replaceChildren();
    this.#spoken.textContent = '';
    this.#log.replaceChildren(...(this.#greeting ? [this.#greeting] : []));
    this.#refocus();
  }

  /** Parts of the answer come again. */
  calm(): void {
    this.#trouble.replaceChildren();
  }

  /** Moves the focus from a removed button to the box, but not on a phone, where it would bring up the keyboard. */
  #refocus(): void {
    const isTouched = matchMedia('(pointer: coarse)').matches;
    (isTouched ? this.#log : this.#box).focus();
  }

  #submit(): void {
    const text = this.#box.value;
    if (this.#send.getAttribute('aria-disabled') === 'true' || text.trim() === '') return;
    this.#box.value = '';
    this.wishes.send(text);
  }

  #setBusy(busy: boolean): void {
    this.#send.setAttribute('aria-disabled', String(busy));
    this.#log.setAttribute('aria-busy', String(busy));
  }

  #toEnd(): void {
    this.#isAtEnd = true;
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** Keeps the end in sight if the reader is there, otherwise the place of the reader. */
  #write(text: string): void {
    if (!this.#growing) return;
    const stays = !this.#isAtEnd;
    if (text !== '') this.#growing.classList.remove('waiting');
    this.#growing.replaceChildren(this.#growing.firstElementChild!, markdown(text));
    if (!stays) this.#toEnd();
  }
}

function bubble({ role, content }: Turn): HTMLElement {
  const made = document.createElement('div');
  made.className = `turn ${role}`;
  made.dir = 'auto';
  const who = document.createElement('span');
  who.className = 'unseen';
  // Otherwise it would set the direction of the text after it.
  who.dir = 'ltr';
  who.textContent = role === 'user' ? 'You: ' : 'Assistant: ';
  made.append(who, role === 'user' ? content : markdown(content));
  return made;
}
