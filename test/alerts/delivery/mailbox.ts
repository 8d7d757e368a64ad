import { createServer, type Server, type Socket } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { startSmtp } from '../../support/smtp.js';

export interface Mail {
  from: string;
  to: string[];
  /** As it went over the wire. */
  raw: string;
  parsed: Email;
}

/** A reply to the recipient, or to the whole message. */
export interface Refusal {
  at: 'rcpt' | 'data';
  code: number;
  /** Behind the code. */
  text?: string;
  /** Happens before the reply. */
  meanwhile?: () => Promise<unknown>;
}

/** A real mail server that keeps what it gets. */
export interface Mailbox {
  url: string;
  mails: Mail[];
  /** Connections that were made. */
  connections(): number;
  /** Replies instead of taking the next mails, oldest first. */
  refuse(...replies: Refusal[]): void;
  close(): Promise<void>;
}

const error = (code: number, text = 'not now 10.1.2.3'): Error =>
  Object.assign(new Error(text), { responseCode: code });

export async function startMailbox(login?: { user: string; pass: string }): Promise<Mailbox> {
  const mails: Mail[] = [];
  const refusals: Refusal[] = [];
  const refuse = async ({ code, text, meanwhile }: Refusal, done: (reply: Error) => void): Promise<void> => {
    await meanwhile?.();
    done(error(code, text));
  };
  let connections = 0;
  const server = await startSmtp({
    disabledCommands: login ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
    allowInsecureAuth: true,
    authOptional: !login,
    onConnect(_session, done) {
      connections++;
      done();
    },
    onAuth({ username, password }, _session, done) {
      if (username !== login?.user || password !== login?.pass) done(error(535));
      else done(null, { user: username });
    },
    onRcptTo(_address, _session, done) {
      const [first] = refusals;
      if (first?.at !== 'rcpt') return done();
      refusals.shift();
      void refuse(first, done);
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const first = refusals.shift();
        if (first) return void refuse(first, done);
        const raw = Buffer.concat(chunks);
        const { mailFrom, rcptTo } = session.envelope;
        void PostalMime.parse(raw).then((parsed) => {
          const from = mailFrom ? mailFrom.address : '';
          mails.push({ from, to: rcptTo.map(({ address }) => address), raw: raw.toString(), parsed });
          done();
        });
      });
    },
  });
  const credentials = login ? `${login.user}:${encodeURIComponent(login.pass)}@` : '';
  return {
    url: `smtp://${credentials}${server.address}`,
    mails,
    connections: () => connections,
    refuse: (...replies) => void refusals.push(...replies),
    close: server.close,
  };
}

/** A mail server that takes a connection and says nothing. */
export async function startSilentServer(): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `smtp://127.0.0.1:${port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A real mail server that answers emails to one address only on request. */
export interface HeldMailbox {
  url: string;
  /** Mails that wait for their answer. */
  held(): number;
  release(): void;
  close(): Promise<void>;
}

export async function startHeldMailbox(address: string): Promise<HeldMailbox> {
  const waiting = new Set<() => void>();
  let released = false;
  const server = await startSmtp({
    onData(stream, session, done) {
      stream.resume();
      stream.on('end', () => {
        const isHeld = session.envelope.rcptTo.some((to) => to.address === address);
        if (isHeld && !released) waiting.add(() => done());
        else done();
      });
    },
  });
  return {
    url: `smtp://${server.address}`,
    held: () => waiting.size,
    release() {
      released = true;
      for (const answer of waiting) answer();
      waiting.clear();
    },
    close: server.close,
  };
}
