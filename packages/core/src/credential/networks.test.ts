import { describe, expect, test } from 'vitest';
import { canonicalNetwork, compileNetworks, isInNetworks } from './networks.ts';

describe('canonicalNetwork', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7/32', '203.0.113.7'],
    ['203.0.113.7/24', '203.0.113.0/24'],
    ['10.255.255.255/9', '10.128.0.0/9'],
    ['255.255.255.255/0', '0.0.0.0/0'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['2001:db8:1:ffff::/49', '2001:db8:1:8000::/49'],
    ['2001:db8::ffff/32', '2001:db8::/32'],
    ['::1', '::1'],
    ['::/0', '::/0'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107/120', '203.0.113.0/24'],
    ['::ffff:1.2.3.4/96', '0.0.0.0/0'],
    ['::ffff:1.2.3.4/95', '::fffe:0:0/95'],
  ])('writes %s as %s, which is canonical', (text, canonical) => {
    expect(canonicalNetwork(text)).toBe(canonical);
    expect(canonicalNetwork(canonical)).toBe(canonical);
  });

  test.each([
    '',
    ' 203.0.113.7',
    '203.0.113',
    '203.0.113.256',
    '0203.0.113.7',
    '0x7f.0.0.1',
    '203.0.113.7/',
    '203.0.113.7/33',
    '203.0.113.7/024',
    '203.0.113.7/-1',
    '203.0.113.7/24/24',
    '203.0.113.0/255.255.255.0',
    '203.0.113.1-203.0.113.9',
    '2001:db8::/129',
    '2001:db8:::1',
    'fe80::1%eth0',
    '[::1]',
    'localhost',
    'example.com/24',
  ])('rejects %j', (text) => {
    expect(canonicalNetwork(text)).toBeUndefined();
  });
});

describe('isInNetworks', () => {
  const isIn = (networks: string[], address: string) => {
    const compiled = compileNetworks(networks);
    return compiled !== undefined && isInNetworks(compiled, address);
  };

  test('accepts the addresses of each network, and no others', () => {
    const networks = ['203.0.113.0/24', '198.51.100.7', '2001:db8:1::/48', '::ffff:192.0.2.0/120'];
    const inside = ['203.0.113.0', '203.0.113.255', '198.51.100.7', '192.0.2.9', '2001:db8:1:ffff::1'];
    for (const address of inside) expect([address, isIn(networks, address)]).toEqual([address, true]);
    const outside = ['203.0.112.255', '203.0.114.0', '198.51.100.8', '2001:db8:2::', '::1', '127.0.0.1'];
    for (const address of outside) expect([address, isIn(networks, address)]).toEqual([address, false]);
  });

  test('does not match IPv4 addresses against IPv6 networks, or the reverse', () => {
    expect(isIn(['::/0'], '203.0.113.7')).toBe(false);
    expect(isIn(['0.0.0.0/0'], '2001:db8::1')).toBe(false);
    expect(isIn(['0.0.0.0/0'], '203.0.113.7')).toBe(true);
  });

  test('rejects an unknown address, and every address if no network can be read', () => {
    for (const address of ['', 'unknown']) expect(isIn(['0.0.0.0/0', '::/0'], address)).toBe(false);
    expect(isIn(['nonsense'], '203.0.113.7')).toBe(false);
  });

  test('has no set for no networks', () => {
    expect(compileNetworks([])).toBeUndefined();
  });
});
