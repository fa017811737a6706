import type { Server } from '@leads/http/server';
import { Type } from 'typebox';

const ClientError = Type.Object(
  {
    message: Type.String({ maxLength: 1000 }),
    stack: Type.Optional(Type.String({ maxLength: 8000 })),
    page: Type.Optional(Type.String({ maxLength: 255, description: 'The page, without its query.' })),
  },
  { additionalProperties: false },
);

/** Write to the log what went wrong in a browser. */
export function reportClientErrorRoute(app: Server): void {
  app.post(
    '/client-errors',
    { schema: { body: ClientError, response: { 200: Type.Object({ success: Type.Literal(true) }) } } },
    async (request) => {
      request.log.error({ clientError: request.body }, 'An error in a browser');
      return { success: true as const };
    },
  );
}
