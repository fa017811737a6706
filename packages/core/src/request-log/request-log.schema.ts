import { type Static, Type } from 'typebox';
import { dateTime, id } from '../fields.ts';
import { pageParameters } from '../paging.ts';
import { loggedServices, statusClasses } from './request-log-store.ts';

/** The query of the request log of an API key. */
export const RequestLogQuery = Type.Object(
  {
    status: Type.Optional(
      Type.Enum([...statusClasses], {
        description: 'Only responses of this class: below 400, from 400 to 499, from 500.',
      }),
    ),
    service: Type.Optional(Type.Enum([...loggedServices], { description: 'Only requests to this service.' })),
    ...pageParameters('Requests'),
  },
  { additionalProperties: false },
);
export type RequestLogQuery = Static<typeof RequestLogQuery>;

const count = (description: string) => Type.Integer({ description, examples: [3] });

/** A page of the request log of an API key. */
export const RequestLogPage = Type.Object({
  requests: Type.Array(
    Type.Object(
      {
        id: id('Unique identifier of the request in the log (UUID).'),
        at: dateTime('When the response ended.'),
        service: Type.Enum([...loggedServices], {
          description: 'The service: the CRM API or the intake.',
          examples: ['intake'],
        }),
        method: Type.String({ description: 'The HTTP method.', examples: ['POST'] }),
        route: Type.String({ description: 'The pattern of the route.', examples: ['/api/v1/leads'] }),
        status: Type.Integer({
          description: 'The HTTP status. 499 if the client disconnected before the response.',
          examples: [200],
        }),
        code: Type.Optional(
          Type.String({ description: 'The problem code of an error.', examples: ['invalid_input'] }),
        ),
        durationMs: Type.Number({
          description: 'From the headers of the request to the end of the response, in milliseconds.',
          examples: [3.2],
        }),
      },
      { additionalProperties: false, description: 'A request with the API key.' },
    ),
  ),
  unlistedToday: count('The requests of the current UTC day that are counted, but not in the log.'),
});
export type RequestLogPage = Static<typeof RequestLogPage>;

/** The requests of an API key by UTC day. Days without requests are absent. */
export const KeyUsage = Type.Object({
  days: Type.Array(
    Type.Object(
      {
        day: Type.String({ description: 'The UTC day.', examples: ['2026-01-31'] }),
        success: count('Responses below 400.'),
        clientErrors: count('Responses from 400 to 499.'),
        serverErrors: count('Responses from 500.'),
        unlisted: count('The requests of these that are not in the request log.'),
      },
      { additionalProperties: false, description: 'The requests of one day.' },
    ),
  ),
});
export type KeyUsage = Static<typeof KeyUsage>;
