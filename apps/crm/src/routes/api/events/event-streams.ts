import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';
import type { Metrics } from '@leads/http/service/metrics';

/**
 * The most open streams of this process, and of one API key. A stream costs the broker a consumer. For a slow client,
 * it costs this process a read-ahead buffer of up to 2 MiB.
 */
const maxStreams = 200;
const maxOfKey = 10;

/** The open event streams of this process. */
export interface EventStreams {
  /**
   * Begins a stream.
   *
   * @returns the controller of the stream. The caller aborts it when the stream ends. It is also aborted when the
   *   service stops.
   * @throws LeadsError `too_many_requests` if the key has too many streams; `unavailable` if the process has too many.
   */
  begin(apiKeyId: string | undefined): AbortController;
}

/** Limits and counts the open streams, and ends them when the service stops: a stream does not end by itself. */
export function limitStreams(app: Server, metrics: Metrics): EventStreams {
  const open = new Map<AbortController, string | undefined>();
  metrics.gauge({ name: 'lead_event_streams', help: 'Open event streams.' }, () => open.size);
  app.addHook('preClose', async () => {
    for (const stream of open.keys()) stream.abort();
  });
  return {
    begin(apiKeyId) {
      if (open.size >= maxStreams) {
        throw new LeadsError('unavailable', {
          message: 'Too many open event streams: try again later',
        });
      }
      const ofKey = [...open.values()].filter((each) => each === apiKeyId).length;
      if (ofKey >= maxOfKey) {
        throw new LeadsError('too_many_requests', {
          message: `An API key may have ${maxOfKey} open event streams`,
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
