import { Readable } from 'node:stream';
import type { Principal } from '@leads/core/credential';
import { isOutage, LeadsError } from '@leads/core/errors';
import { isEventId, type LeadEvent, LeadEventType } from '@leads/core/event';
import { visibleTo } from '@leads/core/lead';
import { type EventReader, type EventStart, type EventStep } from '@leads/core/nats';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorBody, errorResponses } from '@leads/http/server/errors';
import { verifyApiKeyAndToken } from '@leads/http/server/guards';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { limitStreams } from './event-streams.ts';

const heartbeatMs = 15_000;
/** With the seconds that a credential is believed, what is revoked is noticed within 10 s. */
const verifyMs = 1_000;
/** For how long a stream goes on while nobody can tell whether its credentials still hold, in milliseconds. */
const unverifiedMs = 15 * 60_000;
/** A client that has taken nothing for so long, heartbeats included, is gone. */
const idleMs = 60_000;
/** After which a client connects anew, in milliseconds: the browser's own wait differs from one to the next. */
const retryMs = 2_000;

const oneType = `(?:${LeadEventType.enum.join('|').replaceAll('.', '\\.')})`;

const EventQuery = Type.Object(
  {
    type: Type.Optional(
      Type.String({
        pattern: `^${oneType}(?:,${oneType})*$`,
        'x-reason': 'must be types of events, separated by commas',
        description: 'Only events of these types, separated by commas.',
        examples: ['lead.created,lead.status_changed'],
      }),
    ),
    since: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'Begin with what came to the stream at this time or later (ISO 8601), or after the event of this `id`. `Last-Event-ID` comes before it.',
        examples: ['2026-01-31T09:30:00Z'],
      }),
    ),
  },
  { additionalProperties: false },
);

const description = `The workspace's events as they come, as Server-Sent Events; a publisher is told those of its own leads only. It never ends by itself.

Each has an \`id\`, its type as \`event\`, and as \`data\` the event in JSON (CloudEvents 1.0), in the order of the stream: those of one lead in the order of its versions. An event may come again, with the same \`id\` in its data.

To go on where it ended, without a gap, send the last \`id\` in \`Last-Event-ID\`, as an \`EventSource\` does; \`since\` begins at a time. Without both it begins with what comes from now. An \`id\` comes without an event as well: it tells how far the stream has been looked through.

Events are kept for some days. Where some have gone that should have been told, the answer is 410; on a stream that is open, the event \`gone\` with the body of an error, and the end. What changed meanwhile is in the list of leads, by \`updatedSince\`.

A comment comes every 15 s where nothing else does. A stream whose credentials are revoked ends within 10 s.`;

const example = `retry: 2000
:
id: lq3k1v2c-1a

id: lq3k1v2c-1b
event: lead.created
data: {"specversion":"1.0","type":"lead.created",...}

:

`;

