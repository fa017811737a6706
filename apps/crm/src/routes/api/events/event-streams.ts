import type { Principal } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import { FairShares, type UserOfWorkspace } from '@leads/core/limits';
import type { Server } from '@leads/http/server/create-server';
import type { Metrics } from '@leads/http/service/metrics';

/**
 * The most open streams of this process, and of one API key. One workspace gets half of them at most. With NATS, a stream
 * costs the broker a consumer. For a slow client, it costs this process a read-ahead buffer of up to 2 MiB.
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
   * @throws LeadsError `too_many_requests` if the key has too many streams, or the workspace or its publishers have their
   *   share; `unavailable` if the process has too many.
   */
  begin(principal: UserOfWorkspace & Pick<Principal, 'apiKeyId'>): AbortController;
}

/** Limits and counts the open streams, and ends them when the service stops: a stream does not end by itself. */
export function limitStreams(app: Server, metrics: Metrics): EventStreams {
  const shares = new FairShares(maxStreams, 'event streams');
  const open = new Map<AbortController, string | undefined>();
  metrics.gauge({ name: 'lead_event_streams', help: 'Open event streams.' }, () => open.size);
  app.addHook('preClose', async () => {
    for (const stream of open.keys()) stream.abort();
  });
  return {
    begin({ apiKeyId, ...user }) {
      const ofKey = [...open.values()].filter((each) => each === apiKeyId).length;
      if (ofKey >= maxOfKey) {
        throw new LeadsError('too_many_requests', {
          message: `An API key may have ${maxOfKey} open event streams`,
          retryAfterSeconds: 5,
        });
      }
      const free = shares.take(user);
      const stream = new AbortController();
      open.set(stream, apiKeyId);
      const end = () => {
        open.delete(stream);
        free();
      };
      stream.signal.addEventListener('abort', end, { once: true });
      return stream;
    },
  };
}
