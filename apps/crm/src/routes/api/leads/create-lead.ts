import { createLead, IdempotencyKey, LeadCreated, NewLead } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { sinkWithTraceparent } from '@leads/http/service/trace-leads';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that creates a lead in a campaign (specification, 4.1). */
export function createLeadRoute(app: Server, context: CrmContext): void {
  app.post(
    '/order/leads',
    {
      config: { permission: 'member', scope: 'leads:write' },
      schema: {
        operationId: 'createLead',
        tags: ['leads'],
        summary: 'Create a lead in a campaign',
        headers: Type.Object({ 'idempotency-key': Type.Optional(IdempotencyKey) }),
        body: NewLead,
        response: {
          200: LeadCreated,
          ...errorResponses(...bodyErrors, 'campaign_unavailable', 'idempotency_key_reused', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { lead, extraLeftOut } = await createLead(
        {
          campaigns: context.campaignCodes,
          leads: context.leads,
          sink: sinkWithTraceparent(context.leadBatcher, request),
        },
        request.principal,
        request.body,
        request.headers['idempotency-key'],
      );
      if (extraLeftOut > 0)
        request.log.warn({ extraLeftOut }, 'Fields that exceed the limits of extra were not stored');
      return { success: true as const, lead };
    },
  );
}
