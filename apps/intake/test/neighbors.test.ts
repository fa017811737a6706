import { parseMetrics, sumOf } from '@leads/test-kit/prometheus-text';
import type { TestMember } from '@leads/test-kit/fixture';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());
const { service, fixture } = intake;

const submit = ({ apiKey }: TestMember, page?: string) =>
  service.send({
    method: 'POST',
    path: '/api/v1/leads',
    headers: { API_KEY: apiKey },
    body: { name: 'Ada', phone: '+44 20 7946 0958', ...(page !== undefined && { lp_name: page }) },
  });

/** Returns the count of route lookups that were sent to Postgres, or wait to be sent. */
async function routeLookups(): Promise<number> {
  const { samples } = parseMetrics((await service.send({ path: '/metrics' })).text);
  return sumOf(samples, 'cache_lookups_total', { cache: 'intake_route', result: 'miss' });
}

test('leads of a workspace are stored while another one sends unknown landing pages that cannot be looked up', async () => {
  const { owner: busy } = await fixture.createWorkspace();
  const { owner: neighbor } = await fixture.createWorkspace();
  for (const member of [busy, neighbor]) expect((await submit(member)).status).toBe(200);
  const before = await routeLookups();
  const release = await fixture.holdTable('landing_page', 'ACCESS EXCLUSIVE');
  onTestFinished(release);
  // The service has 10 connections to Postgres.
  const unknown = Array.from({ length: 40 }, (_, n) => submit(busy, `unknown-${n}`));
  await expect.poll(routeLookups).toBe(before + unknown.length);
  await expect.poll(() => fixture.countBlocked('%landing_page%')).toBeGreaterThanOrEqual(1);
  expect((await submit(neighbor)).status).toBe(200);
  expect(await fixture.countBlocked('%landing_page%')).toBeLessThanOrEqual(2);
  const uncached = submit(neighbor, 'new');
  await release();
  expect((await uncached).status).toBe(200);
  expect((await Promise.all(unknown)).map(({ status }) => status)).toEqual(unknown.map(() => 200));
});
