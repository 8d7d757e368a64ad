import { readableOn } from './contrast';

/** `!important`, since rules of the page, such as `div:empty{display:none}`, override those of a `:host`. */
const CSS = `:host{all:initial!important}
button,iframe{position:fixed;z-index:2147483647;bottom:20px;right:20px;border:0}
.left button,.left iframe{right:auto;left:20px}
button{width:56px;height:56px;border-radius:50%;cursor:pointer;box-shadow:0 2px 12px #0004;padding:16px}
button:focus-visible{outline:3px solid #fff;box-shadow:0 0 0 5px #000}
button.new::after{content:"";position:absolute;top:2px;right:2px;width:12px;height:12px;border-radius:50%;background:#d22;border:2px solid #fff}
svg{display:block;width:24px;height:24px}
iframe{bottom:88px;width:380px;height:min(600px,calc(100vh - 108px));border-radius:12px;box-shadow:0 4px 32px #0005;background:#fff;color-scheme:normal}
[hidden]{display:none}
@media (max-width:480px){iframe,.left iframe{inset:0;width:100%;height:100%;border-radius:0}.open button{visibility:hidden}}
@media (prefers-color-scheme:dark){iframe{background:#161a1d}}`;
const ICON = 'M4 4h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-9l-5 4v-4H4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z';
const SVG = 'http://www.w3.org/2000/svg';

/** The button in the corner, and the frame above it, isolated from the styles of the page. */
export class Bubble {
  /** Matches narrow screens, which the chat fills. */
  readonly phone = matchMedia('(max-width:480px)');
  readonly #root = document.createElement('div');
  readonly #shadow = this.#root.attachShadow({ mode: 'closed' });
  readonly #box = document.createElement('div');
  readonly #button = document.createElement('button');
  #frame: HTMLIFrameElement | undefined;

  /** `onNear` is called when a click is likely. */
  constructor(onClick: () => void, onNear: () => void) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
    // Made by script, so that the page's policy on styles doesn't apply.
    this.#shadow.adoptedStyleSheets = [sheet];
    this.#shadow.append(this.#box);
    this.#button.type = 'button';
    this.#button.onclick = onClick;
    this.#button.onpointerenter = onNear;
    this.#button.onfocus = onNear;
    this.#button.append(icon());
    this.#box.append(this.#button);
  }

  show(color: string, position: string): void {
    this.#box.className = position === 'bottom-left' ? 'left' : '';
    this.#button.style.background = color;
    this.#button.style.color = readableOn(color);
    this.label(false, false);
    document.body.append(this.#root);
    new MutationObserver(this.#stay).observe(document.documentElement, { childList: true });
  }

  /** Moves to the new body on sites that navigate by replacing the body, as Turbo does, if the new page has the tag, too. */
  readonly #stay = (): void => {
    if (this.#root.isConnected || !document.querySelector('script[data-pr-widget]')) return;
    document.body?.append(this.#root);
  };

  label(isOpen: boolean, isNew: boolean): void {
    const open = isNew ? 'Open chat, new message' : 'Open chat';
    this.#button.className = isNew ? 'new' : '';
    this.#button.setAttribute('aria-label', isOpen ? 'Close chat' : open);
    this.#button.setAttribute('aria-expanded', String(isOpen));
    this.#box.classList.toggle('open', isOpen);
  }

  /** Loads the chat. `onLoad` gets its window, also after a move to another body. */
  load(url: string, onLoad: (chat: Window) => void): void {
    const frame = document.createElement('iframe');
    frame.title = 'Chat';
    frame.id = 'chat';
    frame.hidden = true;
    this.#button.setAttribute('aria-controls', 'chat');
    // Without an origin, so that its code reaches neither this page nor ours. Pages that its links open have an origin again:
    // otherwise a shop would have neither forms nor storage.
    frame.setAttribute('sandbox', 'allow-scripts allow-popups allow-popups-to-escape-sandbox');
    frame.src = url;
    frame.onload = () => frame.contentWindow && onLoad(frame.contentWindow);
    this.#frame = frame;
    this.#box.append(frame);
    window.visualViewport?.addEventListener('resize', this.#place);
    window.visualViewport?.addEventListener('scroll', this.#place);
  }

  /** Removes a frame that didn't load; the next one may. */
  unload(): void {
    this.#frame!.remove();
    this.label(false, false);
    window.visualViewport?.removeEventListener('resize', this.#place);
    window.visualViewport?.removeEventListener('scroll', this.#place);
  }

  open(focus: boolean): void {
    this.#frame!.hidden = false;
    if (focus) this.#frame!.focus();
    this.label(true, false);
    this.#place();
  }

  /** Returns the focus to the button if the chat had it. */
  close(): void {
    const hadFocus = this.#shadow.activeElement === this.#frame;
    this.#frame!.hidden = true;
    this.label(false, false);
    if (hadFocus) this.#button.focus();
  }

  /** Places the frame above the keyboard of a phone. */
  readonly #place = (): void => {
    const view = window.visualViewport;
    if (!view) return;
    const { style } = this.#frame!;
    style.height = this.phone.matches ? `${view.height}px` : '';
    style.top = this.phone.matches ? `${view.offsetTop}px` : '';
  };
}

function icon(): SVGElement {
  const made = document.createElementNS(SVG, 'svg');
  made.setAttribute('viewBox', '0 0 24 24');
  made.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICON);
  path.setAttribute('fill', 'currentColor');
  made.append(path);
  return made as SVGElement;
}
