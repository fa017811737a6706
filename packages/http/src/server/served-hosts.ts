/** Matches the names and addresses of this machine. */
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns a test of the host name of requests, or undefined if every host is served.
 *
 * - `publicUrl` with the host of another machine: its host is served.
 * - `servedHosts`: these hosts are served in addition.
 * - The names of this machine are always served: the page of an attacker cannot have them.
 * - A final dot does not count: it only makes a DNS name absolute (RFC 1034, 3.1).
 *
 * @param servedHosts names and addresses without ports, separated by commas.
 */
export function createHostCheck(options: {
  publicUrl: string | undefined;
  servedHosts: string;
}): ((hostname: string) => boolean) | undefined {
  const named = options.servedHosts.split(',').flatMap((name) => name.trim() || []);
  if (options.publicUrl !== undefined) named.push(new URL(options.publicUrl).hostname);
  const hosts = new Set(named.map(relativeName));
  if ([...hosts].every((host) => loopback.test(host))) return undefined;
  return (hostname) => {
    const host = relativeName(hostname);
    return hosts.has(host) || loopback.test(host);
  };
}

/** Returns a host name in lower case, without a final dot. */
function relativeName(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}
