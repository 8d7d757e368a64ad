import { CodeBlock } from './code-block';

interface SecretOnceProps {
  secret: string;
  what: string;
  onCopied?(): void;
}

/** A secret in full, with what to do about it. */
export function SecretOnce({ secret, what, onCopied }: SecretOnceProps) {
  return (
    <>
      <p>This is the only time that the {what} is shown. Keep it where secrets are kept.</p>
      <CodeBlock
        label={what === 'key' ? 'API key' : 'Signing secret'}
        code={secret}
        what={what}
        {...(onCopied && { onCopied })}
      />
    </>
  );
}
