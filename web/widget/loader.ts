import { readableOn } from './contrast';
import type { Look, Saved, ToFrame, ToLoader, Trouble } from './protocol';

/** Set by the build: names the frame that this loader was made with. */
declare const FRAME_VERSION: string;

type Event = 'open' | 'close' | 'message' | 'error';

interface Config {
  greeting_message: string;
  placeholder: string;
  theme: { primary: string; position: string };
}

const CSS = `:host{all:initial}
button,iframe{position:fixed;z-index:2147483647;bottom:20px;right:20px;border:0}
.left button,.left iframe{right:auto;left:20px}
button{width:56px;height:56px;border-radius:50%;cursor:pointer;box-shadow:0 2px 12px #0004;padding:16px}
button:focus-visible{outline:3px solid #fff;box-shadow:0 0 0 5px #000}
button.new::after{content:"";position:absolute;top:2px;right:2px;width:12px;height:12px;border-radius:50%;background:#d22;border:2px solid #fff}
svg{display:block;width:24px;height:24px}
iframe{bottom:88px;width:380px;height:min(600px,calc(100vh - 108px));border-radius:12px;box-shadow:0 4px 32px #0005;background:#fff;color-scheme:normal}
[hidden]{display:none}
@media (max-width:480px){iframe,.left iframe{inset:0;width:100%;height:100%;border-radius:0}}
@media (prefers-color-scheme:dark){iframe{background:#161a1d}}`;
const BUBBLE = 'M4 4h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-9l-5 4v-4H4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z';
const SVG = 'http://www.w3.org/2000/svg';

const tag = (document.currentScript ?? document.querySelector('script[data-pr-widget]')) as HTMLScriptElement;
const site = window as unknown as { GatewayChat?: object };

