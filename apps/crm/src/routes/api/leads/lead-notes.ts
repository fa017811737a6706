import {
  addLeadNote,
  LeadNote,
  LeadNoteAdded,
  LeadNoteQuery,
  listLeadNotes,
  NewLeadNote,
} from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { linkHeader, linkNextPage } from '../page-links.ts';

/** Registers the routes that add and list the notes of one lead. */
export function leadNotesRoutes(app: Server, context: CrmContext): void {
  app.post(
    '/order/leads/:id/notes',
    {
      config: { permission: 'writeNotes', scope: 'leads:write' },
      schema: {
        operationId: 'addLeadNote',
        tags: ['leads'],
        summary: 'Add a note to one lead',
        description:
          'Adds a note, or a reply to a note. It is an entry of the history, and an event `lead.note_added`; neither contains the text. The note is deleted together with the lead. Publishers cannot see notes. Requires the role owner or manager.',
        params: idPath('lead'),
        body: NewLeadNote,
        response: {
          200: LeadNoteAdded,
          ...errorResponses(...bodyErrors, 'not_found', ...commonErrors),
        },
      },
    },
    async ({ principal, params, body, span }) => {
      const added = await addLeadNote(context, principal, params.id, {
        ...body,
        traceparent: span?.traceparent,
      });
      return { success: true as const, ...added };
    },
  );

  app.get(
    '/order/leads/:id/notes',
    {
      config: { permission: 'readInternals', scope: 'leads:read' },
      schema: {
        operationId: 'listLeadNotes',
        tags: ['leads'],
        summary: 'List the notes of one lead, newest first',
        description:
          'The `Link` header contains the URL of the next page. Requires the role owner or manager.',
        params: idPath('lead'),
        querystring: LeadNoteQuery,
        response: {
          200: Type.Array(LeadNote, {
            description: 'One page of notes, newest first.',
            headers: { Link: linkHeader },
          }),
          ...errorResponses('invalid_input', 'invalid_cursor', 'not_found', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { principal, params, query } = request;
      const { notes, nextCursor } = await listLeadNotes(context, principal, params.id, query);
      linkNextPage(request, reply, query, nextCursor);
      return notes;
    },
  );
}
