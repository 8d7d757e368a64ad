import { createTransport } from 'nodemailer';

const MARGIN_MS = 1_000;

/** A transport to the operator's mail server. The caller aborts each attempt by a signal after `attemptMs`. */
export function createMailTransport(smtpUrl: string, attemptMs: number): ReturnType<typeof createTransport> {
  // Longer than the attempt, so that the caller's signal always ends it and gives the reason.
  const libraryMs = attemptMs + MARGIN_MS;
  return createTransport({
    url: smtpUrl,
    dnsTimeout: libraryMs,
    connectionTimeout: libraryMs,
    greetingTimeout: libraryMs,
    socketTimeout: libraryMs,
    // Files and URLs named in a message are never read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
