/**
 * The errors of the services: HTTP status, kind (specification, section 7) and message to the client. The messages of the
 * first three are prescribed by the specification.
 */
export const errorTable = {
  invalid_input: { status: 400, kind: 'validation', message: 'Invalid input data' },
  unauthenticated: { status: 401, kind: 'unauthorized', message: 'Authentication failed' },
  unexpected: { status: 500, kind: 'error', message: 'An unexpected error occurred' },

  bad_request: { status: 400, kind: 'validation', message: 'Malformed request' },
  campaign_unavailable: { status: 400, kind: 'validation', message: 'Unknown or inactive campaign' },
  reason_required: { status: 400, kind: 'validation', message: 'This change needs a reason' },
  invalid_cursor: { status: 400, kind: 'validation', message: 'Invalid cursor' },
  forbidden: { status: 403, kind: 'unauthorized', message: 'This credential may not do that' },
  confirmation_required: {
    status: 403,
    kind: 'unauthorized',
    message: 'Confirm your password or second factor: your sign-in is older than 10 minutes',
  },
  email_unverified: {
    status: 403,
    kind: 'unauthorized',
    message: 'Your email address is not confirmed: open the link in the mail',
  },
  invitation_required: {
    status: 403,
    kind: 'unauthorized',
    message: 'An invitation to this email address is required',
  },
  not_found: { status: 404, kind: 'error', message: 'Not found' },
  unknown_workspace: {
    status: 404,
    kind: 'error',
    message: 'There is no such workspace, or you are not a member of it: nothing was changed',
  },
  method_not_allowed: { status: 405, kind: 'error', message: 'Method not allowed' },
  request_timeout: { status: 408, kind: 'error', message: 'Request timed out' },
  conflict: { status: 409, kind: 'validation', message: 'Conflict' },
  events_gone: { status: 410, kind: 'error', message: 'Events of that time are no longer kept' },
  precondition_failed: {
    status: 412,
    kind: 'validation',
    message: 'The version of the lead does not match If-Match',
  },
  limit_reached: { status: 409, kind: 'validation', message: 'The maximum number of objects is reached' },
  payload_too_large: { status: 413, kind: 'validation', message: 'Request body is too large' },
  unsupported_media_type: { status: 415, kind: 'validation', message: 'Unsupported media type' },
  wrong_host: { status: 421, kind: 'validation', message: 'This host name is not served' },
  idempotency_key_reused: {
    status: 422,
    kind: 'validation',
    message: 'The Idempotency-Key was used for another request',
  },
  too_many_requests: { status: 429, kind: 'error', message: 'Too many attempts: try again later' },
  // The parser of Node.js reports a URL that is too long with the same code.
  headers_too_large: {
    status: 431,
    kind: 'validation',
    message: 'The URL and headers of the request are too large',
  },
  unavailable: { status: 503, kind: 'error', message: 'Service temporarily unavailable' },
} as const satisfies Record<string, { status: number; kind: ErrorKind; message: string }>;

/** The values of the `error` member of an error body (specification, section 7). */
export const errorKinds = ['validation', 'unauthorized', 'error'] as const;
export type ErrorKind = (typeof errorKinds)[number];

export type ErrorCode = keyof typeof errorTable;

/** An error of one part of a request. Problem details (RFC 9457) list it. */
export interface FieldError {
  readonly at: 'body' | 'query' | 'path' | 'header';
  /**
   * In the body, a JSON Pointer (RFC 6901), which is empty for the whole body. Else the name of the parameter or header.
   * If absent, `reason` is a complete sentence.
   */
  readonly path?: string;
  /** The rest of a sentence that begins with the name: "must not be empty". It never contains request content. */
  readonly reason: string;
}

/**
 * An error of {@link errorTable}. The client reads `message`, which never contains request content or internal details.
 * The underlying error is the `cause`, which is only logged.
 */
export class LeadsError extends Error {
  override readonly name = 'LeadsError';
  readonly code: ErrorCode;
  /** The parts of the request that caused the error, if known. */
  readonly fields: readonly FieldError[];
  /** The delay before a retry, in seconds, if known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    options?: {
      message?: string;
      cause?: unknown;
      fields?: readonly FieldError[];
      retryAfterSeconds?: number;
    },
  ) {
    super(options?.message ?? errorTable[code].message, { cause: options?.cause });
    this.code = code;
    this.fields = options?.fields ?? [];
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }

  get status(): number {
    return errorTable[this.code].status;
  }

  get kind(): ErrorKind {
    return errorTable[this.code].kind;
  }
}

/** Whether an error means that a dependency is unavailable, or did not respond in time. */
export function isOutage(error: unknown): error is LeadsError {
  return error instanceof LeadsError && error.code === 'unavailable';
}

/** An error of a store that is not an outage. Its message never holds the data of a row, so it may be logged. */
export abstract class StoreError extends Error {
  /** Five characters (PostgreSQL, appendix A), if known. */
  abstract readonly sqlState: string | undefined;
  /** Whether a row caused it by its data, a constraint or a size limit. Other rows of the statement can be stored. */
  abstract readonly isRowRejected: boolean;
  /** The id of the rejected row, if the store names it. */
  abstract readonly rowId: string | undefined;
}

/** An incomplete deployment. Its message names the fix. It is only logged, and contains no request content. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

/** An error that NATS reports for a message. Its message has no content of the message, so it may be logged. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError';
}
