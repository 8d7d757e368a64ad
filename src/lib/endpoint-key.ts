/**
 * Host and port of a URL, as one text: `10.0.0.5:8000`. Two URLs with the same one lead to the same server, whatever their
 * paths, the case of their names, a dot at the end, and whether they spell out the usual port.
 * @throws TypeError for what isn't a URL
 */
export function endpointKey(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname.toLowerCase().replace(/\.$/, '')}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
