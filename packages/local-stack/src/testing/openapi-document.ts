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
  readonly parameters?: readonly { name: string; in: string; schema: JsonSchema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
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

/** As much of an OpenAPI 3.1 document as the tests look at. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly tags?: readonly { readonly name: string }[];
  readonly components?: { readonly securitySchemes?: Readonly<Record<string, unknown>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface Route {
  /** In capitals. */
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

/** The routes that ask for credentials. */
export function guardedRoutesOf(document: OpenApiDocument): Route[] {
  return routesOf(document).filter(({ operation }) => needs(operation).length > 0);
}

/** The security schemes that an operation asks for, all together. */
export function needs(operation: Operation): string[] {
  return Object.keys(operation.security?.[0] ?? {});
}

/** A body that an operation takes, made of the examples in its schema; `undefined` where it takes none. */
export function exampleBody(operation: Operation): Record<string, unknown> | undefined {
  const properties = operation.requestBody?.content['application/json']?.schema?.properties;
  if (properties === undefined) return undefined;
  return Object.fromEntries(Object.entries(properties).map(([name, { examples }]) => [name, examples?.[0]]));
}

/** The three fields of an error body (specification, section 7), and nothing else. */
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

/** What a server answers before it knows of any operation: malformed HTTP, a request too slow, headers too large. */
const parserStatuses = new Set([400, 408, 431]);

/** Paths that the document leaves out: itself, and the pages for people. */
const undescribed = /^\/(openapi\.json|docs|docs\/reference\.js)$/;

export type ResponseCheck = (request: { method: string; path: string }, answer: Answer) => void;

/**
 * Checks answers against an OpenAPI document: the status is one that it names for the operation, the body has
 * the media type and every field that its schema asks for, and not one that it does not name.
 *
 * @returns throws an Error that tells what differs.
 */
export function createResponseCheck(document: OpenApiDocument): ResponseCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  addFormats.default(ajv);
  ajv.addSchema(closed(document) as object, 'document');
  const isErrorBody = ajv.compile(errorBodySchema);

  return ({ method, path }, answer) => {
    const name = path.split('?', 1)[0] ?? '';
    const fail = (what: string): never => {
      throw new Error(`${method} ${name}: ${answer.status} ${what}\n${answer.text.slice(0, 1000)}`);
    };
    const validate = (isValid: ReturnType<typeof ajv.compile>) => {
      if (!/^application\/json(; charset=utf-8)?$/.test(answer.headers['content-type'] ?? '')) {
        fail(`is of type ${answer.headers['content-type']}`);
      }
      if (!isValid(answer.json())) fail(`is not as documented: ${ajv.errorsText(isValid.errors)}`);
    };

    // The answer to HEAD is that to GET without its body.
    const operation = document.paths[name]?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (method === 'HEAD') {
      if (answer.bytes.length > 0) fail('has a body');
      if (operation !== undefined && !(answer.status in operation.responses)) fail('is not documented');
      return;
    }
    if (operation === undefined) {
      if (undescribed.test(name) && answer.status === 200) return;
      if (answer.status < 400) fail('is an operation that is not documented');
      validate(isErrorBody);
      return;
    }
    const documented = operation.responses[answer.status];
    if (documented === undefined) {
      const isOfParser = parserStatuses.has(answer.status) && answer.headers['x-request-id'] === undefined;
      if (!isOfParser) fail('is not documented');
      validate(isErrorBody);
      return;
    }
    const pointer = ['paths', name, method.toLowerCase(), 'responses', String(answer.status)]
      .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
      .join('/');
    const key = `document#/${pointer}/content/application~1json/schema`;
    const isValid = ajv.getSchema(key);
    if (isValid === undefined) throw new Error(`The document has no schema at ${key}`);
    validate(isValid);
    if (answer.status >= 400 && document.paths[name]?.[method.toLowerCase()]?.security !== undefined) {
      validate(isErrorBody);
    }
    for (const header of ['link'] as const) {
      const named = Object.keys(documented.headers ?? {}).some((each) => each.toLowerCase() === header);
      if (answer.headers[header] !== undefined && !named)
        fail(`has a header ${header} that is not documented`);
    }
  };
}

/** A copy in which every object schema that names its properties allows no others. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, closed(member)]));
  const isOpenObject = copy['type'] === 'object' && typeof copy['properties'] === 'object';
  return isOpenObject && copy['additionalProperties'] === undefined
    ? { ...copy, additionalProperties: false }
    : copy;
}
