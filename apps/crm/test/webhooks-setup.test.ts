import { createAccountStore, createDeliveryNotices, createDeliveryQueue, openDatabase } from '@leads/core/db';
import { NoticeMailer } from '@leads/core/delivery';
import { freePort } from '@leads/local-stack/processes/free-port';
import { jwtSecret, type TestMember } from '@leads/test-kit/fixture';
import { type Inbox, openInbox } from '@leads/test-kit/inbox';
import { isConfidential } from '@leads/test-kit/log-check/confidential';
import { spawnService } from '@leads/test-kit/running-stack';
import { answering, type Received, startReceiver, verified } from '@leads/test-kit/webhook-receiver';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm, startCrmService } from './crm.ts';
import { createMailer } from '../src/mailer.ts';
import { leadsApi, problem } from './leads-api.ts';

const [first, second] = ['the first secret of deliveries', 'the second secret of deliveries'].map((secret) =>
  secret.padEnd(40, '.'),
) as [string, string];
const crm = await startCrm({ DELIVERIES_SECRET: first, CRM_DELIVERIES: 'false' });
afterAll(() => crm[Symbol.asyncDispose]());
const { fixture, databaseUrl } = crm;

test('without DELIVERIES_SECRET a webhook is refused with 409, which names the setting, and leads are stored as usual', async () => {
  await using service = await startCrmService(databaseUrl, { DELIVERIES_SECRET: '' });
  const { owner } = await fixture.createWorkspace();
  const answer = await service.send({
    method: 'POST',
    path: '/api/v1/webhooks',
    headers: { ...owner.headers, ...problem },
    body: { url: 'https://crm.example.com/hook', events: ['lead.created'] },
  });
  expect(answer.json()).toMatchObject({
    status: 409,
    type: 'urn:leads:error:conflict',
    detail: 'Webhooks are not available: the operator must set DELIVERIES_SECRET',
  });
  expect((await leadsApi(service).create(owner, { name: 'Ada', phone: '1' })).status).toBe(200);
  const list = await service.send({ path: '/api/v1/webhooks', headers: { ...owner.headers } });
  expect(list.json()).toEqual([]);
});

test('after a rotation of DELIVERIES_SECRET, the previous secret decrypts; without it, nothing is sent or counted', async () => {
  await using receiver = await startReceiver();
  const { owner } = await fixture.createWorkspace();
  const created = await crm.service.send({
    method: 'POST',
    path: '/api/v1/webhooks',
    headers: { ...owner.headers },
    body: { url: receiver.url, events: ['lead.created'] },
  });
  const { secret, webhook } = created.json<{ secret: string; webhook: { id: string } }>();
  {
    await using service = await startCrmService(databaseUrl, { DELIVERIES_SECRET: second });
    await leadsApi(service).create(owner, { name: 'Ada', phone: '1' });
    await expect
      .poll(() => service.logs.entries().map(({ msg }) => msg))
      .toContain('The secret of a webhook cannot be decrypted; retrying');
    const answer = await service.send({
      path: `/api/v1/webhooks/${webhook.id}/deliveries`,
      headers: { ...owner.headers },
    });
    expect(answer.json()).toMatchObject([{ state: 'waiting', attempts: 0 }]);
  }
  await fixture.sql('UPDATE delivery SET next_attempt_at = now()');
  await using service = await startCrmService(databaseUrl, {
    DELIVERIES_SECRET: second,
    DELIVERIES_PREVIOUS_SECRET: first,
  });
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received.map((request) => verified(request, secret))).toMatchObject([
    { type: 'lead.created' },
  ]);
  const metrics = async () => (await service.send({ path: '/metrics' })).text;
  await expect.poll(metrics).toMatch(/^delivery_attempts_total\{.*result="delivered".*\} 1$/m);
  expect(await metrics()).toMatch(/^delivery_lag_seconds\S* \d/m);
  expect(isConfidential(await metrics())).toBe(false);
});

const idsOf = (requests: readonly Received[]) =>
  new Set(requests.map(({ headers }) => headers['webhook-id']));

