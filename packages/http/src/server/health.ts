import { timedOut, withTimeout } from '@leads/core/with-timeout';
import { type Static, Type } from 'typebox';
import type { Server } from './create-server.ts';

/** The dependencies of a service by name, each with a check that rejects when the dependency is unavailable. */
export type HealthChecks = Readonly<Record<string, () => Promise<void>>>;

const State = Type.Enum(['up', 'down', 'behind']);
type State = Static<typeof State>;
const Health = (status: string, checks: Record<string, State>) =>
  Type.Object(
    { status: Type.Literal(status), checks: Type.Record(Type.String(), State) },
    { description: `The service is ${status}.`, examples: [{ status, checks }] },
  );

/** The timeout of one check. Load balancers and orchestrators often wait for 1 s only. */
const checkTimeoutMs = 750;

/**
 * Registers `/health/live`, which shows that the process answers, and `/health/ready`, which shows whether the service
 * can take requests and which dependencies are unavailable.
 *
 * @param options.needed whether the service needs all of the checked dependencies, or any of them.
 * @param options.checkSchema rejects if the database lacks a migration. The service is then not ready, and `schema` is
 *   `behind`.
 */
export async function healthRoutes(
  app: Server,
  checks: HealthChecks,
  { needed, checkSchema }: { needed: 'all' | 'any'; checkSchema: () => Promise<void> },
): Promise<void> {
  // Logs a missing migration at startup, before the first health check.
  app.addHook('onListen', async () => {
    await isUp(checkSchema);
  });

  app.get(
    '/health/live',
    {
      config: { permission: 'public', anyHost: true },
      logLevel: 'warn',
      schema: {
        operationId: 'getLiveness',
        tags: ['health'],
        summary: 'Is the process alive?',
        response: {
          200: Type.Object({ status: Type.Literal('live') }, { description: 'The process is alive.' }),
        },
      },
    },
    async () => ({ status: 'live' as const }),
  );

  app.get(
    '/health/ready',
    {
      config: { permission: 'public', anyHost: true },
      logLevel: 'warn',
      schema: {
        operationId: 'getReadiness',
        tags: ['health'],
        summary: 'Can the service take requests?',
        description:
          'Shows the state of each dependency. `schema` is `behind` if the database lacks a migration. Answers 503 from the moment the service receives the signal to stop.',
        response: {
          200: Health('ready', { database: 'up' }),
          503: Health('unavailable', { database: 'down' }),
        },
      },
    },
    async (_request, reply) => {
      const [isLevel, ...results] = await Promise.all([
        // A timeout does not mean that a migration is missing.
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

/**
 * Returns whether a check succeeds.
 *
 * @param ifLate the result when the check times out.
 */
async function isUp(check: () => Promise<void>, ifLate = false): Promise<boolean> {
  try {
    return (await withTimeout(checkTimeoutMs, check())) === timedOut ? ifLate : true;
  } catch {
    return false;
  }
}
