import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { keepPage } from '../session';

interface SecretGuard {
  /** Somebody was about to leave without the secret, and is told so. */
  asked: boolean;
  /** Nothing is lost, or somebody has been told. */
  mayLeave: boolean;
  ask(): void;
  onCopied(): void;
  /** The next secret begins anew. */
  reset(): void;
}

/**
 * Asks once before a secret is lost that can't be seen again. A reload or a closed tab loses it, too: there the browser asks.
 * @param isAtStake whether there is such a secret
 * @param loses which navigations lose it
 */
export function useSecretGuard(isAtStake: boolean, loses: ShouldBlockFn): SecretGuard {
  const [copied, setCopied] = useState(false);
  const [asked, setAsked] = useState(false);
  const isHeld = isAtStake && !copied;
  const mayLeave = !isHeld || asked;
  useBlocker({
    shouldBlockFn: async (navigation) => {
      const isLost = await loses(navigation);
      if (isLost) setAsked(true);
      return isLost;
    },
    enableBeforeUnload: true,
    disabled: mayLeave,
  });
  // After the blocker, which lets go first.
  useEffect(() => (isHeld ? keepPage() : undefined), [isHeld]);
  return {
    asked,
    mayLeave,
    ask: () => setAsked(true),
    onCopied: () => {
      setCopied(true);
      setAsked(false);
    },
    reset: () => {
      setCopied(false);
      setAsked(false);
    },
  };
}
