import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { MailCounts } from './messages.js';

/** Mails to this domain are taken only so much later: just within an attempt's time. */
export const SLOW_DOMAIN = 'slow.example';
const SLOW_MS = 7_000;

/** A real mail server that tells of each mail once it has it whole. */
export interface MailSink {
  url: string;
  counts: MailCounts;
  close(): Promise<void>;
}

export async function startMailSink(onMail: (address: string, at: number) => void): Promise<MailSink> {
  const counts: MailCounts = {};
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
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
  // Senders that give up are part of the load.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    counts,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
