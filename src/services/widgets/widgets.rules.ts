import { randomBytes } from 'node:crypto';

/** Maximum number of widgets per account. */
export const MAX_WIDGETS = 50;

const PREFIX = 'wgt_pr_';
const RANDOM_BYTES = 18;

/** A new public key: `wgt_pr_` and 24 URL-safe base64 characters. */
export const newPublicKey = (): string => PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');

const FORM = /^wgt_pr_[A-Za-z0-9_-]{24}$/;

/** Whether a text looks like a public key; others are refused without a look-up. */
export const hasPublicKeyForm = (text: string): boolean => FORM.test(text);
