import type { FieldError } from '@leads/core/errors';
import { Ajv, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifyRequest } from 'fastify';
import traverse from 'json-schema-traverse';
import { escapePointer } from './problem.ts';

/** The Ajv options of request validation: values are not converted, removed or set to defaults. */
export const validation = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  // The meta-schema of JSON Schema uses keywords that restrictKeywords removes. TypeScript checks TypeBox schemas.
  meta: false,
  validateSchema: false,
  // Compiling takes half the time, which is 50 ms of a start. V8 optimizes the validators as well: they are not slower.
  code: { optimize: false },
} as const satisfies Options;

/** Keywords that cannot fail themselves: they contain or reference other schemas. */
const structuralKeywords = ['$ref', '$comment', 'id', 'items', 'nullable', 'patternProperties', 'properties'];

/**
 * Restricts the keywords of request schemas to those with an error message. A server whose schemas use another keyword
 * does not start. Adds the keyword `x-reason`: the message for a value that does not match the schema's `pattern` or any
 * schema of its `anyOf`, such as "must end in .io". Adds the keyword `x-integer`: the
 * range of a text that is a whole number, for the OpenAPI document.
 */
export function restrictKeywords(ajv: Ajv): void {
  const known = new Set([...structuralKeywords, ...Object.keys(reasons)]);
  for (const keyword of Object.keys(ajv.RULES.all)) if (!known.has(keyword)) ajv.removeKeyword(keyword);
  ajv.addKeyword({ keyword: 'x-reason', schemaType: 'string' });
  ajv.addKeyword({ keyword: 'x-integer', schemaType: 'object' });
}

/** Restricts the format `uuid` to a form that Postgres reads. That of ajv-formats also accepts `urn:uuid:...`. */
export function restrictFormats(ajv: Ajv): void {
  ajv.addFormat('uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
}

const validators = new Map<string, ValidateFunction>();

/**
 * Makes `ajv` compile each schema when the first request needs it, and once for all servers of the process. Of the 322 request
 * schemas of the CRM, 89 differ, and none references another schema. Compiling all of them took 40 % of the processor
 * time of a start.
 */
export function shareValidators(ajv: Ajv): void {
  const compile = ajv.compile.bind(ajv) as (schema: AnySchemaObject) => ValidateFunction;
  const share = (schema: AnySchemaObject) => {
    const key = JSON.stringify(schema);
    let validate = validators.get(key);
    if (validate === undefined) {
      // Ajv checks the keywords only when it compiles the schema.
      traverse(schema, (part) => requireKnownKeywords(ajv, part));
      validate = compileLater(compile, schema);
      validators.set(key, validate);
    }
    return validate;
  };
  ajv.compile = share as typeof ajv.compile;
}

/** @throws Error if a schema has a keyword that Ajv does not know. */
function requireKnownKeywords(ajv: Ajv, schema: AnySchemaObject): void {
  const unknown = Object.keys(schema).find((keyword) => ajv.RULES.keywords[keyword] === undefined);
  if (unknown !== undefined) throw new Error(`A request schema has the unknown keyword "${unknown}"`);
}

/** Returns a validator that compiles its schema when it validates the first value. */
function compileLater(
  compile: (schema: AnySchemaObject) => ValidateFunction,
  schema: AnySchemaObject,
): ValidateFunction {
  let compiled: ValidateFunction | undefined;
  const validate = (value: unknown) => {
    compiled ??= compile(schema);
    const isValid = compiled(value);
    validate.errors = compiled.errors;
    return isValid;
  };
  // The search for all errors reads the schema, and Fastify reads the errors.
  validate.schema = schema;
  validate.errors = undefined as ValidateFunction['errors'];
  return validate as unknown as ValidateFunction;
}

/**
 * The most values of one part of a request for which all errors are collected. For a larger part, only the first error
 * is reported: collecting all errors of 64 KiB of wrong items takes 100 ms.
 */
const maxValues = 2000;

/** The most validator errors that are described. One wrong field can have several. */
const maxErrors = 1000;

/** The parts of a request: Fastify's name of the schema, the name in an error, and the property of the request. */
const parts = [
  ['params', 'path', 'params'],
  ['body', 'body', 'body'],
  ['querystring', 'query', 'query'],
  ['headers', 'header', 'headers'],
] as const;

/** Finds the errors of all parts of a request against the schemas of its route. */
export type FieldErrorFinder = (request: FastifyRequest) => FieldError[];

/**
 * Validates a request again, since Fastify stops at the first error. Validators are compiled when a request first
 * needs them, and cached.
 */
export function createFieldErrorFinder(): FieldErrorFinder {
  const { every, first } = createValidators();

  return (request) =>
    parts.flatMap(([name, at, property]) => {
      // Fastify's own copy of the schema has header names in lower case.
      const { schema } = (request.getValidationFunction(name) ?? {}) as { schema?: object };
      if (schema === undefined) return [];
      const value = request[property];
      const validate = (hasAtMost(value, maxValues) ? every : first).compile(schema);
      if (validate(value)) return [];
      return value === undefined
        ? [{ at, path: '', reason: 'is required' }]
        : toFieldErrors(at, validate.errors ?? []);
    });
}

/** Creates a validator that collects every error, and one that stops at the first. */
function createValidators(): { every: Ajv; first: Ajv } {
  const [every, first] = [true, false].map((allErrors) => {
    const ajv = new Ajv({ ...validation, allErrors, verbose: true });
    addFormats.default(ajv);
    restrictKeywords(ajv);
    restrictFormats(ajv);
    return ajv;
  }) as [Ajv, Ajv];
  return { every, first };
}

/** Creates a function that validates values against a schema and reports errors like those of a request body. */
export function createBodyCheck(schema: object): (body: unknown) => FieldError[] {
  let validate: ValidateFunction | undefined;
  return (body) => {
    // Compiled late: the imports of the CRM are rare, and its start would take 20 ms more processor time.
    validate ??= createValidators().every.compile(schema);
    return validate(body) ? [] : toFieldErrors('body', validate.errors ?? []);
  };
}

/** Returns whether a JSON value contains at most `limit` values. Uses an explicit stack, and stops at the limit. */
function hasAtMost(root: unknown, limit: number): boolean {
  const stack: unknown[] = [root];
  for (let seen = 0; stack.length > 0; seen++) {
    if (seen >= limit) return false;
    const value = stack.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const member of Object.values(value)) stack.push(member);
  }
  return true;
}

