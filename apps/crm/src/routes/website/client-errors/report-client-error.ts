import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import { listScripts } from '../files/built-website.ts';
import { ClientError, describeClientError } from './describe-client-error.ts';

/** The most reports that this process logs in a window. The limit is needed because the route requires no session. */
const maxReports = 60;
const windowMs = 60_000;

/** Registers the route that logs a browser error. */
export function reportClientErrorRoute(app: Server): void {
  const scripts = new Set(listScripts());
  let since = 0;
  let reports = 0;
  app.post(
    '/client-errors',
    {
      config: { permission: 'public' },
      schema: {
        body: ClientError,
        response: {
          200: Type.Object({ success: Type.Literal(true) }),
          ...errorResponses(...bodyErrors, 'forbidden', 'too_many_requests', 'unexpected'),
        },
      },
    },
    async (request) => {
      const now = Date.now();
      if (now - since >= windowMs) {
        since = now;
        reports = 0;
      }
      reports += 1;
      if (reports > maxReports) {
        throw new LeadsError('too_many_requests', {
          message: 'Too many error reports: try again later',
          retryAfterSeconds: Math.ceil((since + windowMs - now) / 1000),
        });
      }
      const clientError = describeClientError(request.body, scripts);
      request.log.error({ clientError }, 'Browser error reported');
      return { success: true as const };
    },
  );
}
