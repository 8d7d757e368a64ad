import { leaveDraft } from '../../ui/draft';
import { baseDraft } from '../../ui/edit-base';

type LimitField = 'dailyLimitUsd' | 'monthlyLimitUsd';

/** Names the draft of a limit of a key. */
export const limitDraft = (field: LimitField, keyId: string): string => `${field} of ${keyId}`;

/** Makes the page of a key without a monthly limit open with that limit being edited. */
export function openLimit(keyId: string): void {
  const draft = limitDraft('monthlyLimitUsd', keyId);
  leaveDraft(draft, '');
  // What the edit is based on: a limit that is set elsewhere in the meantime isn't replaced unseen.
  leaveDraft(baseDraft(draft), '');
}
