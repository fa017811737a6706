export type Attributes = Readonly<Record<string, string | number>>;

/** An operation in progress that belongs to a trace. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Continues the trace in the next operation (W3C Trace Context, 3.2). Absent if the trace is not sampled. */
  readonly traceparent: string | undefined;
  /** @param outcome.error a short name of the error, if the operation has failed. */
  end(outcome?: { attributes?: Attributes; error?: string | undefined }): void;
}

/** Exports spans in the background. An export never fails a request; disposing waits for the last one. */
export interface Tracing extends AsyncDisposable {
  /**
   * Starts a span.
   *
   * @param options.parent a received traceparent. Without a valid one, a new trace begins.
   * @param options.attributes by OpenTelemetry's semantic conventions. They contain no values from clients.
   */
  start(
    name: string,
    options: { kind: 'server' | 'client' | 'producer'; parent: string | undefined; attributes: Attributes },
  ): Span;
}
