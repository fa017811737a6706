import { isIPv6 } from 'node:net';

/**
 * Returns the network that one client controls: an IPv4 address itself, or the /64 block of an IPv6 address (RFC 6177).
 * A limit by address must count the block, because a client can use every address in it.
 */
export function addressBlock(address: string): string {
  if (!isIPv6(address)) return address;
  return `${groupsOf(address).slice(0, 4).join(':')}::/64`;
}

/** Returns the 8 groups of an IPv6 address, in hexadecimal without leading zeros. A zone is left out. */
export function groupsOf(address: string): string[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right];
}
