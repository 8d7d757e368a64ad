import { areDraftsStored } from './draft';

const FIELDS = 'input:not([type="checkbox"], [type="radio"], [type="hidden"]), textarea';

/** Whether a reload would lose typed text: a draft that could not be stored, or a field without a draft. */
export const wouldLoseText = (): boolean =>
  !areDraftsStored() ||
  [...document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(FIELDS)].some(
    ({ value }) => value !== '',
  );