test('a receiver that hangs gets 4 requests at once at most, and delays no other', async () => {
  await using hanging = await startReceiver();
  await using healthy = await startReceiver();
  let [open, maxOpen] = [0, 0];
  // A request ends when it times out.
  hanging.answer = (response) => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    response.on('close', () => (open -= 1));
  };
  const warnings: Error[] = [];
  const warn = (warning: Error) => void warnings.push(warning);
  process.on('warning', warn);
  const { owner } = await fixture.createWorkspace();
  for (const { url } of [hanging, healthy]) {
    const body = { url, events: ['lead.created'] };
    await crm.service.send({ method: 'POST', path: '/api/v1/webhooks', headers: { ...owner.headers }, body });
  }
  {
    await using service = await startCrmService(databaseUrl, { DELIVERIES_SECRET: first });
    for (let i = 0; i < 30; i++) await leadsApi(service).create(owner, { name: 'Ada', phone: '1' });
    await expect.poll(() => idsOf(healthy.received).size).toBe(30);
    expect(hanging.received.length).toBeGreaterThan(0);
    expect(maxOpen).toBeLessThanOrEqual(4);
  }
  process.off('warning', warn);
  expect(warnings).toEqual([]);
});

test('a stopped service leaves its deliveries to the next one', async () => {
  await using hanging = await startReceiver();
  hanging.answer = () => undefined;
  const { owner } = await fixture.createWorkspace();
  const body = { url: hanging.url, events: ['lead.created'] };
  await crm.service.send({ method: 'POST', path: '/api/v1/webhooks', headers: { ...owner.headers }, body });
  // Stored before the service starts, so that it stops long before a request times out.
  for (let i = 0; i < 6; i++) await leadsApi(crm.service).create(owner, { name: 'Ada', phone: '1' });
  const settings = { DELIVERIES_SECRET: first };
  {
    await using _service = await startCrmService(databaseUrl, settings);
    await expect.poll(() => hanging.received.length).toBeGreaterThan(0);
  }
  const left = await fixture.sql(
    `SELECT DISTINCT attempts, lease_id FROM delivery WHERE state = 'waiting' AND workspace_id = $1`,
    [owner.workspaceId],
  );
  expect(left).toEqual([{ attempts: 0, lease_id: null }]);
  const before = hanging.received.length;
  hanging.answer = answering(204);
  await using _service = await startCrmService(databaseUrl, settings);
  await expect.poll(() => idsOf(hanging.received.slice(before)).size).toBe(6);
});

test('members who manage a failing or disabled webhook or postback get a mail for each incident, by any instance', async () => {
  await using inbox = await openInbox();
  await using receiver = await startReceiver();
  receiver.answer = answering(410);
  const workspace = await fixture.createWorkspace();
  const { owner } = workspace;
  const [manager, publisher] = [await workspace.addMember('manager'), await workspace.addMember('publisher')];
  await fixture.sql('UPDATE "user" SET email_verified = true');
  const create = async (member: TestMember, path: string, body: object) =>
    (
      await crm.service.send({
        method: 'POST',
        path: `/api/v1/${path}`,
        headers: { ...member.headers },
        body,
      })
    ).json<{ webhook: { id: string }; postback: { id: string } }>();
  const { webhook } = await create(owner, 'webhooks', {
    url: receiver.url,
    events: ['lead.created'],
    description: 'Sales',
  });
  const { postback } = await create(publisher, 'postbacks', {
    url: `${receiver.url}/p`,
    description: 'Win at evil.example/prize',
  });
  await fixture.sql(
    `UPDATE delivery_endpoint SET failures = 3, failing_since = now() - interval '25 hours' WHERE id = ANY ($1)`,
    [[webhook.id, postback.id]],
  );
  const settings = {
    DELIVERIES_SECRET: first,
    SMTP_URL: inbox.url,
    PUBLIC_URL: 'https://leads.example',
    MAIL_FROM: 'Leads <leads@example.com>',
  };
  await using _one = await startCrmService(databaseUrl, settings);
  await using _two = await startCrmService(databaseUrl, settings);
  const expectMails = async (subject: string, sentence: string) => {
    for (const { email } of [owner, manager]) {
      const mail = await inbox.mailTo(email);
      expect(/^Subject: (.*)\r$/m.exec(mail)?.[1]).toBe(subject);
      expect(mail).toContain(sentence);
      expect(mail).toContain(`https://leads.example/w/${workspace.slug}/webhooks/${webhook.id}`);
      expect(mail).not.toContain('127.0.0.1');
    }
  };
  await expectMails('A webhook has failed for 24 hours', 'The webhook "Sales" fails');
  const ofPublisher = await inbox.mailTo(publisher.email);
  expect(ofPublisher).toMatch(/^Subject: A postback has failed for 24 hours\r$/m);
  expect(ofPublisher).toContain(`A postback fails`);
  expect(ofPublisher).toContain(`https://leads.example/w/${workspace.slug}/postbacks/${postback.id}`);
  expect(ofPublisher).not.toContain('evil.example');
  await leadsApi(crm.service).create(owner, { name: 'Ada', phone: '1' });
  await expectMails('A webhook was disabled', 'was disabled: its receiver answered that it wants no more');
  await expect.poll(() => fixture.sql('SELECT FROM delivery_notice')).toEqual([]);
});

