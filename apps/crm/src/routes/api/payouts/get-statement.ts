import { getStatement, Statement, StatementQuery, statementToCsv } from '@leads/core/payout';
import { preferredType } from '@leads/http/server/accept';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { csvType } from '../send-file.ts';

/** Registers the route of statements. */
export function getStatementRoute(app: Server, context: CrmContext): void {
  app.get(
    '/statements',
    {
      config: { permission: 'member', scope: 'leads:read' },
      schema: {
        operationId: 'getStatement',
        tags: ['campaigns'],
        summary: 'Read the statements of publishers',
        description:
          'Returns the numbers and the payouts of the leads that were created in a range of days, by publisher, campaign, status and currency. The status is the present one. Amounts of different currencies are never added. A publisher gets only its own statement. With `Accept: text/csv`, the response has one line for each item.',
        querystring: StatementQuery,
        response: {
          200: {
            description: 'The statements.',
            headers: {
              'Content-Disposition': {
                description: 'The name of the file: `statement-`, the date, and `.csv`.',
                type: 'string',
              },
            },
            content: {
              'application/json': { schema: Statement },
              'text/csv': {
                schema: Type.String({
                  description: 'Every item, as CSV (RFC 4180) with a header line.',
                  examples: ['userId,name,campaignId,campaignCode,status,currency,leads,amount\r\n'],
                }),
              },
            },
          },
          ...errorResponses('invalid_input', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { query, principal } = request;
      const statement = await getStatement(context, principal, query);
      reply.header('vary', 'Accept');
      if (preferredType(request.headers.accept, ['application/json', csvType]) !== csvType) return statement;
      const name = `statement-${new Date().toISOString().slice(0, 10)}.csv`;
      return reply
        .type(csvType)
        .header('content-disposition', `attachment; filename="${name}"`)
        .send(statementToCsv(statement));
    },
  );
}