/** Tells events as they come (Server-Sent Events; HTML, 9.2). */
export function streamEventsRoute(app: Server, context: CrmContext): void {
  const streams = limitStreams(app, context.metrics);
  app.get(
    '/events',
    {
      config: { permission: 'member', isEndless: true },
      schema: {
        operationId: 'streamEvents',
        tags: ['events'],
        summary: 'Follow events',
        description,
        querystring: EventQuery,
        headers: Type.Object({
          'last-event-id': Type.Optional(
            Type.String({
              maxLength: 64,
              description: 'The `id` of the last event that was received: begin after it.',
              examples: ['lq3k1v2c-1a'],
            }),
          ),
        }),
        response: {
          200: {
            description: 'Events, for as long as the client listens.',
            content: {
              'text/event-stream': {
                schema: Type.String({
                  description: 'The `data` of each event is one of `LeadEvent`; see `/asyncapi.json`.',
                }),
                examples: { stream: { value: example } },
              },
            },
          },
          ...errorResponses('invalid_input', 'events_gone', 'too_many_requests', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const start = startOf(request.headers['last-event-id'], request.query.since);
      const { events } = context;
      if (events === undefined) {
        throw new LeadsError('unavailable', { message: 'This service has no events: NATS_URL is not set' });
      }
      const stream = streams.begin(request.principal.apiKeyId);
      reply.raw.once('close', () => stream.abort());
      try {
        return await sendEvents(request, reply, { context, events, start, stream });
      } catch (error) {
        stream.abort();
        throw error;
      }
    },
  );
}

/** @throws LeadsError `invalid_input` */
function startOf(lastEventId: string | undefined, since: string | undefined): EventStart {
  // Whoever has had no event yet sends an empty one.
  if (lastEventId !== undefined && lastEventId !== '') {
    if (isEventId(lastEventId)) return { after: lastEventId };
    throw malformed('header', 'Last-Event-ID', 'must be the id of an event');
  }
  if (since === undefined) return 'now';
  if (isEventId(since)) return { after: since };
  const time = new Date(since);
  if (!/^\d{4}-\d\d-\d\d/.test(since) || Number.isNaN(time.getTime())) {
    throw malformed('query', 'since', 'must be a time (ISO 8601), or the id of an event');
  }
  return { since: time };
}

function malformed(at: 'header' | 'query', path: string, reason: string): LeadsError {
  return new LeadsError('invalid_input', { fields: [{ at, path, reason }] });
}

async function sendEvents(
  request: FastifyRequest<{ Querystring: Static<typeof EventQuery> }>,
  reply: FastifyReply,
  {
    context,
    events,
    start,
    stream,
  }: { context: CrmContext; events: EventReader; start: EventStart; stream: AbortController },
): Promise<FastifyReply> {
  let { principal } = request;
  const steps = await events.open({
    start,
    filter: {
      workspaceId: principal.workspaceId,
      types: request.query.type?.split(',') as LeadEventType[] | undefined,
      wants: (event) => isVisible(event, principal),
    },
    signal: stream.signal,
  });
  reply
    .type('text/event-stream; charset=utf-8')
    // nginx would keep events back until it has many.
    .header('x-accel-buffering', 'no');
  if (request.method === 'HEAD') {
    stream.abort();
    return reply.send('');
  }
  const ended = verifyAgain(request, context, stream, (verified) => (principal = verified));
  reply.raw.setTimeout(idleMs);
  return reply.send(Readable.from(textOf(steps, ended), { objectMode: false }));
}

function isVisible({ data: { lead } }: LeadEvent, principal: Principal): boolean {
  const { userId = lead.userId } = visibleTo(principal);
  return lead.userId === userId;
}

/**
 * Ends a stream whose credentials do not hold any more.
 *
 * @returns whether it was ended so.
 */
function verifyAgain(
  request: FastifyRequest,
  context: CrmContext,
  stream: AbortController,
  onVerified: (principal: Principal) => void,
): () => boolean {
  let verifiedAt = performance.now();
  let isRefused = false;
  const verify = async () => {
    try {
      const { principal } = await verifyApiKeyAndToken(request, context);
      verifiedAt = performance.now();
      onVerified(principal);
    } catch (error) {
      if (isOutage(error) && performance.now() - verifiedAt < unverifiedMs) return;
      isRefused = true;
      stream.abort();
    }
  };
  const timer = setInterval(() => void verify(), verifyMs);
  stream.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return () => isRefused;
}

async function* textOf(
  steps: AsyncGenerator<EventStep, void, undefined>,
  isRefused: () => boolean,
): AsyncGenerator<string> {
  let toldId: string | undefined;
  // At the beginning something is due: that it has begun.
  let toldAt = Number.NEGATIVE_INFINITY;
  yield `retry: ${retryMs}\n`;
  try {
    for await (const { id, event } of steps) {
      const isDue = performance.now() - toldAt > heartbeatMs - 1_000;
      if (event === undefined && id === toldId && !isDue) continue;
      const idLine = id === undefined ? '' : `id: ${id}\n`;
      toldId = id;
      toldAt = performance.now();
      yield event === undefined
        ? `:\n${idLine}\n`
        : `${idLine}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    }
    if (isRefused()) yield ': the credentials do not hold any more\n\n';
  } catch (error) {
    if (!(error instanceof LeadsError) || error.code !== 'events_gone') throw error;
    yield `event: gone\ndata: ${JSON.stringify(errorBody(error.code, error.message))}\n\n`;
  } finally {
    await steps.return();
  }
}
