import { escaped } from '../lib/html.js';
import { type Block, readMarkdown } from '../lib/markdown.js';
import type { Inline } from '../lib/markdown-inline.js';

/** Below the heading of the section that contains the text. */
const FIRST_LEVEL = 3;
const LAST_LEVEL = 6;

const TAGS = { strong: 'strong', emphasis: 'em', struck: 's' } as const;

/**
 * A stranger's Markdown as HTML. All text is escaped, nothing is fetched, and links are shown as text with their
 * address.
 */
export const markdownHtml = (text: string): string => readMarkdown(text).map(blockHtml).join('\n');

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
      return `<p>${line(block.children)}</p>`;
    case 'heading': {
      const level = Math.min(block.level + FIRST_LEVEL - 1, LAST_LEVEL);
      return `<h${level}>${line(block.children)}</h${level}>`;
    }
    case 'code':
      return `<figure class="snippet"><figcaption>${escaped(block.language || 'code')}</figcaption><pre tabindex="0"><code>${escaped(block.text)}</code></pre></figure>`;
    case 'quote':
      return `<blockquote>${block.children.map(blockHtml).join('')}</blockquote>`;
    case 'list':
      return listHtml(block.start, block.items);
    case 'table':
      return tableHtml(block.head, block.rows);
    case 'rule':
      return '<hr>';
  }
}

function listHtml(start: number | null, items: readonly Block[][]): string {
  const drawn = items.map((item) => `<li>${item.map(blockHtml).join('')}</li>`).join('');
  return start === null ? `<ul>${drawn}</ul>` : `<ol start="${start}">${drawn}</ol>`;
}

function tableHtml(head: readonly Inline[][], rows: readonly Inline[][][]): string {
  const cells = (tag: string, row: readonly Inline[][]): string =>
    `<tr>${row.map((cell) => `<${tag}>${line(cell)}</${tag.split(' ', 1)[0]}>`).join('')}</tr>`;
  const body = rows.map((row) => cells('td', row)).join('');
  return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead>${cells('th scope="col"', head)}</thead><tbody>${body}</tbody></table></div>`;
}

const line = (pieces: readonly Inline[]): string => pieces.map(pieceHtml).join('');

function linkHtml({ href, isImage, children }: Extract<Inline, { kind: 'link' }>): string {
  const words = line(children);
  const address = escaped(href);
  const shown = words === address ? address : `${words} (${address})`;
  return isImage ? `Image: ${shown}` : shown;
}

function pieceHtml(piece: Inline): string {
  switch (piece.kind) {
    case 'text':
      return escaped(piece.text);
    case 'code':
      return `<code>${escaped(piece.text)}</code>`;
    case 'link':
      return linkHtml(piece);
    default:
      return `<${TAGS[piece.kind]}>${line(piece.children)}</${TAGS[piece.kind]}>`;
  }
}
