import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalNetwork, compileNetworks, isInNetworks } from '../credential/networks.ts';
import { SetupError } from '../errors.ts';

/** The operator's rules for the receivers of deliveries. */
export interface DestinationRules {
  /** Whether `http:` URLs are allowed beside `https:` URLs. */
  readonly allowHttp: boolean;
  /** Networks in CIDR notation that are allowed although they are not public, such as `10.1.0.0/16`. */
  readonly allowNetworks: readonly string[];
}

/**
 * The reasons to refuse a destination: `invalid_url`, `scheme_not_allowed`, `user_info_not_allowed`,
 * `host_not_allowed`, `port_not_allowed`, `address_not_allowed`.
 */
export type DestinationErrorCode =
  | 'invalid_url'
  | 'scheme_not_allowed'
  | 'user_info_not_allowed'
  | 'host_not_allowed'
  | 'port_not_allowed'
  | 'address_not_allowed';

/** A destination that the rules refuse. The message is the rest of a sentence that begins with the name of the URL. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError';
  readonly code: DestinationErrorCode;

  constructor(code: DestinationErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The checks of {@link DestinationRules}. */
export interface DestinationGuard {
  /**
   * Parses the URL of a receiver and checks all rules that need no DNS: scheme, user info, host, port, and an address in
   * place of a host name. The URL parser first turns decimal, octal, hexadecimal and short forms of an IPv4 address into
   * the usual form (URL Standard, 3.5). Use the returned URL, not the text.
   *
   * @throws DestinationError
   */
  checkUrl(url: string): URL;
  /** Returns whether a connection to the IPv4 or IPv6 address is allowed. */
  isAllowedAddress(address: string): boolean;
}

/**
 * The ports that browsers refuse (Fetch Standard, 2.9 "Port blocking"). The text of a request is under the control of
 * the endpoint's author. Servers of line-based protocols, such as SMTP and IRC, could read commands from it.
 */
const blockedPorts = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 ' +
    '135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 ' +
    '995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
);

/** The addresses of `localhost` (RFC 6761, 6.3). */
export const loopbackAddresses = ['127.0.0.1', '::1'] as const;

/**
 * Returns the checks for the rules.
 *
 * An address is allowed if it is in one of the allowed networks or is global unicast. A global unicast address is in no
 * special range of `ipaddr.js`. For IPv6, it is also in 2000::/3 (RFC 4291, 2.4; IANA IPv6 Global Unicast Address
 * Assignments). For an
 * IPv4-mapped address (RFC 4291, 2.5.5.2) and an address with the well-known NAT64 prefix (RFC 6052, 2.1), the embedded
 * IPv4 address decides. All other addresses with an embedded IPv4 address, such as 6to4 and Teredo, are refused, as are
 * addresses with a zone.
 *
 * @throws SetupError for an allowed network that is not in CIDR notation.
 */
export function createDestinationGuard({ allowHttp, allowNetworks }: DestinationRules): DestinationGuard {
  const invalid = allowNetworks.find((network) => canonicalNetwork(network) === undefined);
  if (invalid !== undefined) {
    throw new SetupError(`An allowed network must be in CIDR notation, such as 10.1.0.0/16, not ${invalid}`);
  }
  const allowed = compileNetworks(allowNetworks);

  const isAllowedAddress = (address: string) => {
    if (isIP(address) === 0 || address.includes('%')) return false;
    const parsed = withoutPrefix(ipaddr.parse(address));
    if (allowed !== undefined && isInNetworks(allowed, parsed.toString())) return true;
    return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || isGlobal(parsed));
  };

  return {
    isAllowedAddress,

    checkUrl: (text) => {
      if (!URL.canParse(text)) throw new DestinationError('invalid_url', 'must be an absolute URL');
      const url = new URL(text);
      if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
        const schemes = allowHttp ? 'https or http' : 'https';
        throw new DestinationError('scheme_not_allowed', `must have the scheme ${schemes}`);
      }
      if (url.username !== '' || url.password !== '') {
        throw new DestinationError('user_info_not_allowed', 'must not have a user name or password');
      }
      if (blockedPorts.has(url.port)) {
        throw new DestinationError(
          'port_not_allowed',
          `must not have the port ${url.port}, which belongs to another protocol`,
        );
      }
      const host = hostOf(url);
      // The name in a TLS handshake has no trailing dot (RFC 6066, 3).
      if (host.endsWith('.'))
        throw new DestinationError('host_not_allowed', 'must not end its host with a dot');
      const addresses = isLocalhost(host) ? loopbackAddresses : [host];
      if ((isLocalhost(host) || isIP(host) !== 0) && !addresses.some(isAllowedAddress)) {
        throw new DestinationError('address_not_allowed', 'must not have a private or reserved address');
      }
      return url;
    },
  };
}

/** Returns the host of a URL: a name, an IPv4 address, or an IPv6 address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Returns whether a host name always has the {@link loopbackAddresses} (RFC 6761, 6.3). */
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

type Address = ReturnType<typeof ipaddr.parse>;

const wellKnownNat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Returns the embedded IPv4 address of an IPv4-mapped or NAT64 address, and any other address unchanged. */
function withoutPrefix(address: Address): Address {
  if (address.kind() === 'ipv4') return address;
  const isNat64 = address.match(wellKnownNat64);
  const isMapped = address.range() === 'ipv4Mapped';
  return isNat64 || isMapped ? ipaddr.fromByteArray(address.toByteArray().slice(-4)) : address;
}

const isGlobal = (address: Address) => address.match(globalUnicast);
