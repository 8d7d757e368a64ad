import { Fragment, memo, type ReactNode, useMemo } from 'react';
import { type Block, readMarkdown } from '../../../../src/lib/markdown';
import type { Inline } from '../../../../src/lib/markdown-inline';
import { CopyButton } from '../../ui/copy-button';
import classes from './markdown.module.css';

/** Renders Markdown without HTML, and without loading anything that it links to. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => readMarkdown(text), [text]);
  return <div className={classes.markdown}>{blocks.map(drawBlock)}</div>;
}

const drawBlock = (block: Block, index: number): ReactNode => (
  <Drawn key={index} block={block} written={JSON.stringify(block)} />
);

/** Only rendered again when its text changes: a streaming text changes at its end. */
const Drawn = memo(
  function Drawn({ block }: { block: Block; written: string }) {
    switch (block.kind) {
      case 'paragraph':
        return <p>{block.children.map(drawInline)}</p>;
      case 'heading':
        return <Heading level={block.level}>{block.children.map(drawInline)}</Heading>;
      case 'code':
        return <Code language={block.language} text={block.text} />;
      case 'quote':
        return <blockquote>{block.children.map(drawBlock)}</blockquote>;
      case 'list':
        return <List start={block.start} items={block.items} />;
      case 'table':
        return <Table head={block.head} rows={block.rows} />;
      case 'rule':
        return <hr />;
    }
  },
  (before, after) => before.written === after.written,
);

/** Levels below the heading of the column. */
const HEADINGS = ['h3', 'h4', 'h5', 'h6'] as const;

function Heading({ level, children }: { level: number; children: ReactNode }) {
  const Element = HEADINGS[Math.min(level, HEADINGS.length) - 1]!;
  return <Element className={classes.heading}>{children}</Element>;
}

function List({ start, items }: { start: number | null; items: Block[][] }) {
  const drawn = items.map((item, index) => <li key={index}>{item.map(drawBlock)}</li>);
  return start === null ? <ul>{drawn}</ul> : <ol start={start}>{drawn}</ol>;
}

function Table({ head, rows }: { head: Inline[][]; rows: Inline[][][] }) {
  return (
    // Not a region, since the answers to one question often have the same tables.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, and the keyboard must be able to
    // biome-ignore lint/a11y/useSemanticElements: not part of a form
    <div className={classes.scrolled} role="group" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                {cell.map(drawInline)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{cell.map(drawInline)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Code({ language, text }: { language: string; text: string }) {
  return (
    <figure className={classes.code}>
      <figcaption>
        <span>{language || 'code'}</span>
        <CopyButton text={text} what="code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, and the keyboard must be able to */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

function drawInline(piece: Inline, index: number): ReactNode {
  switch (piece.kind) {
    case 'text':
      return <Fragment key={index}>{piece.text}</Fragment>;
    case 'code':
      return <code key={index}>{piece.text}</code>;
    case 'strong':
      return <strong key={index}>{piece.children.map(drawInline)}</strong>;
    case 'emphasis':
      return <em key={index}>{piece.children.map(drawInline)}</em>;
    case 'struck':
      return <s key={index}>{piece.children.map(drawInline)}</s>;
    case 'link':
      return (
        <a key={index} href={piece.href} target="_blank" rel="noopener noreferrer nofollow">
          {piece.isImage && 'Image: '}
          {piece.children.map(drawInline)}
        </a>
      );
  }
}
