import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** A mail server on a free port of this machine that keeps what it is sent. */
export async function startMailbox() {
  const mails = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    onData: (stream, _session, done) => {
      const parts = [];
      stream.on('data', (part) => parts.push(part));
      stream.on('end', async () => {
        mails.push(await PostalMime.parse(Buffer.concat(parts)));
        done();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${server.server.address().port}`,
    mails,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
