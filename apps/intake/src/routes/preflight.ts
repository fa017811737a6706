import { answerPreflight } from '@leads/http/server/cors';
import type { Server } from '@leads/http/server/create-server';

const text = (description: string) => ({ type: 'string', description }) as const;

/** Registers the CORS preflight (Fetch, 4.8: CORS-preflight fetch). Browsers send it before a script may send a lead. */
export function preflightRoute(app: Server): void {
  app.options(
    '/api/v1/leads',
    {
      config: { permission: 'public' },
      schema: {
        operationId: 'preflightLead',
        tags: ['leads'],
        summary: 'CORS preflight of a lead',
        description:
          'Browsers send it before a page may send a lead. The answer is the same for every page, because a preflight has no API key. Only the pages that the key is bound to can read the answer to the lead.',
        response: {
          204: {
            type: 'null',
            description: 'The methods and headers that a page may send.',
            headers: {
              'Access-Control-Allow-Origin': text('`*`, for any page.'),
              'Access-Control-Allow-Methods': text('The method that a page may use.'),
              'Access-Control-Allow-Headers': text('The headers that a page may send.'),
              'Access-Control-Max-Age': {
                type: 'integer',
                description: 'How long the browser may cache the answer, in seconds.',
              },
            },
          },
        },
      },
    },
    async (_request, reply) => answerPreflight(reply).send(),
  );
}
