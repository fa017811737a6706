import { Readable } from 'node:stream';
import type { Principal } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import {
  type EventReader,
  type EventStart,
  type EventStep,
  isEventId,
  type LeadEvent,
  LeadEventType,
  shownEvent,
} from '@leads/core/event';
import { visibleTo } from '@leads/core/lead';
import { parseTime } from '@leads/core/parse-time';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorBody, errorResponses } from '@leads/http/server/errors';
import { onResponseEnd } from '@leads/http/server/response-end';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { verifyAgain } from '../../../verify-again.ts';
import { limitStreams } from './event-streams.ts';

/** The interval of heartbeats. */
const heartbeatMs = 15_000;
/** The time after which a client that reads nothing, heartbeats included, is disconnected. */
const idleMs = 60_000;
/** The reconnection delay of clients, in milliseconds. Without it, the default differs from browser to browser. */
const retryMs = 2_000;

const oneType = `(?:${LeadEventType.enum.join('|').replaceAll('.', '\\.')})`;

const EventQuery = Type.Object(
  {
    type: Type.Optional(
      Type.String({
        pattern: `^${oneType}(?:,${oneType})*$`,
        'x-reason': 'must be event types, separated by commas',
        description: 'Only events of these types, separated by commas.',
        examples: ['lead.created,lead.status_changed'],
      }),
    ),
    since: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'Starts with the events that were published at this time or later (ISO 8601), or after the event of this `id`. `Last-Event-ID` takes precedence.',
        examples: ['2026-01-31T09:30:00Z'],
      }),
    ),
  },
  { additionalProperties: false },
);

const description = `Streams the events of the workspace as Server-Sent Events. A publisher receives the events of its own leads only, without notes, assignees and call-backs. The stream does not end by itself.

Each event has an \`id\`, its type in \`event\`, and the event as JSON (CloudEvents 1.0) in \`data\`. The events of one lead arrive in the order of its versions. An event can be delivered more than once, with the same \`id\` in its data.

To resume without a gap, send the last \`id\` in \`Last-Event-ID\`, as an \`EventSource\` does. Use \`since\` to start at a time. Without both, the stream starts with new events. An \`id\` is also sent without an event: it marks the position up to which the stream has been searched.

Events are retained for some days. If events after the start position have been deleted, the response is 410. An open stream sends the event \`gone\` with an error body instead, and ends. To get the missed changes, list the leads with \`updatedSince\`.

If there is no event for 15 s, the stream sends a comment. A stream whose credentials are revoked ends within 10 s.`;

const example = `retry: 2000
:
id: lq3k1v2c-1a

id: lq3k1v2c-1b
event: lead.created
data: {"specversion":"1.0","type":"lead.created",...}

:

`;

