import { type LookupAddress, promises as dns } from 'node:dns';
import { isLocalhost, loopbackAddresses } from './destination.ts';

/** Returns the addresses of a host name, one or more. */
export type ResolveHost = (host: string) => Promise<LookupAddress[]>;

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
 * @throws Error with a `code` if the name has no address.
 */
export async function resolveHost(host: string, timeoutMs: number): Promise<LookupAddress[]> {
  if (isLocalhost(host)) return [toAddress(loopbackAddresses[0], 4), toAddress(loopbackAddresses[1], 6)];
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 2 });
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = [
    ...(ipv4.status === 'fulfilled' ? ipv4.value.map((address) => toAddress(address, 4)) : []),
    ...(ipv6.status === 'fulfilled' ? ipv6.value.map((address) => toAddress(address, 6)) : []),
  ];
  if (found.length > 0) return found;
  const errors = [ipv4, ipv6].flatMap((result) =>
    result.status === 'rejected' ? [result.reason as NodeJS.ErrnoException] : [],
  );
  const other = errors.find(({ code = '' }) => !unknownNameCodes.has(code));
  if (other !== undefined) throw other;
  return dns.lookup(host, { all: true, order: 'ipv4first' });
}

const toAddress = (address: string, family: 4 | 6): LookupAddress => ({ address, family });
