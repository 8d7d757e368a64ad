import { CodeBlock } from '../../ui/code-block';
import classes from './keys.module.css';

interface SecretOnceProps {
  secret: string;
  onCopied?: (() => void) | undefined;
}

/** A key in full, the one time that it can be seen. */
export function SecretOnce({ secret, onCopied }: SecretOnceProps) {
  return (
    <div className={classes.stack}>
      <p>This is the only time that the key is shown. Keep it where secrets are kept.</p>
      <CodeBlock label="API key" code={secret} what="key" {...(onCopied && { onCopied })} />
    </div>
  );
}
