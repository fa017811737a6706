import { AckPolicy, DeliverPolicy, type JetStreamManager, NatsError, nanos, StorageType } from 'nats';
import type { ErasableStore, ErasureLog } from '../erasure/erase.ts';
import { formatErasure, parseErasure } from '../erasure/erasure.ts';
import { type LeadTraces, tracesOf, tracesOfChange } from '../erasure/lead-traces.ts';
import { LeadsError } from '../errors.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import { fromLeadJson, type LeadJson } from '../lead/lead-json.ts';
import { available, type Broker } from './broker.ts';
import { ensureStream } from './ensure-stream.ts';
import { eventStreamName } from './event-publisher.ts';
import { bufferStreamName, publishBuffered } from './lead-buffer.ts';

const logStreamName = 'LEADS_ERASED';
const logSubject = 'erasure.log';
/** Messages in one request to the broker. */
const fetchSize = 100;
const timeoutMs = 5_000;
/** The broker removes a consumer without requests after this time, in milliseconds. */
const idleMs = 60_000;

/** Returns the stream of lead events as an erasable store. The broker overwrites erased events on its disk. */
export function createErasableEvents(broker: Broker): ErasableStore {
  return {
    async visit(isErased, options) {
      const manager = await broker.manager();
      const leadIds = new Set<string>();
      let events = 0;
      for await (const { sequence, data } of readStream(broker, manager, eventStreamName)) {
        const traces = tracesOfEvent(data);
        if (traces === undefined || !traces.some(isErased)) continue;
        events += 1;
        leadIds.add(traces[0].id);
        if (options.erase) await deleteMessage(manager, eventStreamName, sequence);
      }
      return { counts: { events }, leadIds };
    },
  };
}

/**
 * Returns the buffer of leads that wait for Postgres as an erasable store. A message may also hold leads to keep. They are
 * published again before the message is deleted. Without the stream, there is no count: it may be in another account.
 */
export function createErasableBuffer(broker: Broker): ErasableStore {
  return {
    async visit(isErased, options) {
      const manager = await broker.manager();
      const leadIds = new Set<string>();
      if ((await streamInfo(manager, bufferStreamName)) === undefined) return { counts: {}, leadIds };
      let buffered = 0;
      for await (const { sequence, data } of getMessages(manager, bufferStreamName)) {
        const leads = parse(data) as readonly LeadJson[] | undefined;
        if (!Array.isArray(leads)) continue;
        const kept = leads.filter((lead: LeadJson) => !isErased(tracesOf(fromLeadJson(lead))));
        if (kept.length === leads.length) continue;
        for (const { id } of leads.filter((lead: LeadJson) => !kept.includes(lead))) leadIds.add(id);
        buffered += leads.length - kept.length;
        if (!options.erase) continue;
        if (kept.length > 0) {
          // A lead may be in both messages for a moment, because inserting a stored lead again changes nothing.
          await available(
            publishBuffered(broker.jetStream, JSON.stringify(kept), bufferStreamName, timeoutMs),
          );
        }
        await deleteMessage(manager, bufferStreamName, sequence);
      }
      return { counts: { buffered }, leadIds };
    },
  };
}

/** The log of erasures. The first erasure creates its stream, which retains all messages. */
export class ErasureStream implements ErasureLog {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  async write(erasure: Parameters<ErasureLog['write']>[0]): Promise<void> {
    const manager = await this.#broker.manager();
    const events = await streamInfo(manager, eventStreamName);
    await available(
      ensureStream(
        manager,
        { name: logStreamName, subjects: [logSubject], storage: StorageType.File },
        { max_bytes: -1, num_replicas: events?.config.num_replicas ?? 1 },
      ),
    );
    await this.#broker.publish([{ subject: logSubject, payload: formatErasure(erasure), id: erasure.id }]);
  }