/** Registers the route that streams events as they are published (Server-Sent Events; HTML, 9.2). */
export function streamEventsRoute(app: Server, context: CrmContext): void {
  const streams = limitStreams(app, context.metrics);
  app.get(
    '/events',
    {
      config: { permission: 'member', scope: 'events', isEndless: true, idleMs },
      schema: {
        operationId: 'streamEvents',
        tags: ['events'],
        summary: 'Stream events',
        description,
        querystring: EventQuery,
        headers: Type.Object({
          'last-event-id': Type.Optional(
            Type.String({
              maxLength: 64,
              description: 'The last `id` that the client has received. The stream starts after it.',
              examples: ['lq3k1v2c-1a'],
            }),
          ),
        }),
        response: {
          200: {
            description: 'Events, until the client disconnects.',
            content: {
              'text/event-stream': {
                schema: Type.String({
                  description: 'The `data` of each event is one of `LeadEvent`; see `/asyncapi.json`.',
                }),
                examples: { stream: { value: example } },
              },
            },
          },
          ...errorResponses('invalid_input', 'events_gone', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const start = startOf(request.headers['last-event-id'], request.query.since);
      const { events } = context;
      const stream = streams.begin(request.principal);
      onResponseEnd(reply, () => stream.abort());
      try {
        return await sendEvents(request, reply, { events, start, stream });
      } catch (error) {
        stream.abort();
        throw error;
      }
    },
  );
}

/**
 * Returns the position at which a stream starts.
 *
 * @throws LeadsError `invalid_input`
 */
function startOf(lastEventId: string | undefined, since: string | undefined): EventStart {
  // An `EventSource` that has received no event may send an empty id.
  if (lastEventId !== undefined && lastEventId !== '') {
    if (isEventId(lastEventId)) return { after: lastEventId };
    throw malformed('header', 'Last-Event-ID', 'must be the id of an event');
  }
  if (since === undefined) return 'now';
  if (isEventId(since)) return { after: since };
  if (!/^\d{4}-\d\d-\d\d/.test(since)) {
    throw malformed('query', 'since', 'must be a time (ISO 8601), or the id of an event');
  }
  return { since: parseTime(since, { at: 'query', path: 'since' }) };
}

function malformed(at: 'header' | 'query', path: string, reason: string): LeadsError {
  return new LeadsError('invalid_input', { fields: [{ at, path, reason }] });
}

async function sendEvents(
  request: FastifyRequest<{ Querystring: Static<typeof EventQuery> }>,
  reply: FastifyReply,
  { events, start, stream }: { events: EventReader; start: EventStart; stream: AbortController },
): Promise<FastifyReply> {
  let { principal } = request;
  const steps = await events.open({
    start,
    filter: {
      workspaceId: principal.workspaceId,
      types: request.query.type?.split(',') as LeadEventType[] | undefined,
      wants: (event) => shownEvent(event, principal) !== undefined && isVisible(event, principal),
    },
    signal: stream.signal,
  });
  reply
    .type('text/event-stream; charset=utf-8')
    // Without this header, nginx buffers events.
    .header('x-accel-buffering', 'no');
  // After the stream was aborted, no event would end the checks of verifyAgain.
  if (request.method === 'HEAD' || stream.signal.aborted) {
    stream.abort();
    // A text would have a length, which HEAD must not give (RFC 9110, 8.6).
    return reply.send(Readable.from([]));
  }
  let isRefused = false;
  const endChecks = verifyAgain(request, {
    onVerified: (verified) => (principal = verified),
    onRefused() {
      isRefused = true;
      stream.abort();
    },
  });
  stream.signal.addEventListener('abort', endChecks, { once: true });
  return reply.send(
    Readable.from(
      textOf(
        steps,
        (event) => shownEvent(event, principal),
        () => isRefused,
      ),
      { objectMode: false },
    ),
  );
}

function isVisible({ data: { lead } }: LeadEvent, principal: Principal): boolean {
  const { userId = lead.userId } = visibleTo(principal);
  return lead.userId === userId;
}

async function* textOf(
  steps: AsyncGenerator<EventStep, void, undefined>,
  toShown: (event: LeadEvent) => LeadEvent | undefined,
  isRefused: () => boolean,
): AsyncGenerator<string> {
  let sentId: string | undefined;
  // A heartbeat is due immediately, so that the client sees that the stream has started.
  let sentAt = Number.NEGATIVE_INFINITY;
  yield `retry: ${retryMs}\n`;
  try {
    for await (const { id, event: read } of steps) {
      const event = read && toShown(read);
      const isDue = performance.now() - sentAt > heartbeatMs - 1_000;
      if (event === undefined && id === sentId && !isDue) continue;
      const idLine = id === undefined ? '' : `id: ${id}\n`;
      sentId = id;
      sentAt = performance.now();
      yield event === undefined
        ? `:\n${idLine}\n`
        : `${idLine}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    }
    if (isRefused()) yield ': the credentials are no longer valid\n\n';
  } catch (error) {
    if (!(error instanceof LeadsError) || error.code !== 'events_gone') throw error;
    yield `event: gone\ndata: ${JSON.stringify(errorBody(error.code, error.message))}\n\n`;
  } finally {
    await steps.return();
  }
}
