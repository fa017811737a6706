import { createInbox, headers, type Msg, type NatsConnection } from 'nats';
import { BrokerError } from '../errors.ts';

/** A message to publish to a stream. */
export interface StreamMessage {
  readonly subject: string;
  readonly payload: string;
  /** Identifies duplicates within the duplicate window of the stream. */
  readonly id: string;
  /** The trace context of the request that caused the message, for the header `traceparent`. */
  readonly traceparent?: string | undefined;
}

/**
 * Publishes messages to a stream concurrently, and waits until the broker has acknowledged all of them.
 *
 * The client's own `publish` allocates a subscription, a timer and an error for each message. For 1,000 messages it takes
 * 3 times as long.
 *
 * @param options.timeoutMs the limit between two acknowledgments.
 * @throws Error if a message fails. The others may be stored nevertheless.
 */
export function publishAll(
  connection: NatsConnection,
  messages: readonly StreamMessage[],
  { inboxPrefix, timeoutMs }: { inboxPrefix: string | undefined; timeoutMs: number },
): Promise<void> {
  const inbox = createInbox(inboxPrefix);
  return new Promise((resolve, reject) => {
    let unacknowledged = messages.length;
    const settle = (error?: Error) => {
      clearTimeout(timer);
      subscription.unsubscribe();
      if (error === undefined) resolve();
      else reject(error);
    };
    const timer = setTimeout(() => settle(new BrokerError('NATS did not acknowledge in time')), timeoutMs);
    const subscription = connection.subscribe(`${inbox}.*`, {
      callback(error, answer) {
        const failure = error ?? failureOf(answer);
        if (failure !== undefined) return settle(failure);
        unacknowledged -= 1;
        if (unacknowledged === 0) settle();
        else timer.refresh();
      },
    });
    try {
      for (const [index, { subject, payload, id, traceparent }] of messages.entries()) {
        const header = headers();
        header.set('Nats-Msg-Id', id);
        if (traceparent !== undefined) header.set('traceparent', traceparent);
        connection.publish(subject, payload, { reply: `${inbox}.${index}`, headers: header });
      }
    } catch (error) {
      settle(error as Error);
    }
    if (messages.length === 0) settle();
  });
}

/** Returns the error of a reply; `undefined` for an acknowledgment. */
function failureOf(answer: Msg): Error | undefined {
  if (answer.headers?.code === 503) return new BrokerError('No stream has this subject');
  const { error } = answer.json<{ error?: { description: string } }>();
  return error && new BrokerError(error.description);
}
