import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { BodyBounds } from '../inference/memory/body-budget.js';
import type { SilenceBounds } from '../inference/relay/relay-answer.js';
import { CONNECTION_BOUNDS, type RequestBounds } from '../lib/cut-connections.js';
import { FairQueue } from '../lib/fair/fair-queue.js';
import { MAX_HEADER_BYTES } from '../lib/http-limits.js';
import type { Logger } from '../lib/logger.js';
import { isLoopback, networkOf } from '../lib/network.js';
import { OUT_OF_FILES, QUIET_MS } from '../lib/open-files.js';
import { createOutageLog } from '../lib/outage-log.js';

/** What one client, or all of them together, may use of the edge (requirement T25). */
export interface ResourceLimits extends RequestBounds, BodyBounds, SilenceBounds {
  /** While the edge drains, a connection stays open so long after its last answer: the next request may be under way. */
  restMs: number;
  /** For the platform to answer a WebSocket upgrade. */
  upgradeTimeoutMs: number;
  maxHeaderBytes: number;
  maxHeaders: number;
  /** Connections of all clients together: `socketsWithin` the limit of open files. */
  sockets: number;
  /** Connections of one address (IPv6: of one /64). Loopback and trusted proxies carry many clients: not counted. */
  socketsPerAddress: number;
  countLoopback: boolean;
  /**
   * Connections to the platform; one client's requests that run at once (never more than half as many as there are
   * connections left), and those in progress including its queue.
   */
  platformConnections: number;
  passedAtOncePerClient: number;
  passedPerClient: number;
  /** Of one client: pipelined requests that wait for an earlier one on their connection. */
  pipelinedPerClient: number;
  /** Bytes of bodies buffered on their way to the platform. Answers have a buffer of their own: their readers decide how long they stay. */
  requestBufferBytes: number;
  /** Memory for messages to widgets until their widget is known: whoever sends them takes none of that for calls. */
  widgetBodies: BodyBounds;
  /** Bytes of the platform's answers buffered for their readers: in total, per answer. */
  responseBufferBytes: number;
  responseBufferBytesPerAnswer: number;
  /** Answers without room in the buffer, in total and per client. Each holds a connection, so they must be fewer than those. */
  waitingReaders: number;
  waitingReadersPerClient: number;
  /** The least rate of an upload, and how far it may fall behind. */
  uploadBytesPerSecond: number;
  uploadStallMs: number;
  /**
   * The least rate at which a large whole answer is read. It may fall behind by `stalledReaderMs`, within which all of it has to be
   * read while the memory for such answers is scarce.
   */
  readBytesPerSecond: number;
}

const MIB = 2 ** 20;

export const RESOURCE_LIMITS: Readonly<ResourceLimits> = {
  ...CONNECTION_BOUNDS,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 58_000,
  keepAliveMs: 72_000,
  restMs: 2_000,
  upgradeTimeoutMs: 10_000,
  maxHeaderBytes: MAX_HEADER_BYTES,
  maxHeaders: 200,
  sockets: Number.POSITIVE_INFINITY,
  socketsPerAddress: 4_096,
  countLoopback: false,
  platformConnections: 144,
  passedAtOncePerClient: 48,
  passedPerClient: 512,
  pipelinedPerClient: 512,
  requestBufferBytes: 32 * MIB,
  widgetBodies: { smallBodyBytes: 16 * MIB, largeBodyBytes: 32 * MIB, answerBytes: 0 },
  responseBufferBytes: 64 * MIB,
  responseBufferBytesPerAnswer: 8 * MIB,
  waitingReaders: 64,
  waitingReadersPerClient: 24,
  smallBodyBytes: 64 * MIB,
  largeBodyBytes: 192 * MIB,
  answerBytes: 192 * MIB,
  uploadBytesPerSecond: 4 * 1024,
  uploadStallMs: 10_000,
  readBytesPerSecond: 16 * 1024,
  firstCommentMs: 3_000,
  nextCommentMs: 10_000,
};

/**
 * What an edge has open besides connections of clients, to the upstream and to the platform: to the database and Redis, its
 * spool, its ports and what Node needs. About 40 at rest.
 */
const OWN_FILES = 112;

/**
 * How many connections of clients a limit of open files leaves room for. Each may need a second one: for its call, to a node or
 * model proxy; for its WebSocket, to the platform. All other requests share `platformConnections`. A limit that is too low for that
 * much leaves clients a quarter.
 */
export function socketsWithin(openFiles: number): number {
  const reserved = RESOURCE_LIMITS.platformConnections + OWN_FILES;
  return Math.floor(Math.max((openFiles - reserved) / 2, openFiles / 4));
}

/**
 * Closes connections of an address beyond its share as soon as they are accepted: no answer, since one that isn't
 * read would cost what the cap is to save. `exempt` names the peers that carry many clients. Beyond `sockets`, the log says
 * that all new ones are closed.
 */
export function capSockets(
  server: Server,
  { sockets, socketsPerAddress, countLoopback }: ResourceLimits,
  log: Logger,
  exempt: (address: string) => boolean,
): void {
  // Otherwise node:cluster passes them to the next edge, and without end once all edges are full.
  Object.assign(server, { maxConnections: sockets, dropMaxConnection: true });
  const refusals = createOutageLog(log, 'the edge', QUIET_MS, OUT_OF_FILES);
  server.on('drop', () => refusals.failed(undefined));
  const shares = new FairQueue({ perOwner: socketsPerAddress });
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || exempt(remoteAddress)) return;
    if (!countLoopback && isLoopback(remoteAddress)) return;
    const leave = shares.tryEnter(clientOf(remoteAddress));
    if (leave) socket.once('close', leave);
    else socket.resetAndDestroy();
  });
}

/** Whether a peer's address lies in one of the CIDRs of `TRUST_PROXY`. */
export function trustedPeer(cidrs: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', prefix] = cidr.split('/', 2);
    const family = isIPv6(network) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(prefix), family);
  }
  // A mapped address (::ffff:10.0.0.1) is found among IPv4 rules as well.
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** One IPv4 address, or the /64 that one subscriber has. */
export function clientOf(address: string): string {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return isIPv4(plain) ? plain : networkOf(address);
}
