import { createThrottle } from '@leads/core/account';
import { memberRoles } from '@leads/core/credential';
import { type ErrorCode, errorTable, LeadsError } from '@leads/core/errors';
import { clientAddress, type Server } from '@leads/http/server/create-server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TObject, type TProperties, Type } from 'typebox';
import type { CrmContext } from '../../context.ts';
import { accountHeaders, setCookies } from './session.ts';

const text = (maxLength = 255) => Type.String({ minLength: 1, maxLength, pattern: '^\\P{Cc}*$' });
const email = Type.String({ format: 'email', maxLength: 255 });
const password = Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\u0000]*$' });
const newPassword = Type.String({ minLength: 10, maxLength: 128, pattern: '^[^\\u0000]*$' });
const role = Type.Enum([...memberRoles]);
const id = Type.String({ format: 'uuid' });
/** The workspace that the page shows, which may not be the session's any more: another tab may have gone on. */
const shownWorkspace = Type.Optional(id);
const code = Type.String({ minLength: 6, maxLength: 64, pattern: '^[\\w-]+$' });
const body = (properties: TProperties) => Type.Object(properties, { additionalProperties: false });

interface AccountPath {
  readonly body?: TObject;
  readonly querystring?: TObject;
  /** What one that fails may be guessing at: the secret of the account whose address is sent, or some secret. */
  readonly guesses?: 'account' | 'secret';
}

/** The paths of the account library that the website uses, and what they take. No others are open. */
const paths: Readonly<Record<'GET' | 'POST', Readonly<Record<string, AccountPath>>>> = {
  GET: {
    '/verify-email': { querystring: body({ token: text(2048) }) },
  },
  POST: {
    '/sign-up/email': {
      body: body({ name: text(), email, password: newPassword, invitationId: Type.Optional(id) }),
      guesses: 'secret',
    },
    '/sign-in/email': {
      body: body({ email, password, rememberMe: Type.Optional(Type.Boolean()) }),
      guesses: 'account',
    },
    '/sign-out': { body: body({}) },
    '/send-verification-email': { body: body({ email }), guesses: 'account' },
    '/request-password-reset': { body: body({ email }), guesses: 'account' },
    '/reset-password': { body: body({ newPassword, token: text() }), guesses: 'secret' },
    '/change-password': {
      body: body({
        currentPassword: password,
        newPassword,
        revokeOtherSessions: Type.Optional(Type.Boolean()),
      }),
      guesses: 'secret',
    },
    '/update-user': { body: body({ name: text() }) },
    '/two-factor/enable': { body: body({ password }), guesses: 'secret' },
    '/two-factor/disable': { body: body({ password }), guesses: 'secret' },
    '/two-factor/generate-backup-codes': { body: body({ password }), guesses: 'secret' },
    '/two-factor/verify-totp': {
      body: body({ code, trustDevice: Type.Optional(Type.Boolean()) }),
      guesses: 'secret',
    },
    '/two-factor/verify-backup-code': {
      body: body({ code, trustDevice: Type.Optional(Type.Boolean()) }),
      guesses: 'secret',
    },
    '/organization/set-active': { body: body({ organizationId: id }) },
    '/organization/invite-member': { body: body({ email, role, organizationId: shownWorkspace }) },
    '/organization/cancel-invitation': { body: body({ invitationId: id }) },
    '/organization/accept-invitation': { body: body({ invitationId: id }) },
    '/organization/reject-invitation': { body: body({ invitationId: id }) },
    '/organization/update-member-role': {
      body: body({ memberId: id, role, organizationId: shownWorkspace }),
    },
    '/organization/remove-member': { body: body({ memberIdOrEmail: id, organizationId: shownWorkspace }) },
    '/organization/leave': { body: body({ organizationId: id }) },
  },
};

/** `/api/auth/...`: accounts, by their library. Its errors are answered as all others are. */
export function accountRoutes(app: Server, { accounts, accountStore }: CrmContext, publicUrl: string): void {
  const throttle = createThrottle(accountStore);

  for (const method of ['GET', 'POST'] as const) {
    for (const [path, { guesses, ...schema }] of Object.entries(paths[method])) {
      app.route({
        method,
        url: `/auth${path}`,
        schema,
        async handler(request, reply) {
          const account = guesses === 'account' ? (request.body as { email: string }).email : undefined;
          if (guesses !== undefined) await throttle.attempt(clientAddress(request), account);
          const answer = await accounts.handle(toAccounts(request, publicUrl));
          if (answer.ok && account !== undefined && path === '/sign-in/email')
            await throttle.succeed(account);
          return passOn(answer, reply);
        },
      });
    }
  }
}

function toAccounts(request: FastifyRequest, publicUrl: string): Request {
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

/** What the library's refusals are among ours. */
const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  429: 'too_many_requests',
};

async function passOn(answer: Response, reply: FastifyReply): Promise<unknown> {
  setCookies(reply, answer.headers.getSetCookie());
  const content: unknown = (answer.headers.get('content-type') ?? '').includes('json')
    ? await answer.json()
    : null;
  if (answer.ok) return withoutToken((content ?? {}) as Record<string, unknown>);
  if (answer.status >= 500) throw new LeadsError('unexpected', { cause: content });
  const { message, code: reason } = (content ?? {}) as { message?: unknown; code?: unknown };
  // Of some things the library says 401 to who is known and may not.
  const isForbidden = String(reason).startsWith('YOU_ARE_NOT_ALLOWED_TO');
  const refusal = isForbidden ? 'forbidden' : (codes[answer.status] ?? 'bad_request');
  throw new LeadsError(refusal, {
    message: typeof message === 'string' && message !== '' ? message : errorTable[refusal].message,
  });
}
