import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail server on a free port of this machine. */
export interface TestSmtp {
  /** As `host:port`. */
  address: string;
  close(): Promise<void>;
}

export async function startSmtp(options: SMTPServerOptions): Promise<TestSmtp> {
  const server = new SMTPServer({ disabledCommands: ['STARTTLS', 'AUTH'], authOptional: true, ...options });
  // Senders that give up are expected.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
