import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';

const ClientError = Type.Object(
  {
    message: Type.String({ maxLength: 1000 }),
    stack: Type.Optional(Type.String({ maxLength: 8000 })),
    page: Type.Optional(Type.String({ maxLength: 255, description: 'The page, without its query.' })),
  },
  { additionalProperties: false },
);

/** So many reports are written by this process in so many milliseconds: anyone may send them, signed in or not. */
const maxReports = 60;
const windowMs = 60_000;

/** Write to the log what went wrong in a browser. */
export function reportClientErrorRoute(app: Server): void {
  let since = 0;
  let reports = 0;
  app.post(
    '/client-errors',
    { schema: { body: ClientError, response: { 200: Type.Object({ success: Type.Literal(true) }) } } },
    async (request) => {
      const now = Date.now();
      if (now - since >= windowMs) {
        since = now;
        reports = 0;
      }
      reports += 1;
      if (reports > maxReports) {
        throw new LeadsError('too_many_requests', {
          message: 'Too many reports',
          retryAfterSeconds: Math.ceil((since + windowMs - now) / 1000),
        });
      }
      request.log.error({ clientError: request.body }, 'An error in a browser');
      return { success: true as const };
    },
  );
}
