import { type Block, readMarkdown } from '../../src/lib/markdown.js';
import type { Inline } from '../../src/lib/markdown-inline.js';
import fc from '../support/fast-check.js';

/** Blocks as short text: `h1(Title) p(a strong(b))`. */
const words = (pieces: readonly Inline[]): string =>
  pieces
    .map((piece) => {
      if (piece.kind === 'text') return piece.text;
      if (piece.kind === 'code') return `code(${piece.text})`;
      const name = piece.kind === 'link' ? `${piece.isImage ? 'image' : 'link'}<${piece.href}>` : piece.kind;
      return `${name}(${words(piece.children)})`;
    })
    .join('');

const shown = (blocks: readonly Block[]): string => blocks.map(shownBlock).join(' ');

function shownBlock(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
      return `p(${words(block.children)})`;
    case 'heading':
      return `h${block.level}(${words(block.children)})`;
    case 'code':
      return `code[${block.language}](${block.text})`;
    case 'quote':
      return `quote(${shown(block.children)})`;
    case 'list':
      return `${block.start === null ? 'ul' : `ol${block.start}`}(${block.items.map((item) => `<${shown(item)}>`).join('')})`;
    case 'table':
      return `table(${[block.head, ...block.rows].map((row) => row.map(words).join('|')).join('/')})`;
    case 'rule':
      return 'rule';
  }
}

const read = (text: string): string => shown(readMarkdown(text));

describe('Markdown', () => {
  test.each([
    ['# One\n## Two ##x\ntext', 'h1(One) h2(Two ##x) p(text)'],
    ['a\nb\n\nc', 'p(a\nb) p(c)'],
    [
      '**bold** and *soft*, __bold__ and _soft_, ~~gone~~',
      'p(strong(bold) and emphasis(soft), strong(bold) and emphasis(soft), struck(gone))',
    ],
    ['***both*** **a *b* c**', 'p(strong(emphasis(both)) strong(a emphasis(b) c))'],
    ['snake_case_name, 2 * 3 * 4, \\*plain\\*', 'p(snake_case_name, 2 * 3 * 4, *plain*)'],
    ['`a` and ``b ` c`` and `open', 'p(code(a) and code(b ` c) and `open)'],
    ['```ts\nconst a = 1;\n\n# no heading\n```\nafter', 'code[ts](const a = 1;\n\n# no heading) p(after)'],
    ['- a\n- b\n  - c\n\n1. d\n2. e', 'ul(<p(a)><p(b) ul(<p(c)>)>) ol1(<p(d)><p(e)>)'],
    ['3. a\n   more\n\n4. b', 'ol3(<p(a\nmore)><p(b)>)'],
    ['> words\n> - one', 'quote(p(words) ul(<p(one)>))'],
    ['---\n***', 'rule rule'],
    ['| a | b |\n|---|:-:|\n| 1 | **2** |\n| 3 |', 'table(a|b/1|strong(2)/3|)'],
    ['[words](https://example.com/a_(b) "title")', 'p(link<https://example.com/a_(b)>(words))'],
    ['see https://example.com/x.', 'p(see link<https://example.com/x>(https://example.com/x).)'],
  ])('is read: %j', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test('contains HTML as text, images as links, and no links that could run code', () => {
    expect(read('<img src=x onerror=alert(1)> <b>no</b>')).toBe('p(<img src=x onerror=alert(1)> <b>no</b>)');
    expect(read('![cat](https://example.com/cat.png)')).toBe('p(image<https://example.com/cat.png>(cat))');
    expect(read('![](https://example.com/?q=secret)')).toContain('image<https://example.com/?q=secret>');
    for (const address of [
      'javascript:alert(1)',
      'data:text/html,x',
      '//example.com',
      'JAVASCRIPT:x',
      ' vbscript:x',
    ]) {
      expect(read(`[x](${address})`)).not.toContain('link<');
    }
  });

  test('is read as far as it goes while it is being written', () => {
    expect(read('text\n```py\nprint(')).toBe('p(text) code[py](print()');
    expect(read('**bo')).toBe('p(**bo)');
    expect(read('[words](https://exa')).toContain('[words](');
  });

  test('keeps every letter of the text', () => {
    const lettersOf = (text: string): string => text.replaceAll(/[^a-z]/g, '');
    const piece = fc.constantFrom(
      'a',
      'bc',
      ' ',
      '\n',
      '*',
      '**',
      '_',
      '`',
      '[',
      ']',
      '(',
      ')',
      '>',
      '- ',
      '# ',
      '~~',
      '|',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('');
        const plain = JSON.stringify(readMarkdown(text), (key, value: unknown) =>
          key === 'kind' ? undefined : value,
        );
        const drawn = [...plain.matchAll(/"(?:text|language)":"((?:[^"\\]|\\.)*)"/g)]
          .map(([, one]) => JSON.parse(`"${one}"`) as string)
          .join('');
        // The rest of a fence's first line, up to a space, is the language.
        if (!/```|~~~/.test(text)) expect(lettersOf(drawn)).toBe(lettersOf(text));
      }),
      { numRuns: 300 },
    );
  });

  test('is read in linear time, even with markers that are never closed', () => {
    const rounds = ['*a ', '**', '[', '`', '_a', '~~a', '> ', '- ', '![', '[a](', '*_', '|a', '``` '];
    for (const sign of rounds) {
      const cost = (times: number): number => {
        const began = process.cpuUsage();
        readMarkdown(sign.repeat(times));
        const { user, system } = process.cpuUsage(began);
        return user + system;
      };
      cost(2_000);
      // 16 times the length may take a bit more than 16 times as long; quadratic time would be 256 times.
      const [short, long] = [cost(2_000), cost(32_000)];
      expect([sign, long < 100 * Math.max(short, 2_000)]).toEqual([sign, true]);
    }
  });
});
