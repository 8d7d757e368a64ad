import { leaveDraft } from '../../ui/draft';

type LimitField = 'dailyLimitUsd' | 'monthlyLimitUsd';

/** Names the draft of a limit of a key. */
export const limitDraft = (field: LimitField, keyId: string): string => `${field} of ${keyId}`;

/** The page of the key opens with the field of the monthly limit ready to type in. */
export const openLimit = (keyId: string): void => leaveDraft(limitDraft('monthlyLimitUsd', keyId), '');
