import { IdempotencyKey, IntakeLead, submitLead } from '@leads/core/lead';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/errors';
import { clientAddress, type Server } from '@leads/http/server';
import { Type } from 'typebox';
import type { IntakeContext } from '../context.ts';

/** The answer of the intake (specification, 2.4). */
const Submitted = Type.Object(
  {
    success: Type.Literal(true),
    order_id: Type.String({
      description: 'Identifier of the stored lead (UUID).',
      examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
    }),
  },
  { additionalProperties: false, description: 'The lead is stored.' },
);

/** Create a lead from a landing page (specification, 4.3). */
export function submitLeadRoute(app: Server, context: IntakeContext): void {
  app.post(
    '/api/v1/leads',
    {
      schema: {
        operationId: 'submitLead',
        tags: ['leads'],
        summary: 'Create a lead from a landing page',
        description:
          "The lead goes to the campaign its landing page is mapped to, else to the API key's default campaign, else to the workspace's.",
        headers: Type.Object({ 'idempotency-key': Type.Optional(IdempotencyKey) }),
        body: IntakeLead,
        response: { 200: Submitted, ...errorResponses(...bodyErrors, ...commonErrors) },
      },
    },
    async (request) => {
      const { id, extraLeftOut } = await submitLead(
        context,
        request.principal,
        request.body,
        clientAddress(request),
        request.headers['idempotency-key'],
      );
      if (extraLeftOut > 0)
        request.log.warn({ extraLeftOut }, 'Fields beyond the bounds of extra were left out');
      return { success: true as const, order_id: id };
    },
  );
}
