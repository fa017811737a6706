export type Attributes = Readonly<Record<string, string | number>>;

/** An operation in progress that belongs to a trace. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Passes the trace on to what follows (W3C Trace Context, 3.2); absent when the trace is not sampled. */
  readonly traceparent: string | undefined;
  /** @param outcome.error a short kind of error, when the operation has failed. */
  end(outcome?: { attributes?: Attributes; error?: string | undefined }): void;
}

/** Exports spans in the background. An export never fails a request; disposing waits for the last one. */
export interface Tracing extends AsyncDisposable {
  /**
   * Starts a span.
   *
   * @param options.parent a traceparent as received, well formed or not; without one a new trace begins.
   * @param options.attributes by OpenTelemetry's semantic conventions; none that a caller sent.
   */
  start(
    name: string,
    options: { kind: 'server' | 'client' | 'producer'; parent: string | undefined; attributes: Attributes },
  ): Span;
}
