import { createThrottle } from '@leads/core/account';
import { type ErrorCode, errorTable, LeadsError } from '@leads/core/errors';
import { clientAddress, type Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses } from '@leads/http/server/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { CrmContext } from '../../context.ts';
import { libraryPaths } from './library-paths.ts';
import { accountHeaders, setCookies } from './session.ts';

/** The library's answers differ from path to path. */
const LibraryAnswer = Type.Object({}, { additionalProperties: true });
const errors = errorResponses(
  ...bodyErrors,
  'bad_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'too_many_requests',
  'unexpected',
  'unavailable',
);

/** `/api/auth/...`: accounts, by their library. Its errors are answered as all others are. */
export function libraryRoutes(app: Server, { accounts, accountStore }: CrmContext, publicUrl: string): void {
  const throttle = createThrottle(accountStore);

  for (const method of ['GET', 'POST'] as const) {
    for (const [path, { permission, guesses, ...schema }] of Object.entries(libraryPaths[method])) {
      app.route({
        method,
        url: `/auth${path}`,
        config: { permission },
        schema: { ...schema, response: { 200: LibraryAnswer, ...errors } },
        async handler(request, reply) {
          const account = guesses === 'account' ? (request.body as { email: string }).email : undefined;
          if (guesses !== undefined) await throttle.attempt(clientAddress(request), account);
          const answer = await accounts.handle(toLibrary(request, publicUrl));
          if (answer.ok && account !== undefined && path === '/sign-in/email')
            await throttle.succeed(account);
          return toAnswer(answer, reply);
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

/** The token of a session is in a cookie that scripts cannot read, and nowhere else. */
function withoutToken({ token, ...content }: Record<string, unknown>): Record<string, unknown> {
  return token === undefined ? content : { ...content, signedIn: token !== null };
}

/** The error codes of the library's statuses; any other status of 4xx is `bad_request`. */
const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  429: 'too_many_requests',
};

async function toAnswer(answer: Response, reply: FastifyReply): Promise<Record<string, unknown>> {
  setCookies(reply, answer.headers.getSetCookie());
  const content: unknown = (answer.headers.get('content-type') ?? '').includes('json')
    ? await answer.json()
    : null;
  if (answer.ok) return withoutToken((content ?? {}) as Record<string, unknown>);
  if (answer.status >= 500) throw new LeadsError('unexpected', { cause: content });
  const { message, code: reason } = (content ?? {}) as { message?: unknown; code?: unknown };
  // The library answers some requests of signed-in users without the permission with 401.
  const isForbidden = String(reason).startsWith('YOU_ARE_NOT_ALLOWED_TO');
  const refusal = isForbidden ? 'forbidden' : (codes[answer.status] ?? 'bad_request');
  throw new LeadsError(refusal, {
    message: typeof message === 'string' && message !== '' ? message : errorTable[refusal].message,
  });
}
