import { BlockList, isIP } from 'node:net';
import { groupsOf } from '../address-block.ts';

/** The most networks that a key can be bound to. */
export const maxNetworks = 20;

/** The networks of a key, compiled for checks. Node matches IPv4 addresses against `::/0`, so the versions are apart. */
export type CompiledNetworks = Readonly<Record<'ipv4' | 'ipv6', BlockList>>;

/** A network: its address as a number, and the length of its prefix in bits. */
interface Network {
  readonly version: 4 | 6;
  readonly bits: bigint;
  readonly prefix: number;
}

const shape = /^([0-9a-fA-F:.]+)(?:\/(0|[1-9][0-9]{0,2}))?$/;

/**
 * Returns the canonical form of a network in CIDR notation (RFC 4632, 3.1; RFC 4291, 2.3) or of a single address. The
 * bits after the prefix are set to zero, an IPv6 address is written as RFC 5952 recommends, and an IPv4-mapped IPv6
 * address becomes IPv4. Returns `undefined` for any other text.
 */
export function canonicalNetwork(text: string): string | undefined {
  const network = parseNetwork(text);
  if (network === undefined) return undefined;
  const isSingle = network.prefix === widthOf(network);
  return isSingle ? addressOf(network) : `${addressOf(network)}/${network.prefix}`;
}

/** Returns the set of networks to check addresses against; `undefined` for no networks, which means every address. */
export function compileNetworks(networks: readonly string[]): CompiledNetworks | undefined {
  if (networks.length === 0) return undefined;
  const compiled = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of networks) {
    const network = parseNetwork(text);
    // A network that cannot be read matches no address, so that the key stays restricted.
    if (network === undefined) continue;
    const family = network.version === 4 ? 'ipv4' : 'ipv6';
    compiled[family].addSubnet(addressOf(network), network.prefix, family);
  }
  return compiled;
}

/** Returns whether an IPv4 or IPv6 address without a zone is in one of the networks. Any other text is not. */
export function isInNetworks(networks: CompiledNetworks, address: string): boolean {
  const version = isIP(address);
  const family = version === 4 ? 'ipv4' : 'ipv6';
  return version !== 0 && networks[family].check(address, family);
}

function parseNetwork(text: string): Network | undefined {
  const [, address = '', length] = shape.exec(text) ?? [];
  const version = isIP(address);
  if (version !== 4 && version !== 6) return undefined;
  const width = widthOf({ version });
  const prefix = length === undefined ? width : Number(length);
  if (prefix > width) return undefined;
  const sent = version === 4 ? bitsOf(address.split('.'), 8, 10) : bitsOf(groupsOf(address), 16, 16);
  const bits = (sent >> BigInt(width - prefix)) << BigInt(width - prefix);
  const isMapped = version === 6 && prefix >= 96 && bits >> 32n === 0xffffn;
  return isMapped
    ? { version: 4, bits: bits & 0xffff_ffffn, prefix: prefix - 96 }
    : { version, bits, prefix };
}

const widthOf = ({ version }: Pick<Network, 'version'>) => (version === 4 ? 32 : 128);

function bitsOf(parts: readonly string[], partBits: number, radix: number): bigint {
  return parts.reduce((bits, part) => (bits << BigInt(partBits)) | BigInt(Number.parseInt(part, radix)), 0n);
}

function addressOf({ version, bits }: Network): string {
  if (version === 4) return partsOf(bits, 4, 8, 10).join('.');
  // The URL parser compresses the address (URL Standard, 3.5).
  return new URL(`http://[${partsOf(bits, 8, 16, 16).join(':')}]`).hostname.slice(1, -1);
}

function partsOf(bits: bigint, count: number, partBits: number, radix: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    BigInt.asUintN(partBits, bits >> BigInt(partBits * (count - 1 - i))).toString(radix),
  );
}
