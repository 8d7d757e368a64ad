import { Bubble } from './bubble';
import { Calls } from './calls';
import type { Look, ToFrame, ToLoader } from './protocol';
import { Store } from './store';

/** Set by the build: the version of the frame that belongs to this loader. */
declare const FRAME_VERSION: string;

/** Longer than loading takes on any connection good enough to chat. */
const LOADED_WITHIN_MS = 15_000;

type Happening = 'open' | 'close' | 'message' | 'error';
type Listener = (detail?: unknown) => void;

interface Config {
  greeting_message: string;
  placeholder: string;
  theme: { primary: string; position: string };
}

const tag = (document.currentScript ?? document.querySelector('script[data-pr-widget]')) as HTMLScriptElement;
const site = window as unknown as { GatewayChat?: object };

/** A widget in a customer's page: calls the gateway and passes its answers to the frame. */
class Widget {
  readonly #key = tag.dataset.prWidget!;
  readonly #host = (tag.dataset.prHost || new URL(tag.src).origin).replace(/\/+$/, '');
  readonly #store = new Store(this.#key);
  readonly #bubble = new Bubble(
    () => (this.#isOpen ? this.close() : this.open()),
    () => this.#look && this.#loadFrame(this.#look),
  );
  readonly #calls = new Calls(
    this.#host,
    this.#key,
    (message) => this.#tell(message),
    (code) => this.#emit('error', code),
  );
  readonly #listeners: [Happening, Listener][] = [];
  #look: Look | undefined;
  #port: MessagePort | undefined;
  /** Messages for a frame that hasn't loaded yet. */
  #waiting: ToFrame[] = [];
  #isLoading = false;
  #isReady = false;
  #isOpen = false;
  /** `open` was called before the chat could open. */
  #isWanted = false;

  async load(): Promise<void> {
    const url = `${this.#host}/api/widget/${encodeURIComponent(this.#key)}/config`;
    const response = await fetch(url, { credentials: 'omit' }).catch((cause: unknown) => {
      const reason = `${location.hostname} isn’t one of the widget’s allowed domains, or ${this.#host} can’t be reached`;
      throw new Error(reason, { cause });
    });
    if (!response.ok) throw new Error(`no widget: ${response.status}`);
    const { greeting_message, placeholder, theme } = (await response.json()) as Config;
    const greeting = tag.dataset.prGreeting ?? greeting_message;
    const rtl = getComputedStyle(document.body).direction === 'rtl';
    this.#look = { greeting, placeholder, primary: theme.primary, rtl };
    this.#bubble.show(theme.primary, tag.dataset.prPosition ?? theme.position);
    if (this.#isWanted) this.open();
    // After a navigation the chat opens again, but not on a phone, and without taking the focus.
    else if (this.#store.read().open && !this.#bubble.phone.matches) this.open(false);
  }

  open(focus = true): void {
    if (!this.#look) {
      this.#isWanted = true;
      return;
    }
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#loadFrame(this.#look);
    // On a phone the bubble is hidden, which would lose the focus.
    this.#bubble.open(focus);
    // On a phone the box isn't focused: the keyboard would come up.
    this.#tell({ v: 1, type: 'open', focus: focus && !this.#bubble.phone.matches });
    this.#store.write({ open: true });
    this.#emit('open');
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#bubble.close();
    this.#store.write({ open: false });
    this.#emit('close');
  }

  send(text: string): void {
    this.open();
    this.#tell({ v: 1, type: 'say', text: String(text) });
  }

  on(happening: Happening, listener: Listener): void {
    this.#listeners.push([happening, listener]);
  }

  #emit(happening: Happening, detail?: unknown): void {
    for (const [wanted, listener] of this.#listeners) if (wanted === happening) listener(detail);
  }

  #tell(message: ToFrame): void {
    if (this.#port) this.#port.postMessage(message);
    else this.#waiting.push(message);
  }

  #loadFrame(look: Look): void {
    if (this.#isLoading) return;
    this.#isLoading = true;
    setTimeout(() => this.#isReady || this.#giveUp(), LOADED_WITHIN_MS);
    const url = `${this.#host}/widget/frame/${FRAME_VERSION}?key=${encodeURIComponent(this.#key)}`;
    this.#bubble.load(url, (chat) => {
      // The calls of a previous frame: the new one uses the same numbers.
      this.#calls.stopAll();
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }: MessageEvent<ToLoader>) => this.#onMessage(data);
      const first: ToFrame = { v: 1, type: 'init', look, saved: this.#store.read().saved };
      // The frame has no origin to name. The message holds no secret.
      chat.postMessage(first, '*', [port2]);
      this.#port = port1;
      for (const message of this.#waiting.splice(0)) port1.postMessage(message);
    });
  }

  /** The chat can't be loaded. The next click tries again. */
  #giveUp(): void {
    const wasOpen = this.#isOpen;
    this.close();
    this.#bubble.unload();
    this.#isLoading = false;
    this.#port = undefined;
    this.#waiting = [];
    if (!wasOpen) return;
    this.#emit('error');
    // biome-ignore lint/suspicious/noConsole: whoever builds the page looks there
    console.warn('chat widget: the chat could not be loaded');
  }

  #onMessage(message: ToLoader): void {
    if (message?.v !== 1) return;
    this.#isReady = true;
    if (message.type === 'close') this.close();
    else if (message.type === 'ask') void this.#calls.ask(message.id, message.question);
    else if (message.type === 'stop') this.#calls.stop(message.id);
    else if (message.type === 'save') this.#store.write({ saved: message.saved });
    else if (message.type === 'answered') {
      this.#emit('message', message.text);
      if (!this.#isOpen) this.#bubble.label(false, true);
    }
  }
}

function start(): void {
  const widget = new Widget();
  site.GatewayChat = {
    open: () => widget.open(),
    close: () => widget.close(),
    send: (text: string) => widget.send(text),
    on: (happening: Happening, listener: Listener) => widget.on(happening, listener),
  };
  const load = (): void =>
    void widget.load().catch((error: unknown) => {
      // biome-ignore lint/suspicious/noConsole: whoever builds the page looks there
      console.warn('chat widget:', error);
      // A cached page may be shown without a connection.
      if (!navigator.onLine) window.addEventListener('online', load, { once: true });
    });
  const idle = (): unknown => (window.requestIdleCallback ?? setTimeout)(load);
  // A script in the head may run before the body exists.
  if (document.body) idle();
  else document.addEventListener('DOMContentLoaded', idle);
}

// Two tags, one bubble.
if (tag?.dataset.prWidget && !site.GatewayChat) start();
