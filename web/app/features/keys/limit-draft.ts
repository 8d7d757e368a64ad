import { leaveDraft } from '../../ui/draft';
import { baseDraft } from '../../ui/edit-base';

type LimitField = 'dailyLimitUsd' | 'monthlyLimitUsd';

/** The name of the draft of a key's limit. */
export const limitDraft = (field: LimitField, keyId: string): string => `${field} of ${keyId}`;

/** Makes the page of a key open with its monthly limit being edited. */
export function openLimit(keyId: string): void {
  const draft = limitDraft('monthlyLimitUsd', keyId);
  leaveDraft(draft, '');
  // The base of the edit, so that a limit set elsewhere in the meantime isn't replaced unseen.
  leaveDraft(baseDraft(draft), '');
}
