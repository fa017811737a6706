import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AccessTokenCodec } from '@leads/core/credential';
import { type Fixture, openFixture } from './fixture.ts';
import { type Answer, HttpClient, type TestRequest } from './http-client.ts';
import { LogCapture } from './log-check/log-capture.ts';
import {
  createResponseCheck,
  documentedPath,
  type JsonSchema,
  type OpenApiDocument,
  type ResponseCheck,
  withoutReferences,
} from './openapi-document.ts';
import { createTestDatabase } from './test-database.ts';

/** The parts of a Fastify server that the tests call. */
interface App {
  listen(options: { host: string; port: number }): Promise<string>;
  close(): Promise<unknown>;
  swagger(): object;
  readonly server: { address(): AddressInfo | string | null };
}

/** A service in this process that listens on a free port. */
export interface RunningService extends AsyncDisposable {
  readonly port: number;
  /** The OpenAPI document without references. */
  readonly document: OpenApiDocument;
  /** The OpenAPI document as clients receive it. */
  readonly published: OpenApiDocument;
  /**
   * All registered routes, documented or not. A route with several methods is listed once for each.
   * Parameters are written as in the document: `{id}`.
   */
  readonly routes: readonly {
    readonly method: string;
    readonly path: string;
    readonly permission: string | undefined;
    readonly query: JsonSchema;
    readonly body: JsonSchema;
  }[];
  readonly logs: LogCapture;
  /** Sends a request and checks the response against the document. */
  send(request: TestRequest): Promise<Answer>;
  /** Sends bytes. The responses are checked if `options` names their method and path. */
  sendRaw(
    bytes: string | Buffer,
    options?: { end?: boolean; rest?: string; method?: string; path?: string },
  ): Promise<Answer[]>;
}

/** The checks of the documents of this process, by their JSON: test files start the same service many times. */
const responseChecks = new Map<string, ResponseCheck>();

function responseCheckOf(document: OpenApiDocument): ResponseCheck {
  const text = JSON.stringify(document);
  const check = responseChecks.get(text) ?? createResponseCheck(document);
  responseChecks.set(text, check);
  return check;
}

/**
 * Starts a service like its `server.ts`, but captures its log lines.
 * Disposing it stops the service. It throws if a log line contains confidential data, if a request left no
 * log line, or if a route sent a status that it does not declare.
 *
 * @param build creates the server and its context, with a logger that writes to the capture.
 */
export async function startService(
  build: (logs: LogCapture) => Promise<{ app: App; context: AsyncDisposable }>,
): Promise<RunningService> {
  const logs = new LogCapture();
  const routes: RunningService['routes'][number][] = [];
  const undeclared = new Set<string>();
  const collect = (message: unknown) => {
    const { fastify } = message as { fastify: HookedServer };
    fastify.addHook('onRoute', (route) => {
      const path = route.url.replaceAll(/:(\w+)/g, '{$1}');
      for (const method of [route.method].flat()) {
        // A hook that runs later can still declare it.
        routes.push({
          method,
          path,
          get permission() {
            return route.config?.permission;
          },
          query: route.schema?.querystring ?? {},
          body: route.schema?.body ?? {},
        });
      }
    });
    fastify.addHook('onResponse', async ({ routeOptions, raw }, { statusCode }) => {
      const { method, url, schema } = routeOptions;
      // Rejected before the router runs (RFC 9112, 3.2).
      const isMalformed = raw.headersDistinct['host']?.length !== 1;
      // Every route of a service that serves some hosts only can answer 421.
      if (url === undefined || isMalformed || statusCode === 421 || statusCode in (schema?.response ?? {}))
        return;
      undeclared.add(`${String(method)} ${url}: ${statusCode}`);
    });
  };
  subscribe('fastify.initialization', collect);
  const { app, context } = await build(logs).finally(() => unsubscribe('fastify.initialization', collect));

  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const published = app.swagger() as OpenApiDocument;
  const document = withoutReferences(published);
  const check = responseCheckOf(document);
  const client = new HttpClient(port);
  const requestIds: string[] = [];

  const checked = (request: { method: string; path: string }, answer: Answer) => {
    check(request, answer);
    const id = answer.headers['x-request-id'];
    const operations = Object.values(document.paths[documentedPath(document, request.path) ?? ''] ?? {});
    if (typeof id === 'string' && operations.some(({ security }) => security !== undefined)) {
      requestIds.push(id);
    }
    return answer;
  };
  return {
    port,
    document,
    published,
    routes,
    logs,
    async send(request) {
      return checked({ method: request.method ?? 'GET', path: request.path }, await client.send(request));
    },
    async sendRaw(bytes, { method, path, ...options } = {}) {
      const answers = await client.sendRaw(bytes, options);
      if (method !== undefined && path !== undefined) {
        for (const answer of answers) checked({ method, path }, answer);
      }
      return answers;
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await app.close();
      await context[Symbol.asyncDispose]();
      logs.assertNothingConfidential();
      if (undeclared.size > 0) throw new Error(`Undeclared statuses: ${[...undeclared].join(', ')}`);
      const logged = new Set(logs.entries().map((entry) => entry['reqId']));
      const missing = requestIds.filter((id) => !logged.has(id));
      if (missing.length > 0) throw new Error(`${missing.length} requests left no log line: ${missing[0]}`);
    },
  };
}

/** A running service on a new database, with the fixture that creates its workspaces. */
export interface ServiceFixture extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly service: RunningService;
  readonly fixture: Fixture;
}

/**
 * Starts a service on a new database. Disposing it stops the service and drops the database.
 *
 * @param codec signs the access tokens.
 */
export async function startOnOwnDatabase(
  start: (databaseUrl: string) => Promise<RunningService>,
  codec?: AccessTokenCodec,
): Promise<ServiceFixture> {
  const database = await createTestDatabase();
  const fixture = openFixture(database.url, codec);
  const service = await start(database.url);
  return {
    databaseUrl: database.url,
    service,
    fixture,
    async [Symbol.asyncDispose]() {
      try {
        await service[Symbol.asyncDispose]();
      } finally {
        await fixture[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      }
    },
  };
}

/** The parts of Fastify that collect the routes. */
interface HookedServer {
  addHook(name: 'onRoute', hook: (route: Route) => void): void;
  addHook(
    name: 'onResponse',
    hook: (
      request: { routeOptions: Partial<Route>; raw: IncomingMessage },
      reply: { statusCode: number },
    ) => Promise<void>,
  ): void;
}

interface Route {
  readonly method: string | string[];
  readonly url: string;
  readonly config?: { readonly permission?: string };
  readonly schema?: {
    readonly querystring?: JsonSchema;
    readonly body?: JsonSchema;
    readonly response?: object;
  };
}
