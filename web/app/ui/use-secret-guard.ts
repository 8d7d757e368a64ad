import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { keepPage } from '../session';

interface SecretGuard {
  /** The user was about to leave without the secret: show a warning. */
  asked: boolean;
  /** Nothing is lost, or the user was warned. */
  mayLeave: boolean;
  ask(): void;
  onCopied(): void;
  /** For the next secret. */
  reset(): void;
}

/**
 * Asks once before a secret is lost that can't be shown again. Before a reload or when the tab is closed, the browser asks.
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
  // After the blocker, so that the blocker is released first.
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
