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
      <p>This {what} is shown only once. Store it in a safe place.</p>
      <CodeBlock
        label={what === 'key' ? 'API key' : 'Signing secret'}
        code={secret}
        what={what}
        {...(onCopied && { onCopied })}
      />
    </>
  );
}
