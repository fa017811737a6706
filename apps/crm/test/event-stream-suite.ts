import { spawn } from 'node:child_process';
import { LeadEvent } from '@leads/core/event';
import type { LeadDetail } from '@leads/core/lead';
import { readPage } from '@leads/test-kit/documents';
import type { TestMember, TestWorkspace } from '@leads/test-kit/fixture';
import { Value } from 'typebox/value';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Crm, startCrmService } from './crm.ts';
import { disconnectWhile } from './disconnect.ts';
import { type EventClient, openEvents } from './event-client.ts';
import { leadsApi, ok } from './leads-api.ts';

/** Where the events of a CRM are stored. */
export interface EventBackend {
  /** The settings of the CRM. */
  readonly settings: Record<string, string>;
  /** Drops all stored events but the last ones. Returns the time of the oldest one that is left. */
  dropAllBut(count: number): Promise<Date>;
  /** Deletes the stream with its events. The service creates another one. */
  loseStream(): Promise<void>;
  /** Returns the number of stored events of a workspace. */
  countEvents(workspaceId: string): Promise<number>;
}

/** The event streams of a workspace of its own. */
export async function eventStreams({ service, fixture }: Crm) {
  const workspace = await fixture.createWorkspace();
  const { owner } = workspace;
  const api = leadsApi(service);

  async function follow(
    options: { member?: TestMember; query?: string; after?: string; port?: number } = {},
  ): Promise<EventClient> {
    const { member = owner, query, after, port = service.port } = options;
    const headers = { ...member.headers, ...(after !== undefined && { 'Last-Event-ID': after }) };
    const stream = await openEvents(port, headers, query);
    onTestFinished(() => stream.close());
    expect(stream.status).toBe(200);
    // After the first block, the stream delivers all events that follow.
    await stream.until(() => stream.blocks.length > 0);
    return stream;
  }
  async function create(name: string, member = owner, more: object = {}): Promise<LeadDetail> {
    const answer = await api.create(member, { name, phone: '1', ...more });
    return ok<{ lead: LeadDetail }>(answer).lead;
  }

  async function createAll(all: readonly string[], member = owner): Promise<void> {
    for (const name of all) await create(name, member);
  }
  return { workspace, owner, api, follow, create, createAll };
}

export const nameOf = ({ data }: LeadEvent): string => data.lead.name;
export const names = (count: number, prefix = 'n'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);

