import { useState } from 'react';
import { CodeBlock } from './code-block';
import { useHeldSecret } from './held-secret';
import { Note } from './note';

interface SecretOnceProps {
  secret: string;
  what: string;
  onCopied?(): void;
}

/** A full secret, with advice. It stays until it was copied, even if the session ends. */
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
