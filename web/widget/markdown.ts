/**
 * The Markdown that models usually write: paragraphs, lists, code, bold, italics and links. It is rendered to nodes, never HTML;
 * anything else stays text. Pictures aren't loaded, since their address could leak the conversation.
 */

const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|__([^_\n]+)__|\*([^*\s][^*\n]*)\*|!?\[([^\]\n]{1,500})\]\(([^\s()<>]{1,2000})\)|(https?:\/\/[^\s<>"'`]{1,2000})/g;
const ITEM = /^\s{0,3}(?:([-*+])|(\d{1,4})[.)])\s+(.*)$/;
const FENCE = /^\s{0,3}```/;
const HEADING = /^\s{0,3}#{1,6}\s+(.*)$/;
/** Punctuation at the end of an address belongs to the sentence. */
const TRAILING = /[.,;:!?)\]}]+$/;

/** Only addresses of pages; `javascript:` and all others stay text. */
function safeAddress(address: string): string | undefined {
  try {
    const { protocol, href } = new URL(address);
    return protocol === 'https:' || protocol === 'http:' || protocol === 'mailto:' ? href : undefined;
  } catch {
    return undefined;
  }
}

function element(name: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

function link(words: string, address: string): Node | undefined {
  const href = safeAddress(address);
  if (href === undefined) return undefined;
  const made = element('a', words) as HTMLAnchorElement;
  made.href = href;
  made.target = '_blank';
  made.rel = 'noopener noreferrer nofollow';
  return made;
}

function inline(text: string): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let done = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, bold, strong, italic, words, address, bare] = match;
    const node = nodeOf({ code, bold: bold ?? strong, italic, words, address, bare });
    if (!node) continue;
    parts.push(text.slice(done, match.index), ...node);
    done = match.index + whole.length;
  }
  parts.push(text.slice(done));
  return parts;
}

type Found = Record<'code' | 'bold' | 'italic' | 'words' | 'address' | 'bare', string | undefined>;

function nodeOf({ code, bold, italic, words, address, bare }: Found): (Node | string)[] | undefined {
  if (code !== undefined) return [element('code', code)];
  if (bold !== undefined) return [element('strong', bold)];
  if (italic !== undefined) return [element('em', italic)];
  if (words !== undefined) {
    const made = link(words, address!);
    return made && [made];
  }
  const tail = TRAILING.exec(bare!)?.[0] ?? '';
  const place = bare!.slice(0, bare!.length - tail.length);
  const made = link(place, place);
  return made && [made, tail];
}

export function markdown(text: string): DocumentFragment {
  const out = document.createDocumentFragment();
  const lines = text.split('\n');
  let list: HTMLElement | undefined;
  let paragraph: HTMLElement | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const item = ITEM.exec(line);
    if (FENCE.test(line)) {
      const end = lines.findIndex((next, index) => index > at && FENCE.test(next));
      const stop = end === -1 ? lines.length : end;
      const pre = element('pre', element('code', lines.slice(at + 1, stop).join('\n')));
      pre.tabIndex = 0;
      out.append(pre);
      at = stop;
      list = undefined;
      paragraph = undefined;
    } else if (item) {
      const [, , number, rest] = item;
      const kind = number === undefined ? 'UL' : 'OL';
      if (list?.tagName !== kind) {
        list = element(kind);
        if (number !== undefined) (list as HTMLOListElement).start = Number(number);
        out.append(list);
      }
      list.append(element('li', ...inline(rest!)));
      paragraph = undefined;
    } else if (line.trim() === '') {
      paragraph = undefined;
    } else {
      list = undefined;
      const heading = HEADING.exec(line);
      const words = heading ? [element('strong', ...inline(heading[1]!))] : inline(line);
      if (paragraph && !heading) paragraph.append('\n', ...words);
      else {
        paragraph = element('p', ...words);
        out.append(paragraph);
      }
      if (heading) paragraph = undefined;
    }
  }
  return out;
}
