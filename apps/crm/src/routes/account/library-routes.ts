import { createThrottle } from '@leads/core/account';
import { type ErrorCode, errorTable, LeadsError } from '@leads/core/errors';
import { caps } from '@leads/core/limits';
import { clientAddress, type Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses } from '@leads/http/server/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { CrmContext } from '../../context.ts';
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

/** Removes the session token from a response: it is sent only in a cookie that scripts cannot read. */
function withoutToken({ token, ...content }: Record<string, unknown>): Record<string, unknown> {
  return token === undefined ? content : { ...content, signedIn: token !== null };
}

/** The error codes of the library's reasons. The messages are those of the codes. */
const codesOfReasons: ReadonlyMap<unknown, ErrorCode> = new Map([
  ['CONFIRMATION_REQUIRED', 'confirmation_required'],
  ['EMAIL_NOT_VERIFIED', 'email_unverified'],
  ['EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION', 'email_unverified'],
]);

/** The reasons of the error code `invitation_required`, each with a message of its own. */
const uninvited: ReadonlySet<unknown> = new Set([
  'INVITATION_REQUIRED',
  'YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION',
]);

/** The error codes of the library's statuses. Any other 4xx status becomes `bad_request`. */
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
  if (reason === 'INVITATION_LIMIT_REACHED') {
    throw new LeadsError('limit_reached', { message: caps.invitations.message });
  }
  const ofReason = codesOfReasons.get(reason);
  if (ofReason !== undefined) throw new LeadsError(ofReason);
  const code = codeOf(answer.status, reason);
  const retryAfter = Number(answer.headers.get('retry-after'));
  throw new LeadsError(code, {
    ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }),
    message: typeof message === 'string' && message !== '' ? message : errorTable[code].message,
  });
}

function codeOf(status: number, reason: unknown): ErrorCode {
  if (uninvited.has(reason)) return 'invitation_required';
  // The library answers 401 to some requests of signed-in users who lack the permission.
  if (String(reason).startsWith('YOU_ARE_NOT_ALLOWED_TO')) return 'forbidden';
  return codes[status] ?? 'bad_request';
}
