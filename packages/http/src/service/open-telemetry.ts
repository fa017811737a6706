import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import {
  type ExportResult,
  ExportResultCode,
  parseKeyPairsIntoRecord,
  parseTraceParent,
} from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Tracing } from './span.ts';

/** The longest time to export the last spans when the service stops. */
const flushMs = 2_000;

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, producer: SpanKind.PRODUCER } as const;

/**
 * Exports spans with OTLP over HTTP, as JSON, in batches. The queue holds 2,048 spans. If it is full, new spans are
 * dropped. The library itself reads `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*` and `OTEL_SPAN_*`.
 *
 * @param options.headers `name=value,name=value`, percent-encoded.
 * @param onChange is called when exports begin to fail, and when they succeed again.
 */
export function createTracing(
  options: { endpoint: string; headers: string; service: { name: string; version: string } },
  onChange: (isExported: boolean, reason?: unknown) => void,
): Tracing {
  const { endpoint, headers, service } = options;
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: parseKeyPairsIntoRecord(headers),
  });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service.name, 'service.version': service.version }),
    spanProcessors: [new BatchSpanProcessor(new WatchedExporter(exporter, onChange))],
  });
  const tracer = provider.getTracer(service.name, service.version);
  return {
    start(name, { kind, parent, attributes }) {
      // Ignores `tracestate`: its content comes from the client.
      const remote = parent === undefined ? null : parseTraceParent(parent);
      const context =
        remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, context);
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceId,
        traceparent: (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : `00-${traceId}-${spanId}-01`,
        end({ attributes: more, error } = {}) {
          if (more !== undefined) span.setAttributes(more);
          if (error !== undefined) {
            span.setAttribute('error.type', error);
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      let timer: NodeJS.Timeout | undefined;
      const timeIsOver = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, flushMs);
      });
      await Promise.race([provider.shutdown().catch(() => undefined), timeIsOver]);
      clearTimeout(timer);
    },
  };
}

/** An exporter that calls back when exports begin to fail, and when they succeed again. */
class WatchedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #onChange: (isExported: boolean, reason?: unknown) => void;
  #isExported = true;

  constructor(exporter: SpanExporter, onChange: (isExported: boolean, reason?: unknown) => void) {
    this.#exporter = exporter;
    this.#onChange = onChange;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      const isExported = result.code === ExportResultCode.SUCCESS;
      if (isExported !== this.#isExported) this.#onChange(isExported, result.error);
      this.#isExported = isExported;
      done(result);
    });
  }

  async shutdown(): Promise<void> {
    await this.#exporter.shutdown();
  }
}
