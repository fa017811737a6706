import { isOutage } from '@leads/core/errors';
import { ConfigError } from '@leads/http/service/config';
import { type Command, InvalidArgumentError } from 'commander';
import { brokerAddress, describeBrokerOutage, noResponders, openBroker } from '../runtime/broker.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { type OutputOptions, printResult } from '../runtime/output.ts';
import { NatsSetupSettings, readSettings } from '../runtime/settings.ts';

interface SetupOptions extends OutputOptions {
  readonly consumer: readonly string[];
}

const mebibyte = 1024 * 1024;
const dayMs = 86_400_000;

/** Adds `leads nats` and its subcommands. */
export function addNatsCommands(program: Command, io: CliIo): void {
  const nats = program
    .command('nats')
    .summary("manage the services' streams in NATS")
    .description('Manages the NATS streams of the services.');

  nats
    .command('setup')
    .summary('create the streams of the services, or update their limits')
    .description(
      'Creates the streams of the services and the consumers of events, or updates the limits of existing streams. Run it before the services start, and after a change of EVENTS_STREAM_* or INTAKE_BUFFER_*. It needs a NATS user with these permissions. Services whose users have them create their streams themselves.',
    )
    .option(
      '--consumer <name>',
      'a durable consumer of events, for the NATS user of this name; repeatable (default: reader)',
      collectNames,
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('leads nats setup', 'leads nats setup --consumer reader --consumer billing'),
    )
    .action((options) => setUp(io, { ...options, consumer: options.consumer ?? ['reader'] }));
}

/** Adds a consumer's name, which is one token of a NATS subject. */
function collectNames(name: string, names: readonly string[] = []): readonly string[] {
  if (/^[\w-]{1,64}$/.test(name)) return [...names, name];
  throw new InvalidArgumentError('Use at most 64 letters, digits, underscores and hyphens.');
}

async function setUp(io: CliIo, options: SetupOptions): Promise<void> {
  const settings = readSettings(NatsSetupSettings, io.env);
  const { NATS_URL: url, NATS_INTAKE_URL: intakeUrl } = settings;
  if (url === undefined) {
    throw new ConfigError('NATS_URL is required (nats://operator:password@host:4222)');
  }
  const { bufferStreamName, eventStreamName, setUpEvents, setUpIntake } = await import('@leads/core/nats');
  await using broker = await openBroker(url);
  await using intakeBroker = intakeUrl === undefined ? undefined : await openBroker(intakeUrl);
  const events = {
    name: eventStreamName,
    maxAgeMs: settings.EVENTS_STREAM_DAYS * dayMs,
    maxBytes: settings.EVENTS_STREAM_MEGABYTES * mebibyte,
    replicas: settings.EVENTS_STREAM_REPLICAS,
  };
  const buffer = {
    name: bufferStreamName,
    maxBytes: settings.INTAKE_BUFFER_MEGABYTES * mebibyte,
    replicas: settings.INTAKE_BUFFER_REPLICAS,
  };
  await attempt(url, setUpEvents(broker, events, options.consumer));
  await attempt(intakeUrl ?? url, setUpIntake(intakeBroker ?? broker, buffer));
  const streams = [eventStreamName, bufferStreamName];
  printResult(
    io,
    options,
    { streams, consumers: options.consumer },
    `The streams ${streams.join(' and ')} are ready. Consumers of events: ${options.consumer.join(', ')}.`,
  );
}

async function attempt(url: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isOutage(error)) throw error;
    const { message } = error.cause instanceof Error ? error.cause : error;
    if (message === noResponders) throw describeBrokerOutage(error, url);
    throw new CliError(`NATS at ${brokerAddress(url)} rejected the setup: ${message}`, { cause: error });
  }
}
