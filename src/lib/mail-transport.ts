import { createTransport } from 'nodemailer';

const MARGIN_MS = 1_000;

/** A way to the operator's mail server for mails whose sending ends by a signal after `attemptMs`. */
export function createMailTransport(smtpUrl: string, attemptMs: number): ReturnType<typeof createTransport> {
  // Behind the end of the attempt, so that it is always the attempt's own that ends it and says why.
  const libraryMs = attemptMs + MARGIN_MS;
  return createTransport({
    url: smtpUrl,
    dnsTimeout: libraryMs,
    connectionTimeout: libraryMs,
    greetingTimeout: libraryMs,
    socketTimeout: libraryMs,
    // What a message names is never read from a disk or fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
