import {
  CampaignFigures,
  CampaignPublishers,
  countPublishersByCampaign,
  listCampaignFigures,
  listCampaignPublishers,
  PublishersByCampaign,
} from '@leads/core/overview';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the routes that return the campaigns with lead counts, and the publishers of campaigns. */
export function campaignFiguresRoutes(app: Server, context: CrmContext): void {
  app.get(
    '/campaign-figures',
    {
      config: { permission: 'member' },
      schema: {
        querystring: Type.Object(
          { user: Type.Optional(Type.String({ format: 'uuid', description: 'Only leads of this user.' })) },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Array(CampaignFigures),
          ...errorResponses('invalid_input', 'forbidden', ...sessionErrors),
        },
      },
    },
    ({ principal, query }) => listCampaignFigures(context, principal, query.user?.toLowerCase()),
  );
  app.get(
    '/campaign-publishers',
    {
      config: { permission: 'readAllLeads' },
      schema: { response: { 200: PublishersByCampaign, ...errorResponses(...sessionErrors) } },
    },
    ({ principal }) => countPublishersByCampaign(context, principal),
  );
  app.get(
    '/campaigns/:id/publishers',
    {
      config: { permission: 'readAllLeads' },
      schema: {
        params: Type.Object({ id: Type.String() }),
        response: { 200: CampaignPublishers, ...errorResponses('not_found', ...sessionErrors) },
      },
    },
    ({ principal, params }) => listCampaignPublishers(context, principal, params.id),
  );
}
