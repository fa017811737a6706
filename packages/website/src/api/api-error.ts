/** An invalid field of a request. */
interface FieldError {
  /** The name of a field of the body, a parameter or a header. */
  readonly field: string;
  /** The second part of a sentence that starts with the name, such as "must not be empty". */
  readonly reason: string;
}

/** A failed request. `status` is 0 if there was no response. `message` is human-readable. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly fields: readonly FieldError[];
  /** The stable code of the problem type, if known. */
  readonly code: string | undefined;

  /** Whether the message is of this error. Without a detail, it is that of the problem type. */
  readonly hasDetail: boolean;
  /** The time after which the request can succeed, in seconds, if known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    message: string,
    fields: readonly FieldError[] = [],
    code?: string,
    hasDetail = false,
    retryAfterSeconds?: number,
  ) {
    super(message);
    this.hasDetail = hasDetail;
    this.retryAfterSeconds = retryAfterSeconds;
    this.status = status;
    this.fields = fields;
    this.code = code;
  }
}
