import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SetupError } from '../errors.ts';
import { createDestinationGuard, DestinationError, type DestinationRules, hostOf } from './destination.ts';

/** Returns `undefined` for an allowed URL, else the code of the error. @throws any other error. */
function refusalOf(url: string, rules: Partial<DestinationRules> = {}): string | undefined {
  try {
    createDestinationGuard({ allowHttp: false, allowNetworks: [], ...rules }).checkUrl(url);
    return undefined;
  } catch (error) {
    if (error instanceof DestinationError) return error.code;
    throw error;
  }
}

describe('the URL of a receiver', () => {
  test.each([
    'https://example.com/hook',
    'https://example.com:8443/hook?a=b#c',
    'https://EXAMPLE.com',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/',
    'https://1.1.1.1/',
    'https://1.1.257/',
    'https://[2606:4700:4700::1111]/',
    'https://[::ffff:1.1.1.1]/',
    'https://[64:ff9b::1.1.1.1]/',
    'https://127.0.0.1.nip.io/',
    'https://localhost.example/',
  ])('%s is allowed', (url) => {
    expect(refusalOf(url)).toBeUndefined();
  });

  // Names that resolve to such addresses are refused at the connection.
  test.each([
    // Loopback in all forms that URL parsers know.
    'https://127.0.0.1/',
    'https://127.1/',
    'https://127.0.1/',
    'https://127.255.255.254/',
    'https://2130706433/',
    'https://017700000001/',
    'https://0177.0.0.1/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0x7F.1/',
    'https://0177.0x0.1/',
    'https://127.0.0.1:8443/',
    'https://127.0.0.1./',
    'https://127.1./',
    'https://1２7.0.0.1/',
    'https://127。0。0。1/',
    'https://①②⑦.⓪.⓪.①/',
    'https://%31%32%37.0.0.1/',
    'https://127.0.0.1\\@example.com/',
    'https:\\\\127.0.0.1\\',
    'https:127.0.0.1',
    'https:///127.0.0.1/',
    'ht\ntps://127.0\t.0.1/',
    '  https://127.0.0.1/  ',
    'https://localhost/',
    'https://LOCALHOST:3000/',
    'https://ｌｏｃａｌｈｏｓｔ/',
    'https://receiver.localhost/',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[0000::0001]/',
    // This network, private, shared, link-local with cloud metadata, and special networks (RFC 6890).
    'https://0/',
    'https://0.0.0.0/',
    'https://0.1.2.3/',
    'https://10.0.0.1/',
    'https://10.255.255.255/',
    'https://167772161/',
    'https://012.0.0.1/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.0.1/',
    'https://192.168.1/',
    'https://0xc0a80001/',
    'https://100.64.0.1/',
    'https://100.127.255.255/',
    'https://169.254.169.254/latest/meta-data/',
    'https://2852039166/',
    'https://0xa9fea9fe/',
    'https://0251.0376.0251.0376/',
    'https://192.0.0.8/',
    'https://192.0.2.1/',
    'https://192.88.99.1/',
    'https://192.175.48.1/',
    'https://198.18.0.1/',
    'https://198.19.255.255/',
    'https://198.51.100.1/',
    'https://203.0.113.1/',
    'https://224.0.0.1/',
    'https://239.255.255.250/',
    'https://240.0.0.1/',
    'https://255.255.255.255/',
    // IPv6: unspecified, IPv4 inside, local, documentation, multicast, and what is not yet assigned.
    'https://[::]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::FFFF:10.0.0.1]/',
    'https://[0:0:0:0:0:ffff:c0a8:1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://[::ffff:0:127.0.0.1]/',
    'https://[64:ff9b::127.0.0.1]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[64:ff9b:1::1.1.1.1]/',
    'https://[2002:7f00:1::]/',
    'https://[2002:0101:0101::1]/',
    'https://[2001::1]/',
    'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
    'https://[fe80::1]/',
    'https://[fe80::a9fe:a9fe]/',
    'https://[fec0::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
    'https://[100::1]/',
    'https://[2001:db8::1]/',
    'https://[2001:2::1]/',
    'https://[2001:10::1]/',
    'https://[2001:20::1]/',
    'https://[3fff::1]/',
    'https://[5f00::1]/',
    'https://[4000::1]/',
    'https://[200::1]/',
    'https://[fe00::1]/',
  ])('%j is refused because of its address', (url) => {
    expect(refusalOf(url)).toBe('address_not_allowed');
  });

  test.each([
    ['', 'invalid_url'],
    ['example.com/hook', 'invalid_url'],
    ['//example.com', 'invalid_url'],
    ['https://', 'invalid_url'],
    ['https://exa mple.com/', 'invalid_url'],
    ['https://example.com:99999/', 'invalid_url'],
    ['https://256.256.256.256/', 'invalid_url'],
    ['https://1.2.3.4.5/', 'invalid_url'],
    ['https://0x100000000/', 'invalid_url'],
    ['https://[fe80::1%25eth0]/', 'invalid_url'],
    ['https://[fe80::1%eth0]/', 'invalid_url'],
    ['https://[::1]extra/', 'invalid_url'],
    ['https://[::g]/', 'invalid_url'],
    ['https://a%00b/', 'invalid_url'],
    ['http://example.com/', 'scheme_not_allowed'],
    ['ftp://example.com/', 'scheme_not_allowed'],
    ['file:///etc/passwd', 'scheme_not_allowed'],
    ['gopher://127.0.0.1:6379/_FLUSHALL', 'scheme_not_allowed'],
    ['data:text/plain,x', 'scheme_not_allowed'],
    ['javascript:alert(1)', 'scheme_not_allowed'],
    ['unix:/var/run/docker.sock', 'scheme_not_allowed'],
    ['wss://example.com/', 'scheme_not_allowed'],
    ['https://user@example.com/', 'user_info_not_allowed'],
    ['https://user:password@example.com/', 'user_info_not_allowed'],
    ['https://:password@example.com/', 'user_info_not_allowed'],
    ['https://example.com@127.0.0.1/', 'user_info_not_allowed'],
    ['https://example.com%40@127.0.0.1/', 'user_info_not_allowed'],
    ['https://example.com./', 'host_not_allowed'],
    ['https://localhost./', 'host_not_allowed'],
    ['https://example.com../', 'host_not_allowed'],
    ['https://example.com:0/', 'port_not_allowed'],
    ['https://example.com:22/', 'port_not_allowed'],
    ['https://example.com:25/', 'port_not_allowed'],
    ['https://example.com:0025/', 'port_not_allowed'],
    ['https://example.com:587/', 'port_not_allowed'],
    ['https://example.com:6667/', 'port_not_allowed'],
  ])('%j is refused as %s', (url, code) => {
    expect(refusalOf(url)).toBe(code);
  });

  test('can have the scheme http by an operator’s setting', () => {
    expect(refusalOf('http://example.com/', { allowHttp: true })).toBeUndefined();
    expect(refusalOf('http://127.0.0.1/', { allowHttp: true })).toBe('address_not_allowed');
    expect(refusalOf('ftp://example.com/', { allowHttp: true })).toBe('scheme_not_allowed');
  });

  test('is returned in the form that is connected to', () => {
    const guard = createDestinationGuard({ allowHttp: false, allowNetworks: ['127.0.0.0/8', '::1'] });
    expect(guard.checkUrl('https://0x7f.1:443/a b').href).toBe('https://127.0.0.1/a%20b');
    expect(hostOf(guard.checkUrl('https://[0:0::1]/'))).toBe('::1');
  });
});

