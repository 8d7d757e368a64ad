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
  /** How long the platform may take to answer a WebSocket upgrade. */
  upgradeTimeoutMs: number;
  maxHeaderBytes: number;
  maxHeaders: number;
  /** Connections of all clients together; `socketsWithin` derives it from the limit of open files. */
  sockets: number;
  /** Connections of one address (IPv6: one /64). Loopback and trusted proxies carry many clients and are not counted. */
  socketsPerAddress: number;
  countLoopback: boolean;
  platformConnections: number;
  /** One client's requests that run at once; never more than half of the free connections. */
  passedAtOncePerClient: number;
  /** One client's requests that run or wait. */
  passedPerClient: number;
  /** One client's pipelined requests that wait for an earlier one on their connection. */
  pipelinedPerClient: number;
  /** Bytes of request bodies buffered for the platform. Answers have a separate buffer, since their readers decide how long they stay. */
  requestBufferBytes: number;
  /** Memory for messages to widgets whose widget isn't known yet, separate from the memory for calls. */
  widgetBodies: BodyBounds;
  /** Bytes of the platform's answers buffered for their readers: in total and per answer. */
  responseBufferBytes: number;
  responseBufferBytesPerAnswer: number;
  /** Answers without room in the buffer, in total and per client. Each holds a connection, so keep it below `platformConnections`. */
  waitingReaders: number;
  waitingReadersPerClient: number;
  /** Minimum rate of an upload, and how far it may fall behind. */
  uploadBytesPerSecond: number;
  uploadStallMs: number;
  /**
   * Minimum rate at which a client must read a large whole answer. It may fall behind by `stalledReaderMs`. While the memory for such
   * answers is scarce, all of the answer must be read within that time.
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
 * Files that an edge has open besides connections of clients, to the upstream and to the platform: database, Redis, spool, ports
 * and Node itself. About 40 at rest.
 */
const OWN_FILES = 112;

/**
 * How many client connections a limit of open files leaves room for. Each may need a second connection: to a node or model proxy
 * for a call, to the platform for a WebSocket. All other requests share `platformConnections`. If the limit is too low for that,
 * clients get a quarter of it.
 */
export function socketsWithin(openFiles: number): number {
  const reserved = RESOURCE_LIMITS.platformConnections + OWN_FILES;
  return Math.floor(Math.max((openFiles - reserved) / 2, openFiles / 4));
}

/**
 * Closes connections of an address beyond its share as soon as they are accepted, without a response, which would cost what the
 * limit is to save. `exempt` tells which peers carry many clients. Beyond `sockets`, all new connections are closed and this is logged.
 */
export function capSockets(
  server: Server,
  { sockets, socketsPerAddress, countLoopback }: ResourceLimits,
  log: Logger,
  exempt: (address: string) => boolean,
): void {
  // Otherwise node:cluster passes dropped connections to the next edge, endlessly once all edges are full.
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

/** The client that an address belongs to: an IPv4 address, or the /64 of an IPv6 subscriber. */
export function clientOf(address: string): string {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return isIPv4(plain) ? plain : networkOf(address);
}
