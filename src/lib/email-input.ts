import { z } from 'zod';

/** RFC 5321. */
const MAX_LENGTH = 254;

/**
 * Local parts of RFC 5322 without quotes, at a domain with at least one dot, whose last part has letters or is the ASCII form of an
 * internationalised one. `=?` would begin an encoded word of a mail header.
 */
const EMAIL =
  /^(?!\.)(?!.*\.\.)(?!.*=\?)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+(?:[A-Za-z]{2,}|[Xx][Nn]--[A-Za-z0-9-]*[A-Za-z0-9])$/;
/** The same local parts, at any host. */
const ADDRESS =
  /^(?!\.)(?!.*\.\.)(?!.*=\?)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]@[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9][A-Za-z0-9-]*)*$/;

const matching = (pattern: RegExp) => z.email({ pattern, error: 'must be an email address' }).max(MAX_LENGTH);

/** An email address at a domain with at least one dot. Whoever can sign up with one also gets mails there. */
export const emailInput = matching(EMAIL);

/** An email address at any host, such as `admin@localhost`: what settings may name, and so what an administrator logs in with. */
export const addressInput = matching(ADDRESS);
