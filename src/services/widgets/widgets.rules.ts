import { randomBytes } from 'node:crypto';

/** Widgets that one account may have at a time. */
export const MAX_WIDGETS = 50;

const PREFIX = 'wgt_pr_';
const RANDOM_BYTES = 18;

/** A new public key: `wgt_pr_` and 24 URL-safe base64 characters. */
export const newPublicKey = (): string => PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');

const FORM = /^wgt_pr_[A-Za-z0-9_-]{24}$/;

/** Whether a text has the form of a public key; anything else is refused without a look-up. */
export const hasPublicKeyForm = (text: string): boolean => FORM.test(text);