/** Registers the tests of the rules that do not depend on where events are stored. */
export async function testEventStreams(crm: Crm, backend: EventBackend): Promise<void> {
  const { service, fixture } = crm;
  const { workspace, owner, api, follow, create, createAll } = await eventStreams(crm);
  const countStreams = async () =>
    Number(/^lead_event_streams (\d+)$/m.exec((await service.send({ path: '/metrics' })).text)?.[1]);

  test('an event stream opened before the first event delivers it', async () => {
    const stream = await follow();
    await create('First');
    expect((await stream.received(1)).map(nameOf)).toEqual(['First']);
  });

  test('the curl command of the README prints each created lead as an event', async () => {
    const [, command = ''] = /```sh\n(curl .*\/v1\/events.*)\n```/.exec(readPage('apps/crm/README.md')) ?? [];
    const { API_KEY: apiKey, Authorization: bearer } = owner.headers;
    const curl = spawn('sh', ['-c', `exec ${command}`], {
      env: {
        ...process.env,
        crm: `http://127.0.0.1:${service.port}/api`,
        apiKey,
        accessToken: bearer?.replace('Bearer ', ''),
      },
    });
    onTestFinished(() => void curl.kill());
    let printed = '';
    curl.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    // After the first block, the stream delivers all events that follow.
    await expect.poll(() => printed).toContain('\n\n');
    const { id } = await create('First');
    ok(await api.edit(owner, id, { city: 'London' }));
    await create('Second');
    await expect.poll(() => printed).toContain('"name":"Second"');
    expect(printed).toMatch(/^id: .*\nevent: lead\.created\ndata: \{"specversion":"1\.0"/m);
    expect(printed).not.toContain('lead.updated');
  });

  describe('an event stream', () => {
    test('delivers each event with its id and type, and the events of a lead in order', async () => {
      const stream = await follow();
      const { id } = await create('Ada');
      ok(await api.edit(owner, id, { city: 'London' }));
      ok(await api.edit(owner, id, { status: 'Approved' }));
      const events = await stream.received(3);
      expect(events.map(({ type, subject }) => [type, subject])).toEqual([
        ['lead.created', id],
        ['lead.updated', id],
        ['lead.status_changed', id],
      ]);
      expect(events.map((event) => event.id)).toEqual([`${id}.1`, `${id}.2`, `${id}.3`]);
      for (const event of events) expect(Value.Errors(LeadEvent, event)).toEqual([]);
      expect(events[2]?.data.lead).toEqual(await api.get(owner, id));
      expect(events.map(({ data }) => data.change)).toEqual(await api.history(owner, id));
      const eventBlocks = stream.blocks.filter(({ data }) => data !== undefined);
      expect(eventBlocks.map(({ event }) => event)).toEqual(events.map(({ type }) => type));
      expect(new Set(eventBlocks.map((block) => block.id)).size).toBe(3);
      expect(stream.headers).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
    });

    test('delivers only the requested types', async () => {
      const changes = await follow({ query: '?type=lead.updated,lead.status_changed' });
      const updates = await follow({ query: '?type=lead.updated' });
      const { id } = await create('Types');
      ok(await api.edit(owner, id, { status: 'Approved' }));
      ok(await api.edit(owner, id, { city: 'London' }));
      const typesOf = (events: readonly LeadEvent[]) => events.map(({ type }) => type);
      expect(typesOf(await changes.received(2))).toEqual(['lead.status_changed', 'lead.updated']);
      expect(typesOf(await updates.received(1))).toEqual(['lead.updated']);
    });

    test('delivers only events of the workspace, and to a publisher only events of its own leads', async () => {
      const other = await fixture.createWorkspace();
      const publisher = await workspace.addMember('publisher');
      const [mine, theirs, own] = await Promise.all(
        [owner, other.owner, publisher].map((member) => follow({ member })),
      );
      await create('Of the owner');
      await create('Of the other workspace', other.owner);
      await create('Of the publisher', publisher);
      await create('Of the other workspace too', other.owner);
      await create('The last', owner);
      expect((await mine?.received(3))?.map(nameOf)).toEqual([
        'Of the owner',
        'Of the publisher',
        'The last',
      ]);
      expect((await theirs?.received(2))?.map(nameOf)).toEqual([
        'Of the other workspace',
        'Of the other workspace too',
      ]);
      expect((await own?.received(1))?.map(nameOf)).toEqual(['Of the publisher']);

      // Waits for an id after the skipped events, so that the client can resume even if those events are dropped.
      for (const stream of [theirs, own]) {
        const last = stream?.blocks.findLast(({ data }) => data !== undefined)?.id;
        await stream?.until(() => stream.lastId() !== last);
      }
      const again = await follow({ member: publisher, after: own?.lastId() ?? '' });
      await create('Another', publisher);
      expect((await again.received(1)).map(nameOf)).toEqual(['Another']);
    });

    test('delivers notes, assignees and call-backs to owners and managers, and never to a publisher', async () => {
      const publisher = await workspace.addMember('publisher');
      const lead = workspace.lead(publisher);
      const [all, own] = await Promise.all([owner, publisher].map((member) => follow({ member })));
      await fixture.leads.insert([lead]);
      const send = async (method: string, path: string, body: object) => {
        const answer = await service.send({
          method,
          path: `/api/v1/order/leads/${lead.id}${path}`,
          headers: { ...owner.headers },
          body,
        });
        expect(answer.status, answer.text).toBe(200);
      };
      const callbackAt = '2026-01-31T09:30:00.000Z';
      await send('POST', '/notes', { text: 'Call after six' });
      await send('PATCH', '', { assigneeId: owner.userId });
      await send('PATCH', '', { callbackAt, city: 'Paris' });
      await send('PATCH', '', { callbackAt: '', status: 'Approved' });

      const received = (await all?.received(5)) ?? [];
      expect(received.map(({ type }) => type)).toEqual([
        'lead.created',
        'lead.note_added',
        'lead.updated',
        'lead.updated',
        'lead.status_changed',
      ]);
      expect(received[1]?.data.change).toMatchObject({ version: 2, noteId: expect.any(String) as string });
      expect(JSON.stringify(received)).not.toContain('Call after six');
      expect(received[3]?.data).toMatchObject({
        lead: { assigneeId: owner.userId, callbackAt },
        change: { fields: { callbackAt: { to: callbackAt } } },
      });

      const shown = (await own?.received(3)) ?? [];
      expect(shown.map(({ data }) => [data.change.version, data.change.fields])).toEqual([
        [1, undefined],
        [4, { city: { to: 'Paris' } }],
        [5, undefined],
      ]);
      expect(JSON.stringify(shown)).not.toMatch(/assignee|callback|note/i);
    });
  });

  describe('a resumed event stream', () => {
    test('continues after any event id without a gap or a repeat', async () => {
      const stream = await follow();
      const firstId = stream.lastId();
      await createAll(names(6, 'a'));
      await stream.received(6);
      stream.close();
      await createAll(names(3, 'b'));
      const all = [...names(6, 'a'), ...names(3, 'b')];
      const ids = [
        firstId,
        ...stream.blocks.flatMap(({ id, data }) => (data === undefined ? [] : [id ?? ''])),
      ];
      for (const [i, id] of ids.entries()) {
        const again = await follow(i % 2 === 0 ? { after: id } : { query: `?since=${id}` });
        expect((await again.received(9 - i)).map(nameOf)).toEqual(all.slice(i));
        again.close();
      }
      // Last-Event-ID takes precedence over the parameter since, which a browser repeats.
      const both = await follow({ after: ids[8] ?? ids[6] ?? '', query: `?since=${firstId}` });
      expect((await both.received(3)).map(nameOf)).toEqual(names(3, 'b'));
    });

    test('delivers 1,000 stored events without waiting between batches', async () => {
      const since = new Date().toISOString();
      const leads = names(1_000).map((name) => workspace.lead(owner, { name }));
      await fixture.leads.insert(leads);
      const stream = await follow({ query: `?since=${since}` });
      // The service fetches 100 events at a time. If each of the 10 fetches waited for its timeout, this would take 50 s.
      const events = await stream.received(1_000, 45_000);
      expect(events.map(nameOf).toSorted()).toEqual(names(1_000).toSorted());
    });

    test('starts at the time of the parameter since', async () => {
      const before = await follow();
      await create('Before');
      await before.received(1);
      const since = new Date();
      await createAll(['After', 'After that']);
      const stream = await follow({ query: `?since=${since.toISOString()}` });
      expect((await stream.received(2)).map(nameOf)).toEqual(['After', 'After that']);
      // No event was dropped yet, so the stream begins with the first one.
      const all = await follow({ query: '?since=2026-01-01' });
      expect((await all.received(1)).map(nameOf)[0]).toBe('First');
      for (const query of ['?since=0000-01-01T00:00:00Z', '?since=0000-01-01T00:00:00%2B01:00']) {
        const oldest = await follow({ query });
        expect((await oldest.received(1)).map(nameOf)[0]).toBe('First');
      }
      await follow({ query: '?since=9999-12-31T23:59:59-01:00' });
      const future = await follow({ query: '?since=2999-01-01T00:00:00Z' });
      await create('From now');
      expect((await future.received(1)).map(nameOf)).toEqual(['From now']);
    });

    test.each([
      ['?since=yesterday', '', { parameter: 'since' }],
      ['?since=2026-99-99', '', { parameter: 'since' }],
      ['?since=2016-12-31T23:59:60Z', '', { parameter: 'since' }],
      ['', 'x', { header: 'Last-Event-ID' }],
      ['', '1', { header: 'Last-Event-ID' }],
      ['?type=lead.deleted', '', { parameter: 'type' }],
      ['?type=lead.created,', '', { parameter: 'type' }],
      ['?nonsense=1', '', { parameter: 'nonsense' }],
    ])('with query "%s" and Last-Event-ID "%s" is rejected with 400', async (query, after, expectedError) => {
      const headers = { ...owner.headers, ...(after !== '' && { 'Last-Event-ID': after }) };
      const path = `/api/v1/events${query}`;
      const answer = await service.send({ path, headers });
      expect([answer.status, answer.json()]).toEqual([
        400,
        { success: false, error: 'validation', message: 'Invalid input data' },
      ]);
      const problem = await service.send({
        path,
        headers: { ...headers, Accept: 'application/problem+json' },
      });
      expect(problem.json<{ errors: object[] }>().errors).toEqual(
        expect.arrayContaining([expect.objectContaining(expectedError)]),
      );
    });
  });

  describe('a position whose events were dropped', () => {
    test('is answered with 410, and the message has the time of the oldest event', async () => {
      const since = new Date().toISOString();
      const stream = await follow();
      await createAll(names(4));
      await stream.received(4);
      const ids = stream.blocks.flatMap(({ id, data }) => (data === undefined ? [] : [id ?? '']));
      const oldest = (await backend.dropAllBut(2)).toISOString();
      const gone = { success: false, error: 'error', message: `Events before ${oldest} are no longer kept` };
      for (const request of [
        { path: '/api/v1/events', headers: { ...owner.headers, 'Last-Event-ID': ids[0] ?? '' } },
        { path: `/api/v1/events?since=${since}`, headers: { ...owner.headers } },
      ]) {
        const answer = await service.send(request);
        expect([answer.status, answer.json()]).toEqual([410, gone]);
      }
      // No event is missing after the second one.
      expect((await (await follow({ after: ids[1] ?? '' })).received(2)).map(nameOf)).toEqual(['n2', 'n3']);
      expect((await (await follow({ query: `?since=${oldest}` })).received(2)).map(nameOf)).toEqual([
        'n2',
        'n3',
      ]);
    });

    test('is answered with 410 if its stream was lost, even if the new stream has as many events', async () => {
      const stream = await follow();
      await create('Old');
      await stream.received(1);
      stream.close();
      await backend.loseStream();
      const listener = await openEvents(service.port, owner.headers);
      onTestFinished(() => listener.close());
      expect(listener.status).toBe(200);
      await createAll(names(3, 'new'));
      // An event stream that opens before there is a new stream delivers its first event.
      expect((await listener.received(3)).map(nameOf)).toEqual(names(3, 'new'));
      const answer = await service.send({
        path: '/api/v1/events',
        headers: { ...owner.headers, 'Last-Event-ID': stream.lastId() },
      });
      expect(answer.status).toBe(410);
    });

    test('ends the event stream of a slow client with a gone event, and is answered with 410', async () => {
      const stream = await follow();
      stream.pause();
      const large = 'x'.repeat(40_000);
      // Events of earlier tests are still kept.
      const before = await backend.countEvents(workspace.id);
      // Requests to create them may take longer than the minute after which a client that reads nothing is disconnected.
      for (const name of names(400))
        await fixture.leads.insert([workspace.lead(owner, { name, description: large })]);
      await vi.waitFor(
        async () => expect(await backend.countEvents(workspace.id)).toBe(before + 400),
        60_000,
      );
      await backend.dropAllBut(0);
      stream.resume();
      expect(await stream.ended).toBe(true);
      const { event, data = '' } = stream.blocks.at(-1) ?? {};
      expect([event, JSON.parse(data)]).toEqual([
        'gone',
        { success: false, error: 'error', message: expect.stringContaining('no longer kept') as string },
      ]);
      const received = stream.events().map(nameOf);
      expect(received.length).toBeLessThan(400);
      expect(received).toEqual(names(received.length));
      const answer = await service.send({
        path: '/api/v1/events',
        headers: { ...owner.headers, 'Last-Event-ID': stream.lastId() },
      });
      expect(answer.status).toBe(410);
    });
  });

  describe('an open event stream', () => {
    test('ends after its API key or access token is revoked, and others stay open', async () => {
      const [first, second] = [await workspace.addMember('manager'), await workspace.addMember('manager')];
      const revoked = await Promise.all([first, second].map((member) => follow({ member })));
      const other = await follow();
      await fixture.credentials.revokeApiKey(workspace.id, first.apiKeyId, new Date());
      await fixture.credentials.revokeAccessToken(workspace.id, second.accessTokenId, new Date());
      expect(await Promise.all(revoked.map(({ ended }) => ended))).toEqual([true, true]);
      for (const { blocks } of revoked) {
        expect(blocks.at(-1)).toEqual({ comment: 'the credentials are no longer valid' });
      }
      await create('Still there');
      expect((await other.received(1)).map(nameOf)).toEqual(['Still there']);
    });

    test('delivers heartbeats while there are no events', async () => {
      const stream = await follow();
      const { length } = stream.blocks;
      await stream.until(() => stream.blocks.length > length);
      expect(stream.blocks[length]).toMatchObject({ comment: '' });
      expect(stream.events()).toEqual([]);
    });

    test('counts toward the limit of 10 for its API key, and a further one is rejected with 429', async () => {
      const member = await workspace.addMember('manager');
      const streams = await Promise.all(names(10).map(() => follow({ member })));
      const requestStream = () => service.send({ path: '/api/v1/events', headers: { ...member.headers } });
      const refused = await requestStream();
      expect([refused.status, refused.json()]).toEqual([
        429,
        { success: false, error: 'error', message: 'An API key may have 10 open event streams' },
      ]);
      expect(refused.headers['retry-after']).toBe('5');
      await follow();
      streams[0]?.close();
      await vi.waitFor(() => follow({ member }), 60_000);
    });

    test('counts toward the 100 of 200 that its workspace gets, and other workspaces get the rest', async () => {
      const keysOf = (of: TestWorkspace, count: number) =>
        Promise.all(names(count).map(() => of.addMember('manager')));
      const other = await fixture.createWorkspace();
      // Streams of earlier tests may not have ended yet.
      await vi.waitFor(async () => expect(await countStreams()).toBe(0), 60_000);
      const streams: EventClient[] = [];
      for (const member of await keysOf(workspace, 10)) {
        streams.push(...(await Promise.all(names(10).map(() => follow({ member })))));
      }
      const [eleventh] = await keysOf(workspace, 1);
      const refused = await service.send({ path: '/api/v1/events', headers: { ...eleventh?.headers } });
      expect([refused.status, refused.json()]).toMatchObject([
        429,
        { message: 'This workspace has its share of event streams in progress: try again later' },
      ]);
      for (const member of await keysOf(other, 2)) {
        streams.push(...(await Promise.all(names(10).map(() => follow({ member })))));
      }
      for (const stream of streams) stream.close();
      await vi.waitFor(async () => expect(await countStreams()).toBe(0), 60_000);
    });

    test('is not counted if its client disconnects during the authentication', async () => {
      // The key is not cached, so the authentication waits for the table.
      const member = await workspace.addMember('manager');
      const release = await fixture.holdTable('api_key', 'ACCESS EXCLUSIVE');
      onTestFinished(release);
      await disconnectWhile(
        service,
        [{ path: '/api/v1/events', headers: member.headers }],
        async () => (await fixture.countBlocked('SELECT%api_key%')) === 1,
      );
      await release();
      // The same member sends this request, so it is authenticated after the former one.
      (await follow({ member })).close();
      await vi.waitFor(async () => expect(await countStreams()).toBe(0), 60_000);
    });

    test('is not created by HEAD, which returns its headers', async () => {
      const answer = await service.send({
        method: 'HEAD',
        path: '/api/v1/events',
        headers: { ...owner.headers },
      });
      expect([answer.status, answer.headers['content-type']]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ]);
      expect(answer.headers['content-length']).toBeUndefined();
      await vi.waitFor(async () => expect(await countStreams()).toBe(0), 60_000);
    });

    test('ends completely when the service stops, and resumes at another instance', async () => {
      const another = await startCrmService(crm.databaseUrl, backend.settings);
      const stream = await vi.waitFor(() => follow({ port: another.port }), 60_000);
      await create('One');
      await stream.received(1);
      await another[Symbol.asyncDispose]();
      expect(await stream.ended).toBe(true);
      await create('Two');
      const again = await follow({ after: stream.lastId() });
      expect((await again.received(1)).map(nameOf)).toEqual(['Two']);
    });
  });
}