  async read(): ReturnType<ErasureLog['read']> {
    const erasures = [];
    for await (const { data } of getMessages(await this.#broker.manager(), logStreamName)) {
      erasures.push(parseErasure(Buffer.from(data).toString()));
    }
    return erasures;
  }
}

/** Returns the traces of a person in an event; `undefined` if the message is not an event. */
function tracesOfEvent(data: Uint8Array): [LeadTraces, ...LeadTraces[]] | undefined {
  const event = parse(data) as LeadEvent | undefined;
  if (event?.specversion !== '1.0') return undefined;
  const { lead } = event.data;
  const identity = {
    id: event.subject,
    workspaceId: event.source.slice(event.source.lastIndexOf('/') + 1),
    createdAt: new Date(lead.createdAt),
  };
  return [
    tracesOf({ ...lead, ...identity }),
    tracesOfChange({ ...identity, country: lead.country }, event.data.change.fields ?? {}),
  ];
}

interface Message {
  readonly sequence: number;
  readonly data: Uint8Array;
}

/** Reads the messages that a stream holds at the start, by a temporary consumer. */
async function* readStream(
  broker: Broker,
  manager: JetStreamManager,
  stream: string,
): AsyncGenerator<Message, void, undefined> {
  if ((await streamInfo(manager, stream)) === undefined) return;
  const info = await available(
    manager.consumers.add(stream, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.All,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanos(idleMs),
    }),
  );
  const consumer = broker.jetStream.consumers.getPullConsumerFor(info);
  let received = 0;
  try {
    for (let pending = info.num_pending; pending > 0; ) {
      const before = received;
      const messages = await available(
        consumer.fetch({ max_messages: Math.min(pending, fetchSize), expires: timeoutMs }),
      );
      for await (const message of messages) {
        received += 1;
        // A gap in the delivery sequence means that a message was lost in transit.
        if (message.info.deliverySequence !== received) throw new LeadsError('unavailable');
        pending = message.info.pending;
        yield { sequence: message.seq, data: message.data };
      }
      // Pending messages may have expired. If the broker is unavailable, this throws.
      if (received === before) pending = (await available(consumer.info())).num_pending;
    }
  } finally {
    if (broker.isConnected) await consumer.delete().catch(() => undefined);
  }
}

/** Reads the messages of a stream one by one, because a work queue allows no second consumer. */
async function* getMessages(
  manager: JetStreamManager,
  stream: string,
): AsyncGenerator<Message, void, undefined> {
  const info = await streamInfo(manager, stream);
  if (info === undefined || info.state.messages === 0) return;
  const deleted = new Set(info.state.deleted);
  for (let next = info.state.first_seq; next <= info.state.last_seq; ) {
    const sequences: number[] = [];
    for (; sequences.length < fetchSize && next <= info.state.last_seq; next++)
      if (!deleted.has(next)) sequences.push(next);
    const messages = await Promise.all(
      sequences.map((seq) => available(orAbsent(manager.streams.getMessage(stream, { seq })))),
    );
    for (const message of messages) {
      if (message !== undefined) yield { sequence: message.seq, data: message.data };
    }
  }
}

const streamInfo = (manager: JetStreamManager, stream: string) =>
  available(orAbsent(manager.streams.info(stream, { deleted_details: true })));

/** Deletes a message and overwrites its bytes. A message that is already deleted is not an error. */
async function deleteMessage(manager: JetStreamManager, stream: string, sequence: number): Promise<void> {
  await available(
    manager.streams.deleteMessage(stream, sequence, true).catch((error: unknown) => {
      if (!isAbsent(error)) throw error;
    }),
  );
}

async function orAbsent<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Whether the broker reports that a stream or message does not exist. For deletions, its codes differ by version. */
function isAbsent(error: unknown): boolean {
  if (!(error instanceof NatsError) || error.api_error === undefined) return false;
  return error.api_error.code === 404 || /not found|no message found/i.test(error.api_error.description);
}

function parse(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data).toString()) as unknown;
  } catch {
    return undefined;
  }
}
