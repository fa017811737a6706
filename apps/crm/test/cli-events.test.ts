import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LeadEvent } from '@leads/core/event';
import type { LeadDetail } from '@leads/core/lead';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import type { TestMember } from '@leads/test-kit/fixture';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type CommandResult, runLeads, startLeads } from './command-line.ts';
import { startCrm } from './crm.ts';
import { leadsApi, ok } from './leads-api.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'leads-tail-'));
const binary = await findNatsServer();
let nats: LocalNats = await startNats({ binary, dataDir });
const { port: natsPort, url: NATS_URL } = nats;
const crm = await startCrm({ NATS_URL });
afterAll(async () => {
  await crm[Symbol.asyncDispose]();
  await nats[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});
const { fixture } = crm;
const api = leadsApi(crm.service);
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const other = await fixture.createWorkspace();
await workspace.addCampaign('SPRING');

interface Tail {
  readonly child: ChildProcess;
  readonly stderr: () => string;
  readonly events: () => LeadEvent[];
  readonly ended: Promise<CommandResult>;
}

/** Starts `leads events tail` as a process, with only `env` as its environment. */
function start(args: readonly string[], env: Readonly<Record<string, string>> = { NATS_URL }): Tail {
  const { child, ended, stdout, stderr } = startLeads(['events', 'tail', ...args], env);
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    stderr,
    events: () =>
      stdout()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as LeadEvent),
    ended,
  };
}

/** Runs `leads events tail` until it exits. */
const runTail = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  runLeads(['events', 'tail', ...args], env);

