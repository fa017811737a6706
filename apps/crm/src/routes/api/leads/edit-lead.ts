import { editLead, LeadEdited, LeadPatch } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { ofRequest } from '@leads/http/service/trace-leads';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { etagHeader, etagOf, IfMatch, versionsOf } from './lead-version.ts';

/** Change fields and status of one lead. */
export function editLeadRoute(app: Server, context: CrmContext): void {
  app.patch(
    '/order/leads/:id',
    {
      config: { permission: 'member' },
      schema: {
        operationId: 'editLead',
        tags: ['leads'],
        summary: 'Change one lead',
        description:
          'Changes the fields that are given, and the status. OnHold goes to Approved or Trashed; Approved to Paid, OnHold or Trashed; Trashed to OnHold; Paid to Approved, by an owner. Into Trashed and out of Paid a `reason` is required. Publishers change no status. With `If-Match` the lead is changed only in the version that was looked at.',
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
      const { principal, params, body } = request;
      const { lead, extraLeftOut } = await editLead(
        ofRequest(context.leads, request),
        principal,
        params.id,
        body,
        versions,
      );
      if (extraLeftOut > 0)
        request.log.warn({ extraLeftOut }, 'Fields beyond the bounds of extra were left out');
      reply.header('etag', etagOf(lead));
      return { success: true as const, lead };
    },
  );
}
