import classes from './code-block.module.css';
import { CopyButton } from './copy-button';

interface CodeBlockProps {
  /** What it is, for who doesn't see it. */
  label: string;
  code: string;
  /** What the button copies: `key`, `snippet`. */
  what: string;
  onCopied?(): void;
}

/** Text to be copied, as it is. */
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
