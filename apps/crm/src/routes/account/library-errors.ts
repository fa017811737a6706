import { type ErrorCode, errorTable, LeadsError } from '@leads/core/errors';
import { caps } from '@leads/core/limits';

/** The text for an error of the account library, which otherwise has the library's words. */
interface OwnError {
  /** Default: the error code of the status. */
  readonly code?: ErrorCode;
  /** Default: the message of the error code. */
  readonly message?: string;
  /** The fields of the body that the error can have. The error has the first one that the request has. */
  readonly fields?: readonly string[];
  /** The rest of a sentence that begins with the name of the field. */
  readonly reason?: string;
}

const newPassword = ['newPassword', 'password'] as const;
const taken: OwnError = {
  fields: ['email'],
  reason: 'belongs to an account: sign in, or use another email address',
};
const staleLink: OwnError = { message: 'This link was used before or has expired: ask for a new one' };
const noSecondFactor: OwnError = { message: 'The account has no second factor: reload the page' };
const needsOwner: OwnError = {
  message: 'A workspace needs an owner: make another member an owner first',
};

/** The library's reasons, with their own texts. */
const ownErrors: Readonly<Record<string, OwnError>> = {
  CONFIRMATION_REQUIRED: { code: 'confirmation_required' },
  EMAIL_NOT_VERIFIED: { code: 'email_unverified' },
  EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION: { code: 'email_unverified' },
  INVITATION_ACCEPTED: { message: 'The invitation was accepted: remove the member instead' },
  INVITATION_LIMIT_REACHED: { code: 'limit_reached', message: caps.invitations.message },
  INVITATION_NOT_FOUND: {
    message: 'The invitation was accepted, declined or canceled, or it has expired: ask for a new one',
  },
  YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION: {
    code: 'invitation_required',
    message: 'The invitation is for another email address',
  },
  USER_ALREADY_EXISTS: taken,
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: taken,
  USER_IS_ALREADY_A_MEMBER_OF_THIS_ORGANIZATION: {
    fields: ['email'],
    reason: 'belongs to a member of this workspace',
  },
  MEMBER_NOT_FOUND: { message: 'This person is no longer a member of the workspace: reload the page' },
  YOU_CANNOT_LEAVE_THE_ORGANIZATION_AS_THE_ONLY_OWNER: needsOwner,
  YOU_CANNOT_LEAVE_THE_ORGANIZATION_WITHOUT_AN_OWNER: needsOwner,
  INVALID_EMAIL_OR_PASSWORD: { message: 'The email address or the password is wrong' },
  INVALID_PASSWORD: { fields: ['currentPassword', 'password'], reason: 'is wrong' },
  EASY_PASSWORD: { fields: newPassword, reason: 'is easy to guess: choose another one' },
  BREACHED_PASSWORD: { fields: newPassword, reason: 'is known from a data breach: choose another one' },
  INVALID_CODE: {
    fields: ['code'],
    reason: 'is wrong or was used before: enter the current code of the app',
  },
  INVALID_BACKUP_CODE: { fields: ['code'], reason: 'is not an unused recovery code' },
  // The library asks for a new code, and a new code needs a new sign-in.
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: {
    message: 'Too many wrong codes: sign in with your password again',
  },
  ACCOUNT_TEMPORARILY_LOCKED: {
    message: 'Too many wrong codes: wait up to 15 minutes, then sign in with your password again',
  },
  INVALID_TWO_FACTOR_COOKIE: { message: 'The sign-in took too long: sign in with your password again' },
  TOTP_NOT_ENABLED: noSecondFactor,
  TWO_FACTOR_NOT_ENABLED: noSecondFactor,
  BACKUP_CODES_NOT_ENABLED: noSecondFactor,
  SECOND_FACTOR_EXISTS: { message: 'The account has a second factor already: switch it off first' },
  SECOND_FACTOR_UNREADABLE: {
    message:
      'The secret of the service has changed, so it cannot check the second factor: ask the operator to remove it with `leads user reset-second-factor`',
  },
  INVALID_TOKEN: staleLink,
  TOKEN_EXPIRED: staleLink,
};

/** The error codes of the library's statuses. Any other 4xx status becomes `bad_request`. */
const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  429: 'too_many_requests',
};

/**
 * Returns the error of a failed response of the account library.
 *
 * @param content the body of the response, with the library's message and code.
 * @param body the body of the request.
 */
export function errorOf({ status, headers }: Response, content: unknown, body: unknown): LeadsError {
  if (status >= 500) return new LeadsError('unexpected', { cause: content });
  const { message, code: reason } = (content ?? {}) as { message?: unknown; code?: unknown };
  const own = ownErrors[String(reason)];
  const code = own?.code ?? codeOf(status, String(reason));
  const field = own?.fields?.find((name) => Object.hasOwn(body ?? {}, name));
  const words = typeof message === 'string' && message !== '' ? message : errorTable[code].message;
  const retryAfter = Number(headers.get('retry-after'));
  return new LeadsError(code, {
    ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }),
    ...(field !== undefined &&
      own?.reason !== undefined && { fields: [{ at: 'body', path: `/${field}`, reason: own.reason }] }),
    message: own === undefined ? words : (own.message ?? sentenceOf(own, field) ?? errorTable[code].message),
  });
}

const names: Readonly<Record<string, string>> = {
  email: 'The email address',
  code: 'The code',
};

/** Returns a sentence for clients that do not read the fields. */
function sentenceOf({ reason }: OwnError, field: string | undefined): string | undefined {
  return reason === undefined ? undefined : `${names[field ?? ''] ?? 'This password'} ${reason}`;
}

function codeOf(status: number, reason: string): ErrorCode {
  if (reason === 'INVITATION_REQUIRED') return 'invitation_required';
  // The library answers 401 to some requests of signed-in users who lack the permission.
  if (reason.startsWith('YOU_ARE_NOT_ALLOWED_TO')) return 'forbidden';
  return codes[status] ?? 'bad_request';
}
