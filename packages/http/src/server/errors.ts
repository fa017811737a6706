import { ErrorBody } from '@leads/core/error-schema';
import { type ErrorCode, errorTable, LeadsError } from '@leads/core/errors';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { preferredType } from './accept.ts';
import { formMediaType } from './media-types.ts';
import { problemBody, problemMediaType } from './problem.ts';
import type { FieldErrorFinder } from './validation-errors.ts';

/** `Retry-After` of an unavailable service, in seconds. */
const retryAfterSeconds = 5;

export function errorBody(code: ErrorCode, message: string = errorTable[code].message): ErrorBody {
  return { success: false, error: errorTable[code].kind, message };
}

/** An error in a route's `response`, in both of its media types. */
interface ErrorResponse {
  description: string;
  headers?: Record<string, { description: string; type: string }>;
  content: Record<string, { schema: object; examples: Record<string, { value: object }> }>;
}

const allCodes = Object.keys(errorTable) as ErrorCode[];

/** Returns the `response` part of a route's schema for its errors, with one entry for each status. */
export function errorResponses(...codes: ErrorCode[]): Record<number, ErrorResponse> {
  const statuses = new Set(codes.map((code) => errorTable[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const ofStatus = allCodes.filter((code) => codes.includes(code) && errorTable[code].status === status);
      const examples = (bodyOf: (code: ErrorCode) => object) =>
        Object.fromEntries(ofStatus.map((code) => [code, { value: bodyOf(code) }]));
      const content = {
        'application/json': { schema: ErrorBody, examples: examples((code) => errorBody(code)) },
        [problemMediaType]: { schema: { $ref: 'Problem#' }, examples: examples((code) => problemBody(code)) },
      };
      const description = ofStatus.map((code) => errorTable[code].message).join('; ');
      const headers = headersOfErrors[status];
      return [status, { description, ...(headers && { headers }), content }];
    }),
  );
}

const retryAfterHeader = {
  'Retry-After': { description: 'The seconds to wait before a retry.', type: 'integer' },
};

/** The headers of error responses by status. */
const headersOfErrors: Readonly<Record<number, ErrorResponse['headers']>> = {
  401: {
    'WWW-Authenticate': {
      description:
        'The required credentials: `ApiKey` for the API key, and `Bearer` if an access token is also required.',
      type: 'string',
    },
  },
  429: retryAfterHeader,
  503: retryAfterHeader,
};

/** The name of each security scheme in a challenge (RFC 9110, 11.6.1). */
const challenges: Readonly<Record<string, string>> = { ApiKey: 'ApiKey', AccessToken: 'Bearer' };

/** Returns the challenge of a guarded route. A session of the website has none: it is no HTTP authentication scheme. */
function challengeOf({ routeOptions }: FastifyRequest): string | undefined {
  const schemes = new Set(routeOptions.schema?.security?.flatMap((each) => Object.keys(each)));
  const named = [...schemes].flatMap((scheme) => challenges[scheme] ?? []);
  return named.length === 0 ? undefined : named.join(', ');
}

/** The errors of every guarded operation, in addition to its own. */
export const commonErrors = [
  'unauthenticated',
  'forbidden',
  'too_many_requests',
  'unexpected',
  'unavailable',
] as const satisfies ErrorCode[];

/** The errors of every operation for signed-in users of the website, in addition to its own. */
export const sessionErrors = [...commonErrors, 'unknown_workspace'] as const satisfies ErrorCode[];

