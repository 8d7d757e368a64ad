import classes from './code-block.module.css';
import { CopyButton } from './copy-button';

interface CodeBlockProps {
  /** Label for screen readers. */
  label: string;
  code: string;
  /** What the button copies: `key`, `snippet`. */
  what: string;
  onCopied?(): void;
}

/** Preformatted text with a copy button. */
export function CodeBlock({ label, code, what, onCopied }: CodeBlockProps) {
  return (
    <div className={classes.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, and the keyboard must be able to */}
      <section tabIndex={0} aria-label={label}>
        <pre>{code}</pre>
      </section>
      <CopyButton text={code} what={what} onCopied={onCopied} />
    </div>
  );
}
