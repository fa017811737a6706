import { type LookupAddress, promises as dns } from 'node:dns';
import { withTimeout } from '../with-timeout.ts';
import { isLocalhost, loopbackAddresses } from './destination.ts';

/** Returns the addresses of a host name, one or more. */
export type ResolveHost = (host: string) => Promise<LookupAddress[]>;

/** The wait for the other family after the first answer (RFC 8305, 3 recommends 50 ms; a busy process needs more). */
const otherFamilyMs = 250;

/** The errors of a DNS query after which the system's resolver can still know the name, from its hosts file. */
const unknownNameCodes = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * Returns the addresses of a host name, IPv4 first.
 *
 * It queries DNS without the system's resolver, because that occupies one of the process's few threads for the whole
 * wait. A receiver with a slow name server would then delay the lookups of all others. Names that DNS does not know go
 * to the system's resolver, which also reads the hosts file and applies search domains.
 *
 * @param timeoutMs The wait for the first answer. The second try waits twice as long.
 * @param servers The name servers, in the form of `dns.setServers`. By default, those of the system.
 * @throws Error with a `code` if the name has no address.
 */
export async function resolveHost(
  host: string,
  { timeoutMs, servers }: { timeoutMs: number; servers?: readonly string[] },
): Promise<LookupAddress[]> {
  if (isLocalhost(host)) return [toAddress(loopbackAddresses[0], 4), toAddress(loopbackAddresses[1], 6)];
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  const queries = [
    resolver.resolve4(host).then((found) => found.map((address) => toAddress(address, 4))),
    resolver.resolve6(host).then((found) => found.map((address) => toAddress(address, 6))),
  ];
  const all = Promise.allSettled(queries);
  const isFound = await Promise.any(queries).then(
    () => true,
    () => false,
  );
  if (!isFound) {
    const errors = (await all).flatMap((result) =>
      result.status === 'rejected' ? [result.reason as NodeJS.ErrnoException] : [],
    );
    const other = errors.find(({ code = '' }) => !unknownNameCodes.has(code));
    if (other !== undefined) throw other;
    return dns.lookup(host, { all: true, order: 'ipv4first' });
  }
  // Some name servers never answer for one of the families.
  await withTimeout(otherFamilyMs, all);
  resolver.cancel();
  return (await all).flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
}

const toAddress = (address: string, family: 4 | 6): LookupAddress => ({ address, family });
