/**
 * Host and port of a URL: `10.0.0.5:8000`. Two URLs of the same server have the same key, whatever their path, upper or lower case,
 * a dot at the end of the host, or an explicit default port.
 * @throws TypeError if the text isn't a URL
 */
export function endpointKey(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname.toLowerCase().replace(/\.$/, '')}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