describe('the allowed networks of an operator', () => {
  const allowed = (url: string, ...allowNetworks: string[]) =>
    refusalOf(url, { allowNetworks }) === undefined;

  test('allow the addresses in them, in every form', () => {
    expect(allowed('https://10.1.2.3/', '10.1.0.0/16')).toBe(true);
    expect(allowed('https://[::ffff:10.1.2.3]/', '10.1.0.0/16')).toBe(true);
    expect(allowed('https://167838211/', '10.1.0.0/16')).toBe(true);
    expect(allowed('https://[fd00::1]/', 'fd00::/8')).toBe(true);
    expect(allowed('https://127.0.0.1/', '127.0.0.1')).toBe(true);
  });

  test('allow no other address', () => {
    expect(allowed('https://10.2.0.1/', '10.1.0.0/16')).toBe(false);
    expect(allowed('https://10.1.2.3/', '::/0')).toBe(false);
    expect(allowed('https://[fc00::1]/', '0.0.0.0/0')).toBe(false);
    expect(allowed('https://[2002:a01:203::]/', '10.1.0.0/16')).toBe(false);
  });

  test('allow localhost with one of its addresses', () => {
    expect(allowed('https://localhost/', '127.0.0.0/8')).toBe(true);
    expect(allowed('https://localhost/', '::1')).toBe(true);
    expect(allowed('https://localhost/', '10.0.0.0/8')).toBe(false);
  });

  test.each(['10.0.0.0/33', '10.0.0', 'example.com', '', 'fe80::1%eth0/64'])(
    '%j is refused at start',
    (network) => {
      expect(() => createDestinationGuard({ allowHttp: false, allowNetworks: [network] })).toThrow(
        SetupError,
      );
    },
  );
});

describe('an address', () => {
  const guard = createDestinationGuard({ allowHttp: false, allowNetworks: ['fe80::/10'] });

  test.each([
    'fe80::1%eth0',
    'fe80::1%1',
    '1.1.1.1%eth0',
    '',
    'example.com',
    '127.1',
    '0x7f000001',
    '1.1.1',
    ' 1.1.1.1',
  ])('%j is not allowed, because it is not in a plain form', (address) => {
    expect(guard.isAllowedAddress(address)).toBe(false);
  });

  test('of any private IPv4 network is not allowed in any IPv6 form', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    const network = fc.constantFrom('10', '127', '192.168', '169.254', '172.16', '100.64', '0');
    fc.assert(
      fc.property(network, octet, octet, octet, (start, a, b, c) => {
        const ipv4 = [...start.split('.'), a, b, c].slice(0, 4).join('.');
        const forms = [
          ipv4,
          `::ffff:${ipv4}`,
          `::${ipv4}`,
          `::ffff:0:${ipv4}`,
          `64:ff9b::${ipv4}`,
          `64:ff9b:1::${ipv4}`,
        ];
        for (const form of forms) {
          expect([form, isIP(form) !== 0, guard.isAllowedAddress(form)]).toEqual([form, true, false]);
        }
      }),
    );
  });
});
