/** How a link is asked for on the port that serves HTTP: by an upgrade, so that any other server says no in its own way. */
export const LINK_PATH = '/link';
/** Changes with the frames, here and in what `isGranted` looks for. */
export const LINK_PROTOCOL = 'inference-gateway-link/1';

/** The edge's request, for `host` and with the master key of the model proxy. */
export const linkRequest = (path: string, host: string, masterKey: string): string =>
  `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: Upgrade\r\nupgrade: ${LINK_PROTOCOL}\r\nauthorization: Bearer ${masterKey}\r\n\r\n`;

/** The proxy's consent. */
export const LINK_GRANTED = `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${LINK_PROTOCOL}\r\n\r\n`;

const OWN_FAULT = /^HTTP\/1\.\d 5\d\d[ \r]/;
const GRANTED = /^HTTP\/1\.1 101[ \r]/;
const UPGRADED = /\r\nupgrade:[ \t]*inference-gateway-link\/1[ \t]*\r\n/i;

/** Whether the head of an answer, with the end of its last line, grants the link. */
export const isGranted = (head: string): boolean => GRANTED.test(head) && UPGRADED.test(head);

/** Whether it says that the server can't answer now: it may speak links all the same. */
export const isFailure = (head: string): boolean => OWN_FAULT.test(head);
