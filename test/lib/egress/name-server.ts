import { createSocket } from 'node:dgram';

/** A name server's reply: addresses, only an alias, an error for an unknown name, or no reply. */
export type Reply = readonly string[] | { alias: string } | 'no such name' | 'silence';

/** A name server of the test, over UDP. */
export interface NameServer {
  /** Address and port in the format of resolvers. */
  address: string;
  /** Names and types of the queries, oldest first. */
  asked: string[];
  close(): Promise<void>;
}

const TYPES: Record<number, 'A' | 'AAAA'> = { 1: 'A', 28: 'AAAA' };
const HEADER_BYTES = 12;
const OK = 0x8180;
const NO_SUCH_NAME = 0x8183;

/** `reply` is called once per query. Its IPv6 addresses have eight groups. */
export async function startNameServer(
  reply: (name: string, type: 'A' | 'AAAA') => Reply,
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, client) => {
    const { name, end } = readName(query);
    const type = TYPES[query.readUInt16BE(end)];
    const question = query.subarray(HEADER_BYTES, end + 4);
    asked.push(`${name} ${type}`);
    const answer = type ? reply(name, type) : [];
    if (answer === 'silence') return;
    const records =
      answer === 'no such name' ? [] : 'alias' in answer ? [toAlias(answer.alias)] : answer.map(toAddress);
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt16BE(query.readUInt16BE(0), 0);
    header.writeUInt16BE(answer === 'no such name' ? NO_SUCH_NAME : OK, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([header, question, ...records]), client.port, client.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function toAddress(address: string): Buffer {
  const v6 = address.includes(':');
  const data = v6
    ? Buffer.from(
        address
          .split(':')
          .map((group) => group.padStart(4, '0'))
          .join(''),
        'hex',
      )
    : Buffer.from(address.split('.').map(Number));
  return toRecord(v6 ? 28 : 1, data);
}

function toAlias(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return toRecord(5, Buffer.concat([...labels, Buffer.of(0)]));
}

/** A record that points to the name of the query, with a time to live of 0. */
function toRecord(type: number, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);
}
