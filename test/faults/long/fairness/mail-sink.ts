import { startSmtp } from '../../../support/smtp.js';
import type { MailCounts } from './messages.js';

/** Mails to this domain are accepted after this delay, just within an attempt's time. */
export const SLOW_DOMAIN = 'slow.example';
const SLOW_MS = 7_000;

/** A real mail server that reports each mail once it is complete. */
export interface MailSink {
  url: string;
  counts: MailCounts;
  close(): Promise<void>;
}

export async function startMailSink(onMail: (address: string, at: number) => void): Promise<MailSink> {
  const counts: MailCounts = {};
  const server = await startSmtp({
    onData(stream, session, done) {
      stream.resume();
      stream.on('end', () => {
        const addresses = session.envelope.rcptTo.map(({ address }) => address);
        for (const address of addresses) {
          counts[address] = (counts[address] ?? 0) + 1;
          onMail(address, performance.now());
        }
        if (addresses.some((address) => address.endsWith(`@${SLOW_DOMAIN}`))) setTimeout(done, SLOW_MS);
        else done();
      });
    },
  });
  return {
    url: `smtp://${server.address}`,
    counts,
    close: server.close,
  };
}
