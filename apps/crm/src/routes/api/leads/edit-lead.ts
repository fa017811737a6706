import { editLead, LeadEdited, LeadPatch, withStatus } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { withTraceparent } from '@leads/http/service/trace-leads';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { etagHeader, etagOf, IfMatch, versionsOf } from './lead-version.ts';

/** Registers the route that changes fields and the status of one lead. */
export function editLeadRoute(app: Server, context: CrmContext): void {
  app.patch(
    '/order/leads/:id',
    {
      config: { permission: 'member', scope: 'leads:write' },
      schema: {
        operationId: 'editLead',
        tags: ['leads'],
        summary: 'Change one lead',
        description:
          'Changes the given fields and the status. Allowed changes of the status: OnHold to Approved or Trashed; Approved to Paid, OnHold or Trashed; Trashed to OnHold; Paid to Approved, by an owner only. A change to Trashed or from Paid requires a `reason`. `payout` sets an amount for this lead while it is OnHold or Approved, and requires a `reason`. Publishers cannot change the status, the hold, the payout, the assignee and the call-back. A change of the status, the hold or the payout also requires the scope `leads:status`. With `If-Match`, the lead is changed only if its version matches.',
        params: idPath('lead'),
        headers: Type.Object({ 'if-match': Type.Optional(IfMatch) }),
        body: LeadPatch,
        response: {
          200: { ...LeadEdited, headers: { ETag: etagHeader } },
          ...errorResponses(
            ...bodyErrors,
            'bad_request',
            'reason_required',
            'not_found',
            'conflict',
            'precondition_failed',
            ...commonErrors,
          ),
        },
      },
    },
    async (request, reply) => {
      const versions = versionsOf(request.headers['if-match']);
      const { principal, params } = request;
      const { status, ...fields } = request.body;
      const patch =
        status === undefined
          ? fields
          : await withStatus(context.statusAliases, principal, { ...fields, status });
      const { lead, extraLeftOut } = await editLead(
        { leads: withTraceparent(context.leads, request), workspaces: context.workspaces },
        principal,
        params.id,
        patch,
        versions,
      );
      if (extraLeftOut > 0)
        request.log.warn({ extraLeftOut }, 'Fields that exceed the limits of extra were not stored');
      reply.header('etag', etagOf(lead));
      return { success: true as const, lead };
    },
  );
}
