import { z } from 'zod';

/** RFC 5321. */
const MAX_LENGTH = 254;

/**
 * Unquoted local part of RFC 5322, at a domain with at least one dot. The last label has only letters, or is the ASCII form of an
 * internationalised one. `=?` is excluded: it would begin an encoded word of a mail header.
 */
const EMAIL =
  /^(?!\.)(?!.*\.\.)(?!.*=\?)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+(?:[A-Za-z]{2,}|[Xx][Nn]--[A-Za-z0-9-]*[A-Za-z0-9])$/;
/** The same local part, at any host. */
const ADDRESS =
  /^(?!\.)(?!.*\.\.)(?!.*=\?)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]@[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9][A-Za-z0-9-]*)*$/;

const matching = (pattern: RegExp) => z.email({ pattern, error: 'must be an email address' }).max(MAX_LENGTH);

/** An email address at a domain with at least one dot: required at sign-up, so that mail can be delivered. */
export const emailInput = matching(EMAIL);

/** An email address at any host, such as `admin@localhost`: allowed in settings, and so for logging in. */
export const addressInput = matching(ADDRESS);
