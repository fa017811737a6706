import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';
import type { Metrics } from '@leads/http/service/metrics';

/** Each costs the broker a consumer, and this process up to 2 MiB that were read ahead of a slow client. */
const maxStreams = 200;
const maxOfKey = 10;

/** The streams of events that are open in this process. */
export interface EventStreams {
  /**
   * Takes a place for one more, to be aborted when it is over.
   *
   * @returns aborted when the service stops.
   * @throws LeadsError `too_many_requests` where the key has too many, `unavailable` where the process has.
   */
  begin(apiKeyId: string | undefined): AbortController;
}

/** Bounds, and tells, how many streams are open, and ends them when the service stops: by themselves they never do. */
export function limitStreams(app: Server, metrics: Metrics): EventStreams {
  const open = new Map<AbortController, string | undefined>();
  metrics.gauge({ name: 'lead_event_streams', help: 'Streams of events that are open.' }, () => open.size);
  app.addHook('preClose', async () => {
    for (const stream of open.keys()) stream.abort();
  });
  return {
    begin(apiKeyId) {
      if (open.size >= maxStreams) {
        throw new LeadsError('unavailable', {
          message: 'Too many streams of events at once: try again later',
        });
      }
      const ofKey = [...open.values()].filter((each) => each === apiKeyId).length;
      if (ofKey >= maxOfKey) {
        throw new LeadsError('too_many_requests', {
          message: `An API key may have ${maxOfKey} streams of events at once`,
          retryAfterSeconds: 5,
        });
      }
      const stream = new AbortController();
      open.set(stream, apiKeyId);
      stream.signal.addEventListener('abort', () => open.delete(stream), { once: true });
      return stream;
    },
  };
}
