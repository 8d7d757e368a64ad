import { z } from 'zod';

/** RFC 5321. */
const MAX_LENGTH = 254;

/** Local parts of RFC 5322 without quotes, at a domain with at least one dot. `=?` would begin an encoded word of a mail header. */
const EMAIL =
  /^(?!\.)(?!.*\.\.)(?!.*=\?)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;

/** An email address. Whoever can sign up with one also gets mails there. */
export const emailInput = z.email({ pattern: EMAIL, error: 'must be an email address' }).max(MAX_LENGTH);
