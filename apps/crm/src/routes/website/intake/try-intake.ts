import { LeadsError } from '@leads/core/errors';
import { IntakeTry, IntakeTryAnswer } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import type { CrmConfig } from '../../../config.ts';

/** The timeout of the intake, in milliseconds. */
const timeoutMs = 10_000;

/**
 * Registers the route that sends a test lead to the intake. The website needs it because its content security policy
 * prevents requests to another service.
 */
export function tryIntakeRoute(
  app: Server,
  { INTAKE_URL, INTAKE_INTERNAL_URL = INTAKE_URL }: CrmConfig,
): void {
  app.post(
    '/try-intake',
    {
      config: { permission: 'member' },
      schema: {
        body: IntakeTry,
        response: {
          200: IntakeTryAnswer,
          ...errorResponses(...bodyErrors, 'conflict', ...sessionErrors),
        },
      },
    },
    async ({ body: { apiKey, origin, lead } }) => {
      if (INTAKE_INTERNAL_URL === undefined) {
        throw new LeadsError('conflict', {
          message: 'The intake service is not configured: INTAKE_URL is not set',
        });
      }
      try {
        const answer = await fetch(`${INTAKE_INTERNAL_URL}/api/v1/leads`, {
          method: 'POST',
          headers: {
            API_KEY: apiKey,
            'content-type': 'application/json',
            ...(origin !== undefined && { origin }),
          },
          body: JSON.stringify(lead),
          redirect: 'manual',
          signal: AbortSignal.timeout(timeoutMs),
        });
        return { status: answer.status, body: (await answer.text()).slice(0, 10_000) };
      } catch (cause) {
        throw new LeadsError('unavailable', { message: 'The intake service does not answer', cause });
      }
    },
  );
}
