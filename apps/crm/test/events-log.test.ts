import { freePort } from '@leads/local-stack/processes/free-port';
import { type Service, startService } from '@leads/test-kit/services';
import { prepareEnvironment } from '@leads/test-kit/running-stack';
import { expect, onTestFinished, test } from 'vitest';
import { type EventClient, openEvents } from './event-client.ts';
import { HttpClient } from '@leads/test-kit/http-client';

const leadCount = 2_000;

test('without NATS, readers of 2 instances receive every event of 2,000 leads in order while one is killed repeatedly', async () => {
  const environment = await prepareEnvironment();
  onTestFinished(() => environment[Symbol.asyncDispose]());
  const { fixture, workspace, env } = environment;
  const { owner } = workspace;
  const services: Service[] = [];
  onTestFinished(async () => {
    for (const service of services) await service.kill().catch(() => undefined);
  });
  const start = async (port: number) => {
    const service = await startService('crm', { env: { ...env, LOG_LEVEL: 'warn' }, port });
    services.push(service);
    return service;
  };
  const [killedPort, stayingPort] = [await freePort(), await freePort()];
  let killed = await start(killedPort);
  await start(stayingPort);
  const client = new HttpClient(stayingPort);
  onTestFinished(() => client.close());

  const staying = await openEvents(stayingPort, owner.headers);
  onTestFinished(() => staying.close());
  await staying.until(() => staying.lastId() !== '');
  /** Connects again after each kill of its instance. */
  const resuming: EventClient[] = [];
  onTestFinished(() => resuming.at(-1)?.close());
  const resume = async () => {
    const after = resuming.at(-1)?.lastId() ?? staying.lastId();
    resuming.push(await openEvents(killedPort, { ...owner.headers, 'Last-Event-ID': after }));
  };
  await resume();

  let written = 0;
  const write = async () => {
    while (written < leadCount) {
      written += 20;
      const leads = Array.from({ length: 20 }, () => workspace.lead(owner));
      await fixture.leads.insert(leads);
      for (const { id } of leads.slice(0, 4)) {
        for (const body of [{ city: 'London' }, { status: 'Approved' }]) {
          const answer = await client.send({
            method: 'PATCH',
            path: `/api/v1/order/leads/${id}`,
            headers: owner.headers,
            body,
          });
          expect(answer.status, answer.text).toBe(200);
        }
      }
    }
  };
  const writing = Promise.all(Array.from({ length: 6 }, write));
  writing.catch(() => undefined);
  for (const part of [0.2, 0.45, 0.7]) {
    await expect.poll(() => written, { interval: 5 }).toBeGreaterThan(leadCount * part);
    await killed.kill();
    await resuming.at(-1)?.ended;
    killed = await start(killedPort);
    await resume();
  }
  await writing;

  const rows = await fixture.sql<{ id: string; version: number }>('SELECT id, version FROM lead');
  const expected = new Map(
    rows.map(({ id, version }) => [id, Array.from({ length: version }, (_, n) => n + 1)]),
  );
  const total = rows.reduce((sum, { version }) => sum + version, 0);
  expect(expected.size).toBe(written);
  const received = () => [staying.events(), resuming.flatMap((stream) => stream.events())];
  await expect
    .poll(() => received().map((events) => new Set(events.map(({ id }) => id)).size))
    .toEqual([total, total]);
  for (const events of received()) {
    // The log repeats no event, also not after an instance was killed.
    expect(events).toHaveLength(total);
    const versions = new Map<string, number[]>();
    for (const { subject, data } of events) {
      versions.set(subject, [...(versions.get(subject) ?? []), data.lead.version]);
    }
    expect(versions).toEqual(expected);
  }
});