describe('mails about failing webhooks', () => {
  const database = openDatabase({
    url: databaseUrl,
    poolSize: 2,
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 60_000,
    applicationName: 'test',
  });
  afterAll(() => database[Symbol.asyncDispose]());
  const notices = () =>
    fixture.sql<{ attempts: number; pause: number; isLeased: boolean }>(
      `SELECT attempts, round(extract(epoch FROM next_attempt_at - now()) / 60)::float8 AS pause,
         lease_id IS NOT NULL AS "isLeased" FROM delivery_notice`,
    );
  const makeDue = () =>
    fixture.sql(`UPDATE delivery_notice SET next_attempt_at = now() - interval '1 second'`);

  /** Creates a workspace with a failing webhook, whose owner gets one notice. */
  async function failingWebhook(): Promise<TestMember> {
    await fixture.sql('DELETE FROM delivery_endpoint');
    const { owner } = await fixture.createWorkspace();
    await crm.service.send({
      method: 'POST',
      path: '/api/v1/webhooks',
      headers: { ...owner.headers },
      body: { url: 'https://crm.example.com/hook', events: ['lead.created'] },
    });
    await fixture.sql(`UPDATE "user" SET email_verified = true`);
    await nextIncident(25);
    return owner;
  }
  async function nextIncident(hours: number): Promise<void> {
    await fixture.sql(
      `UPDATE delivery_endpoint SET failures = 3, failing_since = now() - $1::float8 * interval '1 hour'`,
      [hours],
    );
    expect(await createDeliveryQueue(database).createNotices()).toBe(1);
    await makeDue();
  }
  /** Runs a mailer until it has tried to send the due mails. */
  async function mailDue({ url }: Inbox): Promise<void> {
    await using _mailer = new NoticeMailer({
      notices: createDeliveryNotices(database),
      store: createAccountStore(database),
      sendMail: createMailer(url, 'leads@example.com'),
      publicUrl: 'https://leads.example',
      onError: () => undefined,
    });
    const isDone = async () => (await notices()).every(({ isLeased, pause }) => !isLeased && pause > 0);
    await expect.poll(isDone).toBe(true);
  }

  test('are sent by the next process if the one that sends them is killed', async () => {
    await using inbox = await openInbox();
    const { email } = await failingWebhook();
    inbox.answer = 'hang';
    const mailer = spawnService('crm', {
      DATABASE_URL: databaseUrl,
      JWT_SECRET: jwtSecret,
      CRM_PORT: String(await freePort()),
      CRM_DELIVERIES: 'false',
      SMTP_URL: inbox.url,
      MAIL_FROM: 'leads@example.com',
      PUBLIC_URL: 'https://leads.example',
    });
    await expect.poll(() => inbox.sentCount).toBe(1);
    await mailer.kill();
    expect(await notices()).toEqual([{ attempts: 1, pause: 15, isLeased: true }]);
    await makeDue();
    inbox.answer = 'store';
    await mailDue(inbox);
    expect(await inbox.mailTo(email)).toContain('Subject: A webhook has failed for 24 hours');
    expect(await notices()).toEqual([]);
  });

  test('are tried 8 times with growing pauses, and then dropped', async () => {
    await using inbox = await openInbox();
    await failingWebhook();
    inbox.answer = 'reject';
    const pauses: (number | undefined)[] = [];
    for (let attempt = 1; attempt <= 9; attempt++) {
      await mailDue(inbox);
      pauses.push((await notices())[0]?.pause);
      await makeDue();
    }
    expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 256, undefined]);
    expect(inbox.sentCount).toBe(8);
  });

  test('are at most 20 a day for a member', async () => {
    await using inbox = await openInbox();
    const { email } = await failingWebhook();
    await mailDue(inbox);
    for (let incident = 2; incident <= 22; incident++) {
      await nextIncident(25 + incident);
      await mailDue(inbox);
    }
    expect([inbox.sentCount, await notices()]).toEqual([20, []]);
    // The next day.
    await fixture.sql(`UPDATE attempt SET since = since - interval '1 day'`);
    await nextIncident(100);
    await mailDue(inbox);
    expect(inbox.sentCount).toBe(21);
    expect(await inbox.mailTo(email)).toContain('has failed for 24 hours');
  });
});
