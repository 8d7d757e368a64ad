import { useState } from 'react';
import { CodeBlock } from './code-block';
import { useHeldSecret } from './held-secret';
import { Note } from './note';

interface SecretOnceProps {
  secret: string;
  what: string;
  onCopied?(): void;
}

/** A secret in full, with what to do about it. The end of the session doesn't take it away before it was copied. */
export function SecretOnce({ secret, what, onCopied }: SecretOnceProps) {
  const [copied, setCopied] = useState<string>();
  const hasEnded = useHeldSecret(copied === secret);
  return (
    <>
      {hasEnded && <Note tone="warn">Your session has ended. Copy the {what} first, then log in again.</Note>}
      <p>This {what} is shown only once. Store it in a safe place.</p>
      <CodeBlock
        label={what === 'key' ? 'API key' : 'Signing secret'}
        code={secret}
        what={what}
        onCopied={() => {
          setCopied(secret);
          onCopied?.();
        }}
      />
    </>
  );
}
