import { changeStatuses, LeadStatus, StatusChange } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, ErrorBody, errorResponses } from '@leads/http/server/errors';
import { ofRequest } from '@leads/http/service/trace-leads';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

const Changed = Type.Object(
  {
    success: Type.Literal(true),
    changed: Type.Integer({ description: 'How many leads were changed.', examples: [1] }),
    refused: Type.Integer({ description: 'How many were not.', examples: [0] }),
    results: Type.Array(
      Type.Object(
        {
          id: Type.String({
            description: 'The lead.',
            examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
          }),
          success: Type.Boolean({ description: 'Whether it was changed.' }),
          status: Type.Optional(LeadStatus),
          version: Type.Optional(
            Type.Integer({ description: 'The version of the lead that this change made.', examples: [2] }),
          ),
          error: Type.Optional(
            Type.Enum(ErrorBody.properties.error.enum, {
              description: 'Of one that was not changed: a short kind.',
              examples: ['validation'],
            }),
          ),
          message: Type.Optional(
            Type.String({
              description: 'Of one that was not changed: why.',
              examples: ['A lead cannot go from Paid to OnHold'],
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { description: 'What became of each lead, in the order of `ids`.', examples: [[]] },
    ),
  },
  { additionalProperties: false, description: 'What became of each lead.' },
);

/** Change the status of many leads. */
export function changeStatusesRoute(app: Server, context: CrmContext): void {
  app.post(
    '/order/leads/status',
    {
      schema: {
        operationId: 'changeStatuses',
        tags: ['leads'],
        summary: 'Change the status of many leads',
        description:
          'Each lead is changed, or not, for itself, by the rules of a single change; the answer says what became of each. Owners and managers only.',
        body: StatusChange,
        response: { 200: Changed, ...errorResponses(...bodyErrors, ...commonErrors) },
      },
    },
    async (request) => {
      const { status } = request.body;
      const outcomes = await changeStatuses(
        ofRequest(context.leads, request),
        request.principal,
        request.body,
      );
      const results = outcomes.map((outcome) =>
        'error' in outcome
          ? { id: outcome.id, success: false, error: outcome.error.kind, message: outcome.error.message }
          : { id: outcome.id, success: true, status, version: outcome.version },
      );
      const changed = results.filter(({ success }) => success).length;
      return { success: true as const, changed, refused: results.length - changed, results };
    },
  );
}
