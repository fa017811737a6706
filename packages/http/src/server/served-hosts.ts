/** Matches the names and addresses of this machine. */
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns a test of the host name of requests, or undefined if every host is served.
 *
 * - `publicUrl` with the host of another machine: its host is served.
 * - `servedHosts`: these hosts are served in addition.
 * - The names of this machine are always served: the page of an attacker cannot have them.
 *
 * @param servedHosts names and addresses without ports, separated by commas.
 */
export function createHostCheck(options: {
  publicUrl: string | undefined;
  servedHosts: string;
}): ((hostname: string) => boolean) | undefined {
  const named = options.servedHosts.split(',').flatMap((name) => name.trim().toLowerCase() || []);
  const hosts = new Set(named);
  if (options.publicUrl !== undefined) hosts.add(new URL(options.publicUrl).hostname);
  if ([...hosts].every((host) => loopback.test(host))) return undefined;
  return (hostname) => hosts.has(hostname.toLowerCase()) || loopback.test(hostname.toLowerCase());
}
