import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isConfidential } from './log-check/confidential.ts';

/** A span in the JSON of OTLP (opentelemetry-proto, trace.proto), with the fields that tests read. */
export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2 server, 3 client, 4 producer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/**
 * A receiver of spans by OTLP over HTTP, like a collector. Disposing it throws if a span contains
 * confidential data.
 */
export interface OtlpReceiver extends AsyncDisposable {
  /** The value for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  /** All received requests, including headers. */
  readonly received: readonly string[];
  spans(): ReceivedSpan[];
  /** The status of the responses from now on. */
  status: number;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'service' | 'attributes'> & {
        readonly attributes: readonly OtlpAttribute[];
      })[];
    }[];
  }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: string[] = [];
  const received: string[] = [];
  const take = async (request: IncomingMessage) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
    received.push(`${request.method} ${request.url}\n${JSON.stringify(request.headers)}\n${text}`);
    if (receiver.status === 200 && request.url === '/v1/traces') bodies.push(text);
  };
  const server = createServer((request, response) => {
    void take(request).then(() => response.writeHead(receiver.status).end('{}'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    status: 200,
    spans: () =>
      bodies.flatMap((body) =>
        (JSON.parse(body) as OtlpTraces).resourceSpans.flatMap(({ resource, scopeSpans }) => {
          const service = String(attributesOf(resource.attributes)['service.name']);
          return scopeSpans.flatMap(({ spans }) =>
            spans.map((span) => ({ ...span, service, attributes: attributesOf(span.attributes) })),
          );
        }),
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      const found = received.find(isConfidential);
      if (found !== undefined) throw new Error(`A trace contains confidential data: ${found}`);
    },
  };
  return receiver;
}

function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
