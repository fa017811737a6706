import { AckPolicy, type JetStreamManager, NatsError } from 'nats';
import { available, type Broker } from './broker.ts';
import { type EventStream, ensureEventStream } from './event-publisher.ts';
import { type BufferStream, ensureBufferStream } from './lead-buffer.ts';
import { ensureSnapshotBucket } from './snapshot-store.nats.ts';

/**
 * Creates or updates the stream of events, and creates durable consumers of it. Services of other parties may not create
 * consumers, because a consumer can deliver events to any subject of its account.
 *
 * @param consumers their names. A new consumer starts with the oldest event. An existing consumer stays unchanged.
 * @throws LeadsError `unavailable`
 */
export async function setUpEvents(
  broker: Broker,
  stream: EventStream,
  consumers: readonly string[],
): Promise<void> {
  const manager = await broker.manager();
  await available(requireLimits(stream.name, ensureEventStream(manager, stream)));
  for (const name of consumers) await available(ensureConsumer(manager, stream.name, name));
}

/**
 * Creates or updates what the intake stores in NATS: the stream of buffered leads, and the bucket of snapshots.
 *
 * @throws LeadsError `unavailable`
 */
export async function setUpIntake(broker: Broker, stream: BufferStream): Promise<void> {
  const manager = await broker.manager();
  await available(requireLimits(stream.name, ensureBufferStream(manager, stream)));
  await available(ensureSnapshotBucket(broker, stream.replicas));
}

async function requireLimits(name: string, ensuring: Promise<boolean>): Promise<void> {
  if (!(await ensuring)) throw new Error(`This NATS user may not change the stream ${name}`);
}

async function ensureConsumer(manager: JetStreamManager, stream: string, name: string): Promise<void> {
  try {
    await manager.consumers.info(stream, name);
  } catch (error) {
    if (!(error instanceof NatsError && error.api_error?.code === 404)) throw error;
    await manager.consumers.add(stream, { durable_name: name, ack_policy: AckPolicy.Explicit });
  }
}
