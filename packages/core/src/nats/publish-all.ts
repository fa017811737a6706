import { createInbox, headers, type Msg, type NatsConnection } from 'nats';

/** What a stream is to store. */
export interface StreamMessage {
  readonly subject: string;
  readonly payload: string;
  /** Tells repeats apart, within the stream's window. */
  readonly id: string;
  /** Of the request that it came of, for the header `traceparent`. */
  readonly traceparent?: string | undefined;
}

/**
 * Publishes messages to a stream, all at once, and waits until the broker has stored each. The client does that for one,
 * with a subscription, a timer and an error in reserve for each: a thousand take three times as long.
 *
 * @param options.timeoutMs for the broker's next word, whichever message it is about.
 * @throws Error: which of them are stored is then not known.
 */
export function publishAll(
  connection: NatsConnection,
  messages: readonly StreamMessage[],
  { inboxPrefix, timeoutMs }: { inboxPrefix: string | undefined; timeoutMs: number },
): Promise<void> {
  const inbox = createInbox(inboxPrefix);
  return new Promise((resolve, reject) => {
    let waiting = messages.length;
    const settle = (error?: Error) => {
      clearTimeout(timer);
      subscription.unsubscribe();
      if (error === undefined) resolve();
      else reject(error);
    };
    const timer = setTimeout(() => settle(new Error('NATS does not say that it has stored it')), timeoutMs);
    const subscription = connection.subscribe(`${inbox}.*`, {
      callback(error, answer) {
        const failure = error ?? failureOf(answer);
        if (failure !== undefined) return settle(failure);
        waiting -= 1;
        if (waiting === 0) settle();
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

/** Why a message is not stored, as the broker says. */
function failureOf(answer: Msg): Error | undefined {
  if (answer.headers?.code === 503) return new Error('No stream takes it');
  const { error } = answer.json<{ error?: { description: string } }>();
  return error && new Error(error.description);
}