function start(): void {
  const { prWidget: key = '', prPosition, prGreeting, prHost } = tag.dataset;
  const host = (prHost || new URL(tag.src).origin).replace(/\/+$/, '');
  const storeName = `pr-widget:${key}`;
  const listeners: [Event, (detail?: unknown) => void][] = [];
  const calls = new Map<number, AbortController>();
  const phone = matchMedia('(max-width:480px)');
  let look: Look | undefined;
  let frame: HTMLIFrameElement | undefined;
  let port: MessagePort | undefined;
  let waiting: ToFrame[] = [];
  let isOpen = false;

  const root = document.createElement('div');
  const shadow = root.attachShadow({ mode: 'closed' });
  const box = document.createElement('div');
  const button = document.createElement('button');
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  shadow.adoptedStyleSheets = [sheet];
  shadow.append(box);

  const emit = (event: Event, detail?: unknown): void => {
    for (const [name, listener] of listeners) if (name === event) listener(detail);
  };
  const tell = (message: ToFrame): void => {
    if (port) port.postMessage(message);
    else waiting.push(message);
  };

  const read = (): { saved: Saved; open: boolean } => {
    try {
      return { open: false, saved: { turns: [] }, ...JSON.parse(sessionStorage.getItem(storeName) ?? '{}') };
    } catch {
      return { open: false, saved: { turns: [] } };
    }
  };
  const store = (change: Partial<ReturnType<typeof read>>): void => {
    try {
      sessionStorage.setItem(storeName, JSON.stringify({ ...read(), ...change }));
    } catch {
      // The site has no storage, or it is full: the conversation ends with the page.
    }
  };

  /** The answer of the gateway, piece by piece. */
  const ask = async (id: number, question: object): Promise<void> => {
    const control = new AbortController();
    calls.set(id, control);
    try {
      const response = await fetch(`${host}/api/widget/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ public_key: key, stream: true, ...question }),
        credentials: 'omit',
        signal: control.signal,
      });
      if (!response.ok || !response.body) throw await troubleOf(response);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        tell({ v: 1, type: 'chunk', id, text: value });
      }
      tell({ v: 1, type: 'done', id });
    } catch (error) {
      if (control.signal.aborted) return;
      const trouble: Trouble = error instanceof Error ? {} : (error as Trouble);
      tell({ v: 1, type: 'error', id, trouble });
      emit('error', trouble.code);
    } finally {
      calls.delete(id);
    }
  };

  const hear = ({ data }: MessageEvent<ToLoader>): void => {
    if (data?.v !== 1) return;
    if (data.type === 'close') close();
    else if (data.type === 'ask') void ask(data.id, data.question);
    else if (data.type === 'stop') calls.get(data.id)?.abort();
    else if (data.type === 'save') store({ saved: data.saved });
    else if (data.type === 'answered') {
      emit('message', data.text);
      if (!isOpen) label('new');
    }
  };

  const label = (state: '' | 'new'): void => {
    button.className = state;
    button.setAttribute('aria-label', isOpen ? 'Close chat' : state ? 'Open chat, new message' : 'Open chat');
    button.setAttribute('aria-expanded', String(isOpen));
  };

  /** Above the keyboard of a phone, which covers what is behind it. */
  const place = (): void => {
    const view = window.visualViewport;
    if (!frame || !view) return;
    frame.style.height = phone.matches ? `${view.height}px` : '';
    frame.style.top = phone.matches ? `${view.offsetTop}px` : '';
  };

  const build = (): void => {
    if (frame || !look) return;
    const greeted = { ...look, greeting: prGreeting ?? look.greeting };
    frame = document.createElement('iframe');
    frame.title = 'Chat';
    // Without an origin of its own: whatever runs there reaches neither this page nor ours.
    frame.setAttribute('sandbox', 'allow-scripts allow-forms allow-popups');
    frame.src = `${host}/widget/frame/${FRAME_VERSION}?key=${encodeURIComponent(key)}`;
    frame.onload = () => {
      const channel = new MessageChannel();
      channel.port1.onmessage = hear;
      const first: ToFrame = { v: 1, type: 'init', look: greeted, saved: read().saved };
      // It has no origin that could be named. Nothing of it is secret.
      frame?.contentWindow?.postMessage(first, '*', [channel.port2]);
      port = channel.port1;
      for (const message of waiting) port.postMessage(message);
      waiting = [];
    };
    box.append(frame);
    window.visualViewport?.addEventListener('resize', place);
    window.visualViewport?.addEventListener('scroll', place);
  };

  const open = (focus = true): void => {
    if (!look) {
      wanted = true;
      return;
    }
    build();
    if (isOpen) return;
    isOpen = true;
    frame!.hidden = false;
    // The keyboard of a phone comes only when somebody touches the box.
    const taken = focus && !phone.matches;
    if (taken) frame!.focus();
    tell({ v: 1, type: 'open', focus: taken });
    label('');
    place();
    store({ open: true });
    emit('open');
  };
  const close = (): void => {
    if (!isOpen) return;
    const hadFocus = shadow.activeElement === frame;
    isOpen = false;
    frame!.hidden = true;
    label('');
    if (hadFocus) button.focus();
    store({ open: false });
    emit('close');
  };
  let wanted = false;

  const show = ({ greeting_message, placeholder, theme }: Config): void => {
    look = { greeting: greeting_message, placeholder, primary: theme.primary };
    box.className = (prPosition ?? theme.position) === 'bottom-left' ? 'left' : '';
    button.style.background = theme.primary;
    button.style.color = readableOn(theme.primary);
    const icon = document.createElementNS(SVG, 'svg');
    icon.setAttribute('viewBox', '0 0 24 24');
    icon.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', BUBBLE);
    path.setAttribute('fill', 'currentColor');
    icon.append(path);
    button.append(icon);
    button.type = 'button';
    button.onclick = () => (isOpen ? close() : open());
    label('');
    box.append(button);
    document.body.append(root);
    if (wanted) open();
    else if (read().open && !phone.matches) open(false);
  };

  site.GatewayChat = {
    open: () => open(),
    close,
    send(text: string) {
      open();
      tell({ v: 1, type: 'say', text: String(text) });
    },
    on(event: Event, listener: (detail?: unknown) => void) {
      listeners.push([event, listener]);
    },
  };

  const load = (): void => {
    fetch(`${host}/api/widget/${encodeURIComponent(key)}/config`, { credentials: 'omit' })
      .then((response) =>
        response.ok ? (response.json() as Promise<Config>) : Promise.reject(response.status),
      )
      .then(show)
      // biome-ignore lint/suspicious/noConsole: whoever builds the page looks there
      .catch((error: unknown) => console.warn('chat widget:', error));
  };
  (window.requestIdleCallback ?? setTimeout)(load);
}

async function troubleOf(response: Response): Promise<Trouble> {
  const after = Number(response.headers.get('retry-after'));
  const body = (await response.json().catch(() => undefined)) as { error?: { code?: string } } | undefined;
  return { code: body?.error?.code ?? 'unknown', ...(after > 0 && { retryAfter: after }) };
}

if (tag?.dataset.prWidget && !site.GatewayChat) start();
