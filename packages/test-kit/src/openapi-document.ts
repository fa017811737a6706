import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer } from './http-client.ts';

export interface MediaType {
  readonly schema?: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly examples?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly (Pick<MediaType, 'example' | 'examples'> & {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: JsonSchema;
  })[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers?: Readonly<Record<string, unknown>>;
        readonly content?: Readonly<Record<string, MediaType>>;
      }
    >
  >;
}

/** The parts of an OpenAPI 3.1 document that the tests read. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly tags?: readonly { readonly name: string }[];
  readonly components?: {
    readonly schemas?: Readonly<Record<string, JsonSchema>>;
    readonly responses?: Readonly<Record<string, object>>;
    readonly securitySchemes?: Readonly<Record<string, unknown>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Returns a copy of a document in which components replace the references to them. */
export function withoutReferences(document: OpenApiDocument): OpenApiDocument {
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref: reference } = value as JsonSchema;
    if (reference === undefined)
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolved(member)]));
    const [, kind = '', name = ''] = /^#\/components\/(schemas|responses)\/([^/]+)$/.exec(reference) ?? [];
    const component = document.components?.[kind as 'schemas' | 'responses']?.[name];
    if (component === undefined) throw new Error(`${reference} does not exist`);
    return resolved(component);
  };
  return resolved(document) as OpenApiDocument;
}

export interface Route {
  /** The method in capital letters. */
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function routesOf(document: OpenApiDocument): Route[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}

/** Returns the routes that require credentials. */
export function guardedRoutesOf(document: OpenApiDocument): Route[] {
  return routesOf(document).filter(({ operation }) => requiredSchemes(operation).length > 0);
}

/**
 * Returns whether an operation responds with an event stream, which does not end. Such a stream also requires
 * NATS.
 */
export function isEndless({ responses }: Operation): boolean {
  return responses['200']?.content?.['text/event-stream'] !== undefined;
}

/** Returns the routes that require credentials and respond with a finite body. */
export function finiteRoutesOf(document: OpenApiDocument): Route[] {
  return guardedRoutesOf(document).filter(({ operation }) => !isEndless(operation));
}

/** Returns the security schemes that an operation requires together. */
export function requiredSchemes(operation: Operation): string[] {
  return Object.keys(operation.security?.[0] ?? {});
}

/**
 * Returns the documented path that matches a URL: `/leads/{id}` for `/leads/1?x=2`. An exact path takes
 * precedence over one with parameters.
 */
export function documentedPath({ paths }: OpenApiDocument, address: string): string | undefined {
  const [name = ''] = address.split('?', 1);
  if (paths[name] !== undefined) return name;
  const segments = name.split('/');
  return Object.keys(paths).find((path) => {
    const parts = path.split('/');
    return (
      parts.length === segments.length &&
      parts.every((part, i) => (isParameter(part) ? segments[i] !== '' : part === segments[i]))
    );
  });
}

const isParameter = (part: string) => part.startsWith('{') && part.endsWith('}');

/**
 * Returns headers with which a request to a path ends: a stream of events has no end, unless the events after its start
 * are no longer kept.
 */
export function endingHeaders(path: string): Record<string, string> {
  return path === '/api/v1/events' ? { 'Last-Event-ID': '1-1' } : {};
}

/** Replaces the parameters of a path with a value, by default an unknown UUID. */
export function fillPath(path: string, value: string = randomUUID()): string {
  return path.replaceAll(/\{[^}/]+\}/g, encodeURIComponent(value));
}

/**
 * Returns an example of the request body of an operation, serialized: JSON, or another media type with its
 * example.
 */
export function exampleEntity(operation: Operation): { type: string; text: string } | undefined {
  const body = exampleBody(operation);
  if (body !== undefined) return { type: 'application/json', text: JSON.stringify(body) };
  const [[type, { schema, example, examples = {} }] = ['', {}]] = Object.entries(
    operation.requestBody?.content ?? {},
  );
  const text = example ?? Object.values(examples)[0]?.value ?? schema?.examples?.[0];
  if (type === '') return undefined;
  if (typeof text !== 'string') throw new Error(`${operation.operationId} has no example of ${type}`);
  return { type, text };
}

/**
 * Returns the example of the body, or an example body built from those of its fields; `undefined` if the operation has
 * no body.
 */
export function exampleBody(operation: Operation): Record<string, unknown> | undefined {
  const { schema, example } = operation.requestBody?.content['application/json'] ?? {};
  const properties = schema?.properties;
  if (properties === undefined) return undefined;
  if (typeof example === 'object' && example !== null) return { ...example };
  return Object.fromEntries(Object.entries(properties).map(([name, { examples }]) => [name, examples?.[0]]));
}

/** The schema of an error body with exactly three fields (specification, section 7). */
export const errorBodySchema = {
  type: 'object',
  required: ['success', 'error', 'message'],
  properties: {
    success: { const: false },
    error: { enum: ['validation', 'unauthorized', 'error'] },
    message: { type: 'string', minLength: 1 },
  },
  additionalProperties: false,
} as const;

