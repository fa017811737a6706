import { Broker } from '@leads/core/nats';

export interface StreamMessage {
  readonly subject: string;
  readonly data: unknown;
  /** The value of the header `traceparent`. */
  readonly traceparent: string | undefined;
}

/** Returns the messages of a JetStream stream, oldest first; empty if the stream does not exist. */
export async function readStream(url: string, stream: string): Promise<StreamMessage[]> {
  await using broker = new Broker({ url, name: 'leads-tests' });
  if (!(await broker.connected(60_000))) throw new Error('NATS is unavailable');
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
