import { Broker } from '@leads/core/nats';

export interface StreamMessage {
  readonly subject: string;
  readonly data: unknown;
  /** The header `traceparent`. */
  readonly traceparent: string | undefined;
}

/** What a JetStream stream holds, oldest first; nothing where there is no such stream. */
export async function readStream(url: string, stream: string): Promise<StreamMessage[]> {
  await using broker = new Broker({ url, name: 'leads-tests' });
  if (!(await broker.connected(5_000))) throw new Error('There is no NATS to read from');
  const manager = await broker.manager();
  const info = await manager.streams.info(stream).catch(() => undefined);
  const count = info?.state.messages ?? 0;
  if (count === 0) return [];
  const consumer = await broker.jetStream.consumers.get(stream);
  const read: StreamMessage[] = [];
  for await (const message of await consumer.fetch({ max_messages: count, expires: 10_000 })) {
    read.push({
      subject: message.subject,
      data: message.json(),
      traceparent: message.headers?.get('traceparent') || undefined,
    });
  }
  return read;
}
