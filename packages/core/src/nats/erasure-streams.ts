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
/** Messages that are asked for at once. */
const atOnce = 100;
const waitMs = 5_000;
/** A consumer that nobody asks is removed by the broker. */
const idleMs = 60_000;

/** The events of leads, in their stream. What is taken out of it is written over on the broker's disk. */
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

/** The leads that wait for Postgres. Of a message that holds others as well, these are put back before it goes. */
export function createErasableBuffer(broker: Broker): ErasableStore {
  return {
    async visit(isErased, options) {
      const manager = await broker.manager();
      const leadIds = new Set<string>();
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
          // An insert of a lead that is there already changes nothing, so that it may be in both for a moment.
          await available(publishBuffered(broker.jetStream, JSON.stringify(kept), bufferStreamName, waitMs));
        }
        await deleteMessage(manager, bufferStreamName, sequence);
      }
      return { counts: { buffered }, leadIds };
    },
  };
}

/** The log of erasures in a stream of its own, which is made with the first and forgets none. */
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

/** What an event tells of whom its lead is; nothing for what is no event. */
function tracesOfEvent(data: Uint8Array): [LeadTraces, ...LeadTraces[]] | undefined {
  const event = parse(data) as LeadEvent | undefined;
  if (event?.specversion !== '1.0') return undefined;
  const { lead } = event.data;
  const of = {
    id: event.subject,
    workspaceId: event.source.slice(event.source.lastIndexOf('/') + 1),
    createdAt: new Date(lead.createdAt),
  };
  return [
    tracesOf({ ...lead, ...of }),
    tracesOfChange({ ...of, country: lead.country }, event.data.change.fields ?? {}),
  ];
}

interface Message {
  readonly sequence: number;
  readonly data: Uint8Array;
}

/** All messages of a stream that are there as it begins, by a reader of its own. */
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
        consumer.fetch({ max_messages: Math.min(pending, atOnce), expires: waitMs }),
      );
      for await (const message of messages) {
        received += 1;
        // One before it was lost on the way.
        if (message.info.deliverySequence !== received) throw new LeadsError('unavailable');
        pending = message.info.pending;
        yield { sequence: message.seq, data: message.data };
      }
      // What was pending may have been removed, by its age; else the broker is away.
      if (received === before) pending = (await available(consumer.info())).num_pending;
    }
  } finally {
    if (broker.isConnected) await consumer.delete().catch(() => undefined);
  }
}

/** All messages of a stream, one by one: of a work queue nobody else may be a consumer. */
async function* getMessages(
  manager: JetStreamManager,
  stream: string,
): AsyncGenerator<Message, void, undefined> {
  const info = await streamInfo(manager, stream);
  if (info === undefined || info.state.messages === 0) return;
  const gone = new Set(info.state.deleted);
  for (let next = info.state.first_seq; next <= info.state.last_seq; ) {
    const asked: number[] = [];
    for (; asked.length < atOnce && next <= info.state.last_seq; next++)
      if (!gone.has(next)) asked.push(next);
    const messages = await Promise.all(
      asked.map((seq) => available(orAbsent(manager.streams.getMessage(stream, { seq })))),
    );
    for (const message of messages) {
      if (message !== undefined) yield { sequence: message.seq, data: message.data };
    }
  }
}

const streamInfo = (manager: JetStreamManager, stream: string) =>
  available(orAbsent(manager.streams.info(stream, { deleted_details: true })));

/** With its bytes written over. One that is gone already is no error. */
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

/** Of a deletion, servers say so with codes of their own. */
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
