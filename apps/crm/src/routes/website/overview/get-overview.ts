import {
  Countries,
  CountryQuery,
  getCountries,
  getOverview,
  getOverviewPayouts,
  getPublisherPayouts,
  getSubIdPayouts,
  Overview,
  OverviewPayouts,
  OverviewQuery,
  PayoutsByValue,
  PublisherPayoutsQuery,
} from '@leads/core/overview';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';

/** Registers the routes that return the overview of a range of days: lead counts and rates, counts by country, payouts. */
export function getOverviewRoute(app: Server, context: CrmContext): void {
  app.get(
    '/overview',
    {
      config: { permission: 'member' },
      schema: {
        querystring: OverviewQuery,
        response: { 200: Overview, ...errorResponses('invalid_input', ...sessionErrors) },
      },
    },
    (request) => getOverview(context.overview, request.principal, request.query),
  );
  app.get(
    '/overview/countries',
    {
      config: { permission: 'member' },
      schema: {
        querystring: CountryQuery,
        response: { 200: Countries, ...errorResponses('invalid_input', ...sessionErrors) },
      },
    },
    (request) => getCountries(context.overview, request.principal, request.query),
  );
  app.get(
    '/overview/payouts',
    {
      config: { permission: 'member' },
      schema: {
        querystring: OverviewQuery,
        response: { 200: OverviewPayouts, ...errorResponses('invalid_input', ...sessionErrors) },
      },
    },
    (request) => getOverviewPayouts(context.overview, request.principal, request.query),
  );
  app.get(
    '/overview/publisher-payouts',
    {
      config: { permission: 'readAllLeads' },
      schema: {
        querystring: PublisherPayoutsQuery,
        response: { 200: PayoutsByValue, ...errorResponses('invalid_input', ...sessionErrors) },
      },
    },
    (request) => getPublisherPayouts(context.overview, request.principal, request.query),
  );
  app.get(
    '/overview/sub-id-payouts',
    {
      config: { permission: 'member' },
      schema: {
        querystring: CountryQuery,
        response: { 200: PayoutsByValue, ...errorResponses('invalid_input', ...sessionErrors) },
      },
    },
    (request) => getSubIdPayouts(context.overview, request.principal, request.query),
  );
}
