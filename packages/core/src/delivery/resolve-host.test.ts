import { type DnsAnswer, startDnsServer } from '@leads/core/testing/dns-server';
import { expect, test } from 'vitest';
import { resolveHost } from './resolve-host.ts';

/** Longer than a test may take. */
const longMs = 600_000;

/** Resolves `receiver.test` with a name server that has these answers. */
async function resolveWith(answers: { A: DnsAnswer; AAAA: DnsAnswer }, timeoutMs = longMs) {
  await using server = await startDnsServer((_name, type) => answers[type]);
  const addresses = await resolveHost('receiver.test', { timeoutMs, servers: [server.address] });
  return addresses.map(({ address, family }) => `${address} ${family}`);
}

test('a name has its IPv4 and its IPv6 addresses', async () => {
  expect(await resolveWith({ A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8:0:0:0:0:0:1'] })).toEqual([
    expect.stringMatching(/^192\.0\.2\.[12] 4$/),
    expect.stringMatching(/^192\.0\.2\.[12] 4$/),
    '2001:db8::1 6',
  ]);
});

test.each(['NXDOMAIN', 'SERVFAIL', 'silence', []] as const)(
  'a name with one family has its addresses if the answer for the other is %j',
  async (answer) => {
    expect(await resolveWith({ A: ['192.0.2.1'], AAAA: answer })).toEqual(['192.0.2.1 4']);
    expect(await resolveWith({ A: answer, AAAA: ['2001:db8:0:0:0:0:0:1'] })).toEqual(['2001:db8::1 6']);
  },
);

test('a silent or failing name server is an error, and the system’s resolver is not asked', async () => {
  await expect(resolveWith({ A: 'silence', AAAA: 'NXDOMAIN' }, 100)).rejects.toMatchObject({
    code: 'ETIMEOUT',
  });
  await expect(resolveWith({ A: 'SERVFAIL', AAAA: 'SERVFAIL' })).rejects.toMatchObject({ code: 'ESERVFAIL' });
});

test('the system’s resolver is asked for a name that DNS does not know', async () => {
  await expect(resolveWith({ A: 'NXDOMAIN', AAAA: 'NXDOMAIN' })).rejects.toMatchObject({
    syscall: 'getaddrinfo',
    code: expect.stringMatching(/^E/) as string,
  });
});

test('localhost has the loopback addresses without a query', async () => {
  await using server = await startDnsServer(() => ['192.0.2.1']);
  for (const host of ['localhost', 'receiver.localhost']) {
    expect(await resolveHost(host, { timeoutMs: longMs, servers: [server.address] })).toEqual([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
  }
  expect(server.questions).toEqual([]);
});
