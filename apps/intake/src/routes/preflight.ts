import { answerPreflight } from '@leads/http/server/cors';
import type { Server } from '@leads/http/server/create-server';

const text = (description: string) => ({ type: 'string', description }) as const;

/** What browsers ask before a page's script may send a lead (Fetch, 4.8: CORS-preflight fetch). */
export function preflightRoute(app: Server): void {
  app.options(
    '/api/v1/leads',
    {
      config: { permission: 'public' },
      schema: {
        operationId: 'preflightLead',
        tags: ['leads'],
        summary: 'What browsers ask before a page may send a lead',
        description:
          'The CORS preflight, answered alike to every page: it does not carry the API key. The answer to the lead itself can be read by the pages that its key is bound to, and by no others.',
        response: {
          204: {
            type: 'null',
            description: 'Which methods and headers a page may send.',
            headers: {
              'Access-Control-Allow-Origin': text('Any page may ask.'),
              'Access-Control-Allow-Methods': text('The method of a page.'),
              'Access-Control-Allow-Headers': text('The headers that a page may send.'),
              'Access-Control-Max-Age': { type: 'integer', description: 'How long this holds, in seconds.' },
            },
          },
        },
      },
    },
    async (_request, reply) => answerPreflight(reply).send(),
  );
}
