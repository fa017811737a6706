import { isBrowserKey } from '@leads/core/credential';
import { IdempotencyKey, IntakeLead, keyOwnerOf, leadIdFor, submitLead } from '@leads/core/lead';
import { clientAddress, type Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { formMediaType } from '@leads/http/server/media-types';
import { sinkWithTraceparent } from '@leads/http/service/trace-leads';
import { Type } from 'typebox';
import type { IntakeContext } from '../context.ts';
import { type FormControls, isFilledIn, LandingForm, redirectTarget, withOrderId } from './landing-form.ts';

/** The successful answer (specification, 2.4). */
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

/** Registers the route that creates a lead from a landing page (specification, 4.3). */
export function submitLeadRoute(app: Server, context: IntakeContext): void {
  let trapped = 0;
  context.metrics.counter(
    { name: 'lead_honeypots_total', help: 'Leads not stored because the honeypot was filled in.' },
    () => trapped,
  );
  app.post(
    '/api/v1/leads',
    {
      schema: {
        operationId: 'submitLead',
        tags: ['leads'],
        summary: 'Create a lead from a landing page',
        description:
          "The lead goes to the campaign of its landing page, else to the API key's default campaign, else to the workspace's default campaign. A key of the scope `intake` that is bound to web origins may be public in a web page. It is accepted only with the `Origin` of such a page. The scripts of the page may read the answer (CORS), including errors. A plain form may send the key in the query.",
        headers: Type.Object({ 'idempotency-key': Type.Optional(IdempotencyKey) }),
        body: IntakeLead,
        response: {
          200: Submitted,
          303: {
            type: 'null',
            description: 'The lead of a form is stored, and the visitor is redirected to `redirect`.',
            headers: {
              Location: {
                type: 'string',
                description: 'The URL of `redirect`, with `order_id` in its query.',
              },
            },
          },
          ...errorResponses(...bodyErrors, 'idempotency_key_reused', ...commonErrors),
        },
      },
      config: {
        permission: 'member',
        scope: 'intake',
        // One schema validates both media types. The document also describes the control fields of a form.
        swaggerTransform: ({ schema, url }) => ({
          url,
          schema: {
            ...schema,
            body: {
              content: {
                'application/json': { schema: IntakeLead },
                [formMediaType]: { schema: LandingForm },
              },
            },
          },
        }),
      },
    },
    async (request, reply) => {
      const { principal } = request;
      const idempotencyKey = request.headers['idempotency-key'];
      const store = async (lead: IntakeLead): Promise<string> => {
        const { id, extraLeftOut } = await submitLead(
          { routes: context.routes, leads: sinkWithTraceparent(context.leads, request) },
          principal,
          lead,
          clientAddress(request),
          idempotencyKey,
        );
        if (extraLeftOut > 0) {
          request.log.warn({ extraLeftOut }, 'Fields that exceed the limits of extra were not stored');
        }
        return id;
      };
      if (!isBrowserKey(principal)) return { success: true as const, order_id: await store(request.body) };

      const { _gotcha: honeypot, redirect, ...lead }: IntakeLead & FormControls = request.body;
      // The redirect is validated before the lead is stored, so that a retry after an error does not create a second lead.
      const target =
        redirect === undefined || request.mediaType !== formMediaType
          ? undefined
          : redirectTarget(redirect, principal.allowedOrigins ?? []);
      const isTrapped = isFilledIn(honeypot);
      if (isTrapped) {
        trapped += 1;
        request.log.info('The honeypot is filled in; the lead is not stored');
      }
      const id = isTrapped ? leadIdFor(keyOwnerOf(principal), idempotencyKey) : await store(lead);
      return target === undefined
        ? { success: true as const, order_id: id }
        : reply
            // The landing page's own analytics read the referrer.
            .header('referrer-policy', 'strict-origin-when-cross-origin')
            .redirect(withOrderId(target, id), 303);
    },
  );
}
