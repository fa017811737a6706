import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsError } from '@leads/core/errors';
import { type EventStart, type LeadEvent, LeadEventType } from '@leads/core/event';
import type { NatsEventReader } from '@leads/core/nats';
import { ConfigError } from '@leads/http/service/config';
import { type Command, Option } from 'commander';
import { IsUuid } from 'typebox/format';
import { parseCount, parseTimeAgo, parseUuid } from '../runtime/arguments.ts';
import { brokerOutageReason, openBroker } from '../runtime/broker.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { exampleId, examples } from '../runtime/help.ts';
import { findCampaign, findWorkspace } from '../runtime/lookups.ts';
import { openOperator } from '../runtime/operator.ts';
import { printNotice } from '../runtime/output.ts';
import { BrokerSettings, readSettings } from '../runtime/settings.ts';

interface TailOptions {
  readonly workspace?: string;
  readonly type?: readonly LeadEventType[];
  readonly lead?: string;
  readonly campaign?: string;
  readonly since?: Date;
  readonly count?: number;
}

const retryMs = 500;

/** Adds `leads events` and its subcommands. */
export function addEventsCommands(program: Command, io: CliIo): void {
  const events = program
    .command('events')
    .summary('read the lead events in NATS')
    .description('Reads the lead events in NATS.');
  events
    .command('tail')
    .summary('print events as they are published')
    .description(
      'Prints each published event as a line of JSON (CloudEvents 1.0) until Ctrl-C. It reconnects to NATS and continues without a gap. A line on stderr reports that it has started.',
    )
    .option('--workspace <slug|id>', 'only events of this workspace; a slug is looked up in the database')
    .addOption(new Option('--type <type...>', 'only events of these types').choices(LeadEventType.enum))
    .option('--lead <id>', 'only events of this lead', parseUuid)
    .option(
      '--campaign <code>',
      'only events of leads of this campaign; not checked without the slug of a workspace',
    )
    .option(
      '--since <time>',
      'start with retained events since this time (ISO 8601) or within this duration (1h, 7d) (default: now)',
      parseTimeAgo,
    )
    .option('--count <number>', 'exit after this many events', parseCount)
    .option('--json', 'has no effect: the output is always JSON lines')
    .addHelpText(
      'after',
      examples(
        'leads events tail --workspace acme',
        'leads events tail --type lead.status_changed --since 1h | jq -r .data.lead.status',
        `leads events tail --since 7d --lead ${exampleId}`,
        'leads events tail --type lead.created --count 1',
      ),
    )
    .action((options) => tail(io, options));
}

async function tail(io: CliIo, options: TailOptions): Promise<void> {
  const { NATS_URL: url } = readSettings(BrokerSettings, io.env);
  if (url === undefined) {
    throw new ConfigError(
      "NATS_URL is required (nats://user:password@host:4222): set it to the services' NATS; without NATS, read GET /api/v1/events",
    );
  }
  const workspaceId = await findWorkspaceId(io, options);
  const { NatsEventReader, eventStreamName } = await import('@leads/core/nats');
  const closed = new AbortController();
  // The reader of stdout, such as `head`, has closed the pipe.
  io.stdout.once('error', () => closed.abort());
  const signal = AbortSignal.any([io.interruption(), closed.signal]);
  await using broker = await openBroker(url, {
    signal,
    onChange: (isConnected) =>
      printNotice(io, isConnected ? 'NATS is available again' : 'NATS is unavailable; reconnecting'),
  });
  await follow(io, new NatsEventReader(broker, eventStreamName), { ...options, workspaceId }, signal);
}

/** Returns the id of a workspace, given by its slug or its id. With a slug, the campaign must exist. */
async function findWorkspaceId(
  io: CliIo,
  { workspace: named, campaign }: TailOptions,
): Promise<string | undefined> {
  if (named === undefined || IsUuid(named)) {
    // The command must work without Postgres if the workspace has no slug to look up.
    if (campaign !== undefined) {
      printNotice(
        io,
        `It is not checked whether the campaign ${campaign} exists: name its workspace by the slug to check it`,
      );
    }
    return named?.toLowerCase();
  }
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, named);
  if (campaign !== undefined) await findCampaign(operator.campaigns, workspace, campaign);
  return workspace.id;
}

async function follow(
  io: CliIo,
  reader: NatsEventReader,
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
      if (!hasBegun) printNotice(io, 'Following events; press Ctrl-C to stop.');
      hasBegun = true;
      for await (const { event } of steps) {
        if (event === undefined) continue;
        await printLine(io, JSON.stringify(event), signal);
        left -= 1;
        if (left === 0) break;
      }
    } catch (error) {
      if (!(error instanceof LeadsError)) throw error;
      if (error.code === 'events_gone') {
        printNotice(io, `${error.message}; continuing with the oldest retained event`);
        start = 'oldest';
      } else if (error.code === 'unavailable') {
        const reason = brokerOutageReason(error);
        const line = `The NATS streams are unavailable${reason && `: ${reason}`}; retrying`;
        if (!isWaiting) printNotice(io, line);
        isWaiting = true;
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      } else throw error;
    }
  }
}

/** Writes a line, and waits until a slow reader has read it. */
async function printLine({ stdout }: CliIo, line: string, signal: AbortSignal): Promise<void> {
  if (!stdout.write(`${line}\n`)) await once(stdout, 'drain', { signal }).catch(() => undefined);
}
