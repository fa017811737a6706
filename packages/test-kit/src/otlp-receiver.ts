import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isConfidential } from './log-check/confidential.ts';

/** A span as OTLP has it in JSON (opentelemetry-proto, trace.proto), as far as tests look at it. */
export interface ToldSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2 server, 3 client, 4 producer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** What takes spans by OTLP over HTTP, as collectors do. Disposing it fails when one holds what a caller sent. */
export interface OtlpReceiver extends AsyncDisposable {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  /** Everything that was sent, headers and all. */
  readonly received: readonly string[];
  spans(): ToldSpan[];
  /** What requests are answered from now on. */
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
      readonly spans: readonly (Omit<ToldSpan, 'service' | 'attributes'> & {
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
      if (found !== undefined) throw new Error(`A trace holds what a caller sent: ${found}`);
    },
  };
  return receiver;
}

function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
