import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());
const { service, fixture } = intake;
const { owner } = await fixture.createWorkspace();
beforeEach(() => fixture.sql('DELETE FROM lead'));

const submit = (name: string) =>
  service.send({
    method: 'POST',
    path: '/api/v1/leads',
    headers: { API_KEY: owner.apiKey },
    body: { name, phone: '+1 202 555 0143' },
  });
/** Returns the value of a metric without labels. */
const metric = async (name: string) => {
  const { text } = await service.send({ path: '/metrics' });
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
};
const storedNames = async () =>
  (await fixture.sql<{ name: string }>('SELECT name FROM lead ORDER BY name')).map(({ name }) => name);

test('stores concurrent leads in shared commits', async () => {
  await submit('first');
  const commits = async () => {
    await sleep(1_100);
    const [row] = await fixture.sql<{ commits: number }>(
      'SELECT xact_commit::int AS commits FROM pg_stat_database WHERE datname = current_database()',
    );
    return row?.commits ?? Number.NaN;
  };
  const before = await commits();
  const [batches, leads] = [await metric('lead_batch_size_count'), await metric('lead_batch_size_sum')];
  const answers = await Promise.all(Array.from({ length: 400 }, (_, n) => submit(`lead-${n}`)));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect((await storedNames()).length).toBe(401);
  expect((await commits()) - before).toBeLessThan(100);
  expect((await metric('lead_batch_size_count')) - batches).toBeLessThan(100);
  expect((await metric('lead_batch_size_sum')) - leads).toBe(400);
  expect(await metric('lead_batch_wait_seconds_count')).toBe(await metric('lead_batch_size_sum'));
});

test.for([
  ['with the id of the row in its error', `name NOT LIKE 'Poison%'`],
  ['without the id of the row in its error', `1 / (name NOT LIKE 'Poison%')::int = 1`],
])('rejects only the leads that violate a constraint with 400, %s', async ([, check]) => {
  await fixture.sql('DELETE FROM lead');
  await fixture.sql(`ALTER TABLE lead ADD CONSTRAINT poison CHECK (${check})`);
  try {
    const names = Array.from({ length: 300 }, (_, n) => (n % 100 === 50 ? `Poison-${n}` : `lead-${n}`));
    const answers = await Promise.all(names.map(submit));
    expect(answers.map(({ status }) => status)).toEqual(
      names.map((name) => (name.startsWith('Poison') ? 400 : 200)),
    );
    expect(answers[50]?.json()).toEqual({
      success: false,
      error: 'validation',
      message: 'Invalid input data',
    });
    expect(await storedNames()).toEqual(names.filter((name) => name.startsWith('lead')).toSorted());
  } finally {
    await fixture.sql('ALTER TABLE lead DROP CONSTRAINT poison');
  }
});

test('stores the leads of other clients when one client disconnects', async () => {
  const release = await fixture.holdTable('lead');
  const body = JSON.stringify({ name: 'leaving', phone: '+1 202 555 0143' });
  const leaving = connect(service.port, '127.0.0.1');
  leaving.write(
    `POST /api/v1/leads HTTP/1.1\r\nHost: h\r\nAPI_KEY: ${owner.apiKey}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(leaving, 'connect');
  const staying = Array.from({ length: 5 }, (_, n) => submit(`staying-${n}`));
  await sleep(300);
  leaving.destroy();
  await sleep(100);
  await release();
  expect((await Promise.all(staying)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(await storedNames()).toEqual(
    expect.arrayContaining(Array.from({ length: 5 }, (_, n) => `staying-${n}`)),
  );
});

test('answers 503 after 2 s while the database hangs, and stores leads again afterwards', async () => {
  const release = await fixture.holdTable('lead');
  const sent: ReturnType<typeof submit>[] = [];
  // The batches in flight reach their limit one after another.
  while ((await metric('lead_batches_in_flight')) < 4) {
    sent.push(submit(`sent-${sent.length}`));
    await sleep(100);
  }
  const [sheds, queued] = [await metric('lead_sheds_total'), await metric('lead_batch_queue_size')];
  const start = performance.now();
  const waiting = await Promise.all(Array.from({ length: 20 }, (_, n) => submit(`waits-${n}`)));
  const tookMs = performance.now() - start;
  for (const { status, headers } of waiting) expect([status, headers['retry-after']]).toEqual([503, '1']);
  expect(tookMs).toBeGreaterThan(1_900);
  expect((await metric('lead_sheds_total')) - sheds).toBe(20 + queued);
  await release();
  const answered = (await Promise.all(sent)).map(({ status }) => status);
  const stored = await storedNames();
  // Exactly the leads that were answered with 200 are stored.
  expect(stored).toEqual(sent.map((_, n) => `sent-${n}`).filter((_, n) => answered[n] === 200));
  expect(stored.length).toBeGreaterThan(0);
  expect((await submit('after')).status).toBe(200);
});
