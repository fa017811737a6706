import { createThrottle } from '@leads/core/account';
import { clientAddress, type Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses } from '@leads/http/server/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { CrmContext } from '../../context.ts';
import { errorOf } from './library-errors.ts';
import { libraryPaths } from './library-paths.ts';
import { accountHeaders, setCookies } from './session.ts';

/** The responses of the library differ by path. */
const LibraryAnswer = Type.Object({}, { additionalProperties: true });
const errors = errorResponses(
  ...bodyErrors,
  'bad_request',
  'unauthenticated',
  'forbidden',
  'confirmation_required',
  'email_unverified',
  'invitation_required',
  'not_found',
  'limit_reached',
  'too_many_requests',
  'unexpected',
  'unavailable',
);

/** Registers `/api/auth/...`, which the account library handles. Its errors have the format of all other errors. */
export function libraryRoutes(app: Server, { accounts, accountStore }: CrmContext, publicUrl: string): void {
  const throttle = createThrottle(accountStore);

  for (const method of ['GET', 'POST'] as const) {
    for (const [path, { permission, limited, ...schema }] of Object.entries(libraryPaths[method])) {
      app.route({
        method,
        url: `/auth${path}`,
        config: { permission },
        schema: { ...schema, response: { 200: LibraryAnswer, ...errors } },
        async handler(request, reply) {
          const recipient = limited === 'mail' ? (request.body as { email: string }).email : undefined;
          if (limited !== undefined) await throttle.attempt(clientAddress(request), recipient);
          const answer = await accounts.handle(toLibrary(request, publicUrl));
          return toAnswer(answer, request, reply);
        },
      });
    }
  }
}

function toLibrary(request: FastifyRequest, publicUrl: string): Request {
  const headers = accountHeaders(request);
  const isPost = request.method === 'POST';
  if (isPost) headers.set('content-type', 'application/json');
  return new Request(new URL(request.url, publicUrl), {
    method: request.method,
    headers,
    ...(isPost && { body: JSON.stringify(request.body) }),
  });
}

/** Removes the session token from a response: it is sent only in a cookie that scripts cannot read. */
function withoutToken({ token, ...content }: Record<string, unknown>): Record<string, unknown> {
  return token === undefined ? content : { ...content, signedIn: token !== null };
}

async function toAnswer(
  answer: Response,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Record<string, unknown>> {
  setCookies(reply, answer.headers.getSetCookie());
  const content: unknown = (answer.headers.get('content-type') ?? '').includes('json')
    ? await answer.json()
    : null;
  if (!answer.ok) throw errorOf(answer, content, request.body);
  return withoutToken((content ?? {}) as Record<string, unknown>);
}