/** Starts `leads events tail`, and waits until it follows the stream. */
async function tail(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Tail> {
  const started = start(args, env);
  const follows = /(^|\n)Following events; press Ctrl-C to stop\.\n$/;
  await vi.waitFor(() => expect(started.stderr()).toMatch(follows), 60_000);
  return started;
}

async function create(name: string, member: TestMember = owner, campaignCode = 'DEMO'): Promise<LeadDetail> {
  return ok<{ lead: LeadDetail }>(await api.create(member, { campaignCode, name, phone: '1' })).lead;
}
const nameOf = ({ data }: LeadEvent) => data.lead.name;
const waitForNames = (tailed: Tail, expected: readonly string[]) =>
  vi.waitFor(() => expect(tailed.events().map(nameOf)).toEqual(expected), 60_000);

describe('leads events tail', () => {
  test('prints events as lines of JSON, and exits with 0 on Ctrl-C', async () => {
    const all = await tail([]);
    const { id } = await create('Ada');
    ok(await api.edit(owner, id, { city: 'London' }));
    await create('Bob', other.owner);
    await waitForNames(all, ['Ada', 'Ada', 'Bob']);
    expect(all.events()[1]).toMatchObject({
      specversion: '1.0',
      id: `${id}.2`,
      type: 'lead.updated',
      source: `/workspaces/${workspace.id}`,
      data: { lead: await api.get(owner, id) },
    });
    all.child.kill('SIGINT');
    expect(await all.ended).toMatchObject({ code: 0, stderr: 'Following events; press Ctrl-C to stop.\n' });
  });

  test('filters by workspace, type, lead and campaign, and exits after --count events', async () => {
    const byId = await tail(['--workspace', workspace.id, '--count', '3']);
    const bySlug = await tail(['--workspace', workspace.slug], { NATS_URL, DATABASE_URL: crm.databaseUrl });
    const changes = await tail(['--type', 'lead.updated', 'lead.status_changed']);
    const spring = await tail(['--campaign', 'SPRING', '--workspace', workspace.id]);
    await create('Theirs', other.owner);
    const { id } = await create('Ours');
    ok(await api.edit(owner, id, { city: 'London' }));
    ok(await api.edit(owner, id, { status: 'Approved' }));
    await create('Spring', owner, 'SPRING');
    await waitForNames(bySlug, ['Ours', 'Ours', 'Ours', 'Spring']);
    await waitForNames(spring, ['Spring']);
    expect(spring.stderr()).toContain(
      'It is not checked whether the campaign SPRING exists: name its workspace by the slug to check it\n',
    );
    expect(bySlug.stderr()).not.toContain('not checked');
    await vi.waitFor(
      () => expect(changes.events().map(({ type }) => type)).toEqual(['lead.updated', 'lead.status_changed']),
      60_000,
    );
    const { code, stdout } = await byId.ended;
    expect([code, stdout.split('\n').length]).toEqual([0, 4]);

    const past = start(['--since', '1h', '--lead', id.toUpperCase(), '--count', '3']);
    expect((await past.ended).code).toBe(0);
    expect(past.events().map((event) => event.id)).toEqual([`${id}.1`, `${id}.2`, `${id}.3`]);
  });

  test('reconnects after NATS was killed, without a missing or repeated event', async () => {
    const events = await tail(['--workspace', workspace.id]);
    await create('Before');
    await waitForNames(events, ['Before']);
    await nats.kill();
    await vi.waitFor(() => expect(events.stderr()).toContain('NATS is unavailable; reconnecting\n'), 60_000);
    await create('Meanwhile');
    nats = await startNats({ binary, dataDir, port: natsPort });
    await create('After');
    await waitForNames(events, ['Before', 'Meanwhile', 'After']);
    expect(events.stderr()).toContain('NATS is available again\n');
  });

  test('exits with 0 if the reader of stdout closes the pipe', async () => {
    const events = await tail([]);
    events.child.stdout?.destroy();
    await create('One');
    expect((await events.ended).code).toBe(0);
  });

  test.each([
    [['--since', 'yesterday'], 'Use a time such as'],
    [['--since', '2026-99-99'], 'Use a time such as'],
    [['--count', '0'], 'Use a whole number, 1 or more.'],
    [['--lead', 'x'], 'It is not a UUID.'],
    [['--type', 'lead.deleted'], 'Allowed choices are'],
  ])('rejects %j with exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await runTail(args, { NATS_URL });
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
  });

  test('names the cause while NATS has no JetStream', async () => {
    await using streamless = await startNats({
      binary,
      dataDir: join(dataDir, 'streamless'),
      settings: 'jetstream: disabled',
    });
    const { stderr } = start([], { NATS_URL: streamless.url });
    await vi.waitFor(
      () => expect(stderr()).toBe('The NATS streams are unavailable: JetStream does not answer; retrying\n'),
      60_000,
    );
  });

  test('reports a missing NATS_URL, an unreachable NATS, an unknown workspace or campaign in one line', async () => {
    expect(await runTail([], {})).toEqual({
      code: 2,
      stdout: '',
      stderr:
        "error: NATS_URL is required (nats://user:password@host:4222): set it to the services' NATS; without NATS, read GET /api/v1/events\n",
    });
    const port = await freePort();
    const unreachable = await runTail([], { NATS_URL: `nats://user:secret@127.0.0.1:${port}` });
    expect(unreachable.code).toBe(3);
    expect(unreachable.stderr).toMatch(
      new RegExp(`^error: NATS at 127\\.0\\.0\\.1:${port} cannot be reached[^\\n]*\\n$`),
    );
    expect(unreachable.stderr).not.toContain('secret');
    const unknown = await runTail(['--workspace', 'absent'], { NATS_URL, DATABASE_URL: crm.databaseUrl });
    expect(unknown).toEqual({ code: 1, stdout: '', stderr: 'error: Workspace absent does not exist\n' });
    const unknownCampaign = await runTail(['--workspace', workspace.slug, '--campaign', 'ABSENT'], {
      NATS_URL,
      DATABASE_URL: crm.databaseUrl,
    });
    expect(unknownCampaign).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: Workspace ${workspace.slug} has no campaign ABSENT\n`,
    });
  });
});
