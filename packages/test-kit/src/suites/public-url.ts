import { expect, test } from 'vitest';
import type { RunningService } from '../running-service.ts';

type Start = (
  settings: Record<string, string>,
) => Promise<AsyncDisposable & { readonly service: RunningService }>;

const notServed = { success: false, error: 'validation', message: 'This host name is not served' };

/**
 * Tests the effects of the public URL of a service: HSTS and the served hosts.
 *
 * @param setting the setting that contains the URL.
 */
export function describePublicUrl(start: Start, setting: 'INTAKE_URL' | 'PUBLIC_URL'): void {
  const statusOf = async (service: RunningService, host: string, path = '/openapi.json') =>
    (await service.send({ path, headers: { Host: host } })).status;

  test('with an https URL, every response has HSTS', async () => {
    await using running = await start({ [setting]: 'https://leads.example' });
    const { service } = running;
    const answers = [
      await service.send({ path: '/docs' }),
      await service.send({ path: '/nowhere' }),
      await service.send({ path: '/docs', headers: { Host: 'other.example' } }),
      ...(await service.sendRaw('nonsense\r\n\r\n')),
    ];
    for (const { headers } of answers) {
      expect(headers['strict-transport-security']).toBe('max-age=31536000');
    }
  });

  test('with a public URL, other hosts are rejected with 421, except for probes', async () => {
    await using running = await start({
      [setting]: 'https://leads.example',
      SERVED_HOSTS: 'leads.internal, 10.0.0.7',
    });
    const { service } = running;
    for (const host of [
      'leads.example',
      'LEADS.example:443',
      // A final dot makes a DNS name absolute.
      'leads.example.',
      'leads.internal.:8080',
      'leads.internal:8080',
      '10.0.0.7',
      'localhost:3000',
      'localhost.:3000',
      '127.0.0.1',
      '[::1]:3000',
    ]) {
      expect([host, await statusOf(service, host)]).toEqual([host, 200]);
    }
    for (const host of [
      'evil.example',
      'leads.example.evil.example',
      'xleads.example',
      'leads.example..',
      '10.0.0.8',
      ':',
    ]) {
      const answer = await service.send({ path: '/openapi.json', headers: { Host: host } });
      expect([host, answer.status, answer.json()]).toEqual([host, 421, notServed]);
      expect([host, await statusOf(service, host, '/health/live')]).toEqual([host, 200]);
      expect([host, await statusOf(service, host, '/metrics')]).toEqual([host, 200]);
    }
  });

  test('a final dot in the public URL or in SERVED_HOSTS also names the host without the dot', async () => {
    await using running = await start({
      [setting]: 'https://leads.example.',
      SERVED_HOSTS: 'leads.internal.',
    });
    for (const host of ['leads.example', 'leads.example.', 'leads.internal', 'leads.internal.:8080']) {
      expect([host, await statusOf(running.service, host)]).toEqual([host, 200]);
    }
  });

  test('without a public URL of another machine, every host is served', async () => {
    for (const settings of [{}, { [setting]: 'http://localhost:3000' }]) {
      await using running = await start(settings);
      expect(await statusOf(running.service, 'anything.example')).toBe(200);
    }
  });
}