/** The errors of every operation that reads a JSON body, in addition to its own. */
export const bodyErrors = [
  'invalid_input',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies ErrorCode[];

/** The codes of Fastify's errors that the client causes. */
const fastifyCodes: Record<string, ErrorCode> = {
  FST_ERR_BAD_URL: 'bad_request',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: 'bad_request',
};

/** The media types of bodies that some routes accept. */
const mediaTypes = ['application/json', formMediaType, 'text/csv'];

/** The error of a request whose body has another media type than those of its route. */
function unsupportedMediaType({ server }: FastifyRequest): LeadsError {
  const accepted = mediaTypes.filter((type) => server.hasContentTypeParser(type)).join(' or ');
  return new LeadsError('unsupported_media_type', {
    message: `Unsupported media type: send ${accepted}`,
    fields: [{ at: 'header', path: 'content-type', reason: `must be ${accepted}` }],
  });
}

/** The error of a request whose body is larger than its route accepts. */
function payloadTooLarge({ routeOptions }: FastifyRequest): LeadsError {
  const limit = `${routeOptions.bodyLimit / 1024} KiB`;
  return new LeadsError('payload_too_large', {
    message: `Request body is larger than ${limit}`,
    fields: [{ at: 'body', path: '', reason: `must not be larger than ${limit}` }],
  });
}

/** Converts any error to a `LeadsError`. An error that the client does not cause is `unexpected`. */
function toLeadsError(error: FastifyError | LeadsError, request: FastifyRequest): LeadsError {
  if (error instanceof LeadsError) return error;
  // The client has disconnected before the end of its body.
  if (request.raw.errored === error) return new LeadsError('bad_request', { cause: error });
  if (error.validation !== undefined) return new LeadsError('invalid_input', { cause: error });
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedMediaType(request);
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return payloadTooLarge(request);
  return new LeadsError(fastifyCodes[error.code] ?? 'unexpected', { cause: error });
}

/**
 * Creates the error handler. It answers with the three-field body, or with problem details if the client asks for them.
 * The message of an error from another library is never sent.
 */
export function createErrorHandler(findFieldErrors: FieldErrorFinder) {
  return (thrown: FastifyError | LeadsError, request: FastifyRequest, reply: FastifyReply): void => {
    const error = toLeadsError(thrown, request);
    const { code, message, status } = error;
    request.errorCode = code;
    if (code === 'unexpected') request.log.error({ err: error.cause }, 'Unexpected error');
    else if (status >= 500) request.log.warn({ err: error.cause }, message);
    else request.log.debug({ code, reasons: reasonsOf(thrown) }, 'Request rejected');
    const retryAfter = error.retryAfterSeconds ?? (code === 'unavailable' ? retryAfterSeconds : undefined);
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
    const challenge = status === 401 ? challengeOf(request) : undefined;
    if (challenge !== undefined) reply.header('www-authenticate', challenge);
    reply.code(status).header('vary', withAccept(reply.getHeader('vary')));
    if (preferredType(request.headers.accept, ['application/json', problemMediaType]) !== problemMediaType) {
      send(reply, error, errorBody(code, message));
      return;
    }
    const isOfSchema = 'validation' in thrown && thrown.validation !== undefined;
    const fields = isOfSchema ? findFieldErrors(request) : error.fields;
    reply.type(problemMediaType);
    send(reply, error, problemBody(code, { message, fields, requestId: request.id }));
  };
}

/**
 * The delay of a 429, in milliseconds. A client that repeats rejected requests without a pause would otherwise send
 * thousands a second on its connections, and delay the requests of others.
 */
const rejectionDelayMs = 250;

function send(reply: FastifyReply, { code }: LeadsError, body: object): void {
  if (code === 'too_many_requests') setTimeout(() => void reply.send(body), rejectionDelayMs);
  else void reply.send(body);
}

/** Returns the reasons of an error for the log: own messages and schema paths, never field names that a client sent. */
function reasonsOf(thrown: FastifyError | LeadsError): string[] {
  if (thrown instanceof LeadsError) return thrown.fields.map(({ reason }) => reason);
  return (thrown.validation ?? []).map(({ schemaPath }) => `${thrown.validationContext ?? ''} ${schemaPath}`);
}

/** Adds `Accept` to a `Vary` header (RFC 9110, 12.5.5). */
function withAccept(vary: number | string | string[] | undefined): string {
  const named = [vary ?? []].flat().join(', ');
  if (/(?:^|,\s*)Accept(?:,|$)/i.test(named)) return named;
  return named === '' ? 'Accept' : `${named}, Accept`;
}