function toFieldErrors(at: FieldError['at'], errors: readonly ErrorObject[]): FieldError[] {
  const relevant: ErrorObject[] = [];
  for (const error of errors.slice(0, maxErrors)) {
    if (error.keyword !== 'anyOf') {
      relevant.push(error);
      continue;
    }
    // Ajv lists the errors of the branches directly before the error of the choice.
    const first = relevant.findLastIndex((each) => !isWithin(each, error)) + 1;
    const ofBranches = relevant.splice(first);
    const meant = ownReasonOf(error) === undefined ? branchMeant(error, ofBranches) : undefined;
    relevant.push(...(meant ?? [error]));
  }
  return relevant.map((error) => {
    const path = pathOf(at, error);
    const reason = reasonOf(at, error);
    return path === undefined ? { at, reason: `The ${at} ${reason}` } : { at, path, reason };
  });
}

function isWithin(error: ErrorObject, choice: ErrorObject): boolean {
  return (
    error.schemaPath.startsWith(`${choice.schemaPath}/`) && error.instancePath.startsWith(choice.instancePath)
  );
}

/**
 * Returns the errors of the branch of a choice that accepts the type of the sent value. Returns `undefined` if several
 * branches accept it, or none: the error of the choice is then clearer.
 */
function branchMeant(choice: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[] | undefined {
  const branches = new Map<string, ErrorObject[]>();
  for (const error of errors) {
    const branch = error.schemaPath.slice(choice.schemaPath.length + 1).split('/', 1)[0] ?? '';
    const ofBranch = branches.get(branch);
    if (ofBranch === undefined) branches.set(branch, [error]);
    else ofBranch.push(error);
  }
  const [meant, ...others] = [...branches.values()].filter((each) =>
    each.every(
      ({ keyword, instancePath }) =>
        keyword !== 'const' &&
        ((keyword !== 'type' && keyword !== 'enum') || instancePath !== choice.instancePath),
    ),
  );
  return others.length === 0 ? meant : undefined;
}

/** Returns a JSON Pointer into the body, or the name of a parameter or header if the error is about a single one. */
function pathOf(at: FieldError['at'], { instancePath, params }: ErrorObject): string | undefined {
  const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
  const member = missingProperty ?? additionalProperty;
  const pointer = member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`;
  if (at === 'body') return pointer;
  return pointer.split('/')[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The names of JSON's types in messages. */
const types: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

const formats: Readonly<Record<string, string>> = {
  email: 'an email address',
  'date-time': 'a date and time such as 2026-01-31T09:30:00Z (RFC 3339)',
  date: 'a date such as 2026-01-31',
  uuid: 'a UUID',
};

type Reason = (error: ErrorObject, at: FieldError['at']) => string;

/** Returns the message of a lower or upper bound: of characters, items or fields. */
const atLeast =
  (thing: string): Reason =>
  ({ params: { limit } }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${count(limit as number, thing)}`;
const atMost =
  (thing: string): Reason =>
  ({ params: { limit } }) =>
    `must have at most ${count(limit as number, thing)}`;

/** The error message of each keyword. No message contains any part of the value. */
const reasons: Readonly<Record<string, Reason>> = {
  required: () => 'is required',
  type: ({ params }) => `must be ${wordsOf(params['type'] as string | string[])}`,
  enum: ({ params }) => `must be ${oneOf(params['allowedValues'] as unknown[])}`,
  const: ({ params }) => `must be ${oneOf([params['allowedValue']])}`,
  pattern: (error) => ownReasonOf(error) ?? patternReason(error.parentSchema?.['description']),
  format: ({ params }) => `must be ${formats[String(params['format'])] ?? `a valid ${params['format']}`}`,
  minLength: atLeast('character'),
  maxLength: atMost('character'),
  minItems: atLeast('item'),
  maxItems: atMost('item'),
  minProperties: atLeast('field'),
  minimum: ({ params }) => `must be ${params['limit']} or more`,
  maximum: ({ params }) => `must be ${params['limit']} or less`,
  uniqueItems: () => 'must not contain duplicates',
  additionalProperties: (_, at) =>
    `is not a known ${at === 'body' ? 'field' : at === 'header' ? 'header' : 'parameter'}`,
  anyOf: (error) =>
    ownReasonOf(error) ??
    choiceReason(error.parentSchema?.['anyOf'] as Record<string, unknown>[], error.data),
};

function reasonOf(at: FieldError['at'], error: ErrorObject): string {
  const { keyword, data } = error;
  if (at !== 'body' && Array.isArray(data) && (keyword === 'type' || keyword === 'enum')) {
    return 'must be given only once';
  }
  return reasons[keyword]?.(error, at) ?? 'is not valid';
}

/** Returns the message that the schema itself has. */
function ownReasonOf({ parentSchema }: ErrorObject): string | undefined {
  return parentSchema?.['x-reason'] as string | undefined;
}

function patternReason(description: unknown): string {
  return typeof description === 'string'
    ? `does not match the required format: ${description}`
    : 'does not match the required format';
}

function choiceReason(branches: readonly Record<string, unknown>[], data: unknown): string {
  if (branches.every((branch) => 'const' in branch)) {
    return `must be ${oneOf(branches.map((branch) => branch['const']))}`;
  }
  const taken = branches.flatMap(({ type }) => type as string | string[] | undefined);
  const sent = data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data;
  return taken.includes(undefined) || taken.includes(sent)
    ? 'does not match any of the allowed forms'
    : `must be ${wordsOf(taken as string[])}`;
}

function wordsOf(names: string | string[]): string {
  return list([...new Set([names].flat())].map((name) => types[name] ?? name));
}

function oneOf(values: readonly unknown[]): string {
  return list(values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))));
}

function list(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}