/** The schema of problem details (RFC 9457), sent if the client requests them. */
export const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'instance', 'success', 'error'],
  properties: {
    type: { type: 'string', pattern: '^urn:leads:error:[a-z_]+$' },
    title: { type: 'string', minLength: 1 },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', minLength: 1 },
    instance: { type: 'string', pattern: '^urn:request:[\\w.:-]{1,128}$' },
    success: { const: false },
    error: { enum: ['validation', 'unauthorized', 'error'] },
    errors: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        type: 'object',
        required: ['detail'],
        maxProperties: 2,
        properties: {
          pointer: { type: 'string', format: 'json-pointer-uri-fragment' },
          parameter: { type: 'string' },
          header: { type: 'string' },
          detail: { type: 'string', minLength: 1 },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const;

/**
 * Statuses that a server sends before it matches an operation: malformed HTTP, a request timeout, headers too
 * large.
 */
const parserStatuses = new Set([400, 408, 431]);

/** Response headers that the document must describe. */
const headersToDocument = [
  'allow',
  'content-disposition',
  'etag',
  'link',
  'location',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'www-authenticate',
  'x-total-count',
];

/** Paths that the document omits: the document itself, the website, and the routes that the website calls. */
const undocumentedPaths = /^\/(?!api\/v1\/|health\/)/;

export type ResponseCheck = (request: { method: string; path: string }, answer: Answer) => void;

/**
 * Returns a function that checks responses against an OpenAPI document. It checks that the operation lists
 * the status and the media type, and that the body matches the schema. Undocumented fields are errors.
 *
 * @returns a function that throws an Error with the difference.
 */
export function createResponseCheck(document: OpenApiDocument): ResponseCheck {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateFormats: true,
    code: { optimize: false },
  });
  addFormats.default(ajv);
  ajv.addSchema(withClosedObjects(document) as object, 'document');
  const errorChecks = {
    'application/json': ajv.compile(errorBodySchema),
    'application/problem+json': ajv.compile(problemSchema),
  };

  return ({ method, path }, answer) => {
    // The website calls the routes of integrators under another path. The responses are the same, with one
    // addition: 404 if a page names a workspace without the user.
    const described = path.replace(/^\/api\/console\//, '/api/v1/');
    const name = documentedPath(document, described) ?? path.split('?', 1)[0] ?? '';
    const fail = (what: string): never => {
      throw new Error(`${method} ${name}: ${answer.status} ${what}\n${answer.text.slice(0, 1000)}`);
    };
    const mediaType = (): string => {
      const type = answer.headers['content-type'] ?? '';
      const [, known] =
        /^(application\/(?:problem\+)?json)(?:; charset=utf-8)?$/.exec(type) ??
        /^(text\/csv); charset=utf-8; header=present$/.exec(type) ??
        /^(application\/x-ndjson)$/.exec(type) ??
        /^(text\/event-stream); charset=utf-8$/.exec(type) ??
        [];
      return known ?? fail(`is of type ${type}`);
    };
    const validate = (isValid: ReturnType<typeof ajv.compile>) => {
      if (!isValid(answer.json())) fail(`does not match the document: ${ajv.errorsText(isValid.errors)}`);
    };
    const validateError = () => {
      validate(errorChecks[mediaType() as keyof typeof errorChecks]);
      // Only the response to a complete request depends on Accept.
      const varies = /(^|, )Accept(,|$)/.test(answer.headers.vary ?? '');
      if (answer.headers['x-request-id'] !== undefined && !varies) fail('does not vary by Accept');
    };

    // The response to HEAD is the response to GET without its body.
    const operation = document.paths[name]?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (method === 'HEAD') {
      if (answer.bytes.length > 0) fail('has a body');
      if (operation !== undefined && !(answer.status in operation.responses)) fail('is not documented');
      return;
    }
    if (operation === undefined) {
      const isHtml = answer.headers['content-type']?.startsWith('text/html') === true;
      const isPage = answer.status < 400 || (answer.status === 404 && isHtml);
      if (undocumentedPaths.test(name) && isPage) return;
      if (answer.status < 400) fail('is an operation that is not documented');
      validateError();
      return;
    }
    const documented = operation.responses[answer.status];
    if (documented === undefined) {
      const isOfParser = parserStatuses.has(answer.status) && answer.headers['x-request-id'] === undefined;
      const isOfPage = path !== described && answer.status === 404;
      if (!isOfParser && !isOfPage) fail('is not documented');
      validateError();
      return;
    }
    if (documented.content === undefined) {
      if (answer.bytes.length > 0) fail('has a body');
      return;
    }
    const pointer = ['paths', name, method.toLowerCase(), 'responses', String(answer.status)]
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const key = `document#/${pointer}/content/${mediaType().replace('/', '~1')}/schema`;
    const isValid = ajv.getSchema(key);
    if (isValid === undefined) throw new Error(`The document has no schema at ${key}`);
    if (mediaType() in errorChecks) validate(isValid);
    else if (isValid(answer.text) !== true) fail('does not match the document');
    if (answer.status >= 400 && document.paths[name]?.[method.toLowerCase()]?.security !== undefined) {
      validateError();
    }
    for (const header of headersToDocument) {
      const named = Object.keys(documented.headers ?? {}).some((each) => each.toLowerCase() === header);
      if (answer.headers[header] !== undefined && !named)
        fail(`has a header ${header} that is not documented`);
    }
  };
}

/** Returns a copy in which object schemas with properties allow no additional properties. */
function withClosedObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withClosedObjects);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withClosedObjects(member)]),
  );
  const isOpenObject = copy['type'] === 'object' && typeof copy['properties'] === 'object';
  return isOpenObject && copy['additionalProperties'] === undefined
    ? { ...copy, additionalProperties: false }
    : copy;
}
