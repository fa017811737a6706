import { timedOut, withTimeout } from '@leads/core/with-timeout';
import { type Static, Type } from 'typebox';
import type { Server } from './create-server.ts';

/** What the service works with, and how to ask whether it is there. */
export type HealthChecks = Readonly<Record<string, () => Promise<void>>>;

const State = Type.Enum(['up', 'down', 'behind']);
type State = Static<typeof State>;
const Health = (status: string, checks: Record<string, State>) =>
  Type.Object(
    { status: Type.Literal(status), checks: Type.Record(Type.String(), State) },
    { description: `The service is ${status}.`, examples: [{ status, checks }] },
  );

/** Who asks waits for a second, often; what does not answer before is not there. */
const checkTimeoutMs = 750;

/**
 * `/health/live`: the process answers. `/health/ready`: it can take requests; if not, what is missing.
 *
 * @param options.needed whether the service needs all of what is checked, or any of it.
 * @param options.checkSchema fails where the database lacks a migration: then the service is not ready in any case, and
 *   `schema` is `behind`.
 */
export async function healthRoutes(
  app: Server,
  checks: HealthChecks,
  { needed, checkSchema }: { needed: 'all' | 'any'; checkSchema: () => Promise<void> },
): Promise<void> {
  // So that the log tells before anyone asks.
  app.addHook('onListen', async () => {
    await isUp(checkSchema);
  });

  app.get(
    '/health/live',
    {
      config: { permission: 'public' },
      logLevel: 'warn',
      schema: {
        operationId: 'getLiveness',
        tags: ['health'],
        summary: 'Is the process alive?',
        response: { 200: Type.Object({ status: Type.Literal('live') }, { description: 'It is.' }) },
      },
    },
    async () => ({ status: 'live' as const }),
  );

  app.get(
    '/health/ready',
    {
      config: { permission: 'public' },
      logLevel: 'warn',
      schema: {
        operationId: 'getReadiness',
        tags: ['health'],
        summary: 'Can the service take requests?',
        description:
          'Says which dependency is away, and whether the `schema` of the database is `behind`. Answers 503 from the moment the service is told to stop.',
        response: {
          200: Health('ready', { database: 'up' }),
          503: Health('unavailable', { database: 'down' }),
        },
      },
    },
    async (_request, reply) => {
      const [isLevel, ...results] = await Promise.all([
        // A database that does not answer may well have it.
        isUp(checkSchema, true),
        ...Object.entries(checks).map(async ([name, check]) => [name, await isUp(check)] as const),
      ]);
      const states: Record<string, State> = Object.fromEntries(
        results.map(([name, up]) => [name, up ? 'up' : 'down']),
      );
      if (!isLevel) states['schema'] = 'behind';
      const { starting, draining } = app.lifecycle;
      const isEquipped = needed === 'all' ? results.every(([, up]) => up) : results.some(([, up]) => up);
      const ready = !starting && !draining && isEquipped && isLevel;
      return ready
        ? reply.code(200).send({ status: 'ready', checks: states })
        : reply.code(503).send({ status: 'unavailable', checks: states });
    },
  );
}

/** @param ifLate what it counts as when it takes too long. */
async function isUp(check: () => Promise<void>, ifLate = false): Promise<boolean> {
  try {
    return (await withTimeout(checkTimeoutMs, check())) === timedOut ? ifLate : true;
  } catch {
    return false;
  }
}
