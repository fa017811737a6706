import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsError } from '@leads/core/errors';
import type { LeadEvent, LeadEventType } from '@leads/core/event';
import type { EventReader, EventStart } from '@leads/core/nats';
import { ConfigError } from '@leads/http/service/config';
import { type Command, Option } from 'commander';
import { IsUuid } from 'typebox/format';
import { parseCount, parseTimeAgo, parseUuid } from '../runtime/arguments.ts';
import { BrokerUnreachable } from '../runtime/cli-error.ts';
import { examples } from '../runtime/help.ts';
import { findWorkspace, openOperator } from '../runtime/operator.ts';
import { printNotice } from '../runtime/output.ts';
import { BrokerSettings, readSettings } from '../runtime/settings.ts';
import { interruption } from '../runtime/transfer.ts';

interface TailOptions {
  readonly workspace?: string;
  readonly type?: readonly LeadEventType[];
  readonly lead?: string;
  readonly campaign?: string;
  readonly since?: Date;
  readonly count?: number;
}

/** How long to wait for NATS at first, in milliseconds: an address may be wrong. Later it is waited for without an end. */
const connectMs = 10_000;
const retryMs = 500;

/** `leads events` */
export function addEventsCommands(program: Command): void {
  const events = program.command('events').description("The events of leads: what is told in NATS's stream.");
  events
    .command('tail')
    .summary('follow events as they come')
    .description(
      'Prints events as they come, each as a line of JSON (CloudEvents 1.0), until Ctrl-C. It goes on by itself, without a gap, when NATS was away. The first line on stderr tells when it has begun.',
    )
    .option('--workspace <slug|id>', 'only events of this workspace; a slug is looked up in the database')
    .addOption(
      new Option('--type <type...>', 'only events of these types').choices([
        'lead.created',
        'lead.updated',
        'lead.status_changed',
      ]),
    )
    .option('--lead <id>', 'only events of this lead', parseUuid)
    .option('--campaign <code>', 'only events of leads of the campaign of this code')
    .option(
      '--since <time>',
      'begin with what came at this time (ISO 8601) or within this duration (1h, 7d), as far as it is kept; without it, with what comes from now',
      parseTimeAgo,
    )
    .option('--count <number>', 'end after so many events', parseCount)
    .option('--json', 'lines of JSON: they are that in any case')
    .addHelpText(
      'after',
      examples(
        'leads events tail --workspace acme',
        'leads events tail --type lead.status_changed --since 1h | jq -r .data.lead.status',
        'leads events tail --since 7d --lead 019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f',
        'leads events tail --type lead.created --count 1',
      ),
    )
    .action(tail);
}

async function tail(options: TailOptions): Promise<void> {
  const { NATS_URL: url } = readSettings(BrokerSettings);
  if (url === undefined) {
    throw new ConfigError(
      'NATS_URL is required (as nats://user:password@host:4222: the NATS of the services)',
    );
  }
  const workspaceId = await findWorkspaceId(options.workspace);
  const { Broker, EventReader, eventStreamName } = await import('@leads/core/nats');
  const unread = new AbortController();
  // Such as `head`, which has had enough.
  process.stdout.once('error', () => unread.abort());
  const signal = AbortSignal.any([interruption(), unread.signal]);
  let wasThere = false;
  let reason: unknown;
  await using broker = new Broker({
    url,
    name: 'leads-cli',
    onChange(isConnected, why) {
      reason = why;
      if (wasThere) printNotice(isConnected ? 'NATS is back' : 'NATS is away: it is waited for');
      wasThere ||= isConnected;
    },
  });
  const deadline = performance.now() + connectMs;
  while (!signal.aborted && !broker.isConnected) {
    if (performance.now() > deadline) {
      throw new BrokerUnreachable(reason instanceof Error ? reason.message : '', { cause: reason });
    }
    await broker.connected(100);
  }
  await follow(new EventReader(broker, eventStreamName), { ...options, workspaceId }, signal);
}

/** The id of a workspace that was named by its slug; a UUID is one itself. */
async function findWorkspaceId(named: string | undefined): Promise<string | undefined> {
  if (named === undefined || IsUuid(named)) return named?.toLowerCase();
  await using operator = openOperator();
  return (await findWorkspace(operator.workspaces, named)).id;
}

async function follow(
  reader: EventReader,
  options: Omit<TailOptions, 'workspace'> & { workspaceId: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { workspaceId, type: types, lead, campaign, since, count = Number.POSITIVE_INFINITY } = options;
  const wants = ({ subject, data }: LeadEvent) =>
    (lead === undefined || subject === lead) &&
    (campaign === undefined || data.lead.campaignCode === campaign);
  let start: EventStart = since === undefined ? 'now' : { since };
  let left = count;
  let hasBegun = false;
  let isWaiting = false;
  while (!signal.aborted && left > 0) {
    try {
      const steps = await reader.open({ start, filter: { workspaceId, types, wants }, signal });
      if (!hasBegun) printNotice('Following events: Ctrl-C ends it.');
      hasBegun = true;
      for await (const { event } of steps) {
        if (event === undefined) continue;
        await printLine(JSON.stringify(event), signal);
        left -= 1;
        if (left === 0) break;
      }
    } catch (error) {
      if (!(error instanceof LeadsError)) throw error;
      if (error.code === 'events_gone') {
        printNotice(`${error.message}: going on with the oldest that are there`);
        start = 'oldest';
      } else if (error.code === 'unavailable') {
        if (!isWaiting) printNotice('NATS does not answer for its streams: it is waited for');
        isWaiting = true;
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      } else throw error;
    }
  }
}

/** Writes a line, and waits where its reader is slow. */
async function printLine(line: string, signal: AbortSignal): Promise<void> {
  const { stdout } = process;
  if (!stdout.write(`${line}\n`)) await once(stdout, 'drain', { signal }).catch(() => undefined);
}
