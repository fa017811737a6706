import type { LeadsFault } from '@leads/core/errors';
import { Ajv, type ErrorObject, type Options } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifyRequest } from 'fastify';
import { escapePointer } from './problem.ts';

/** How requests are validated: nothing is converted, dropped or filled in. */
export const validation = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  // The meta-schema of JSON Schema uses keywords that restrictKeywords removes. TypeScript checks TypeBox schemas.
  meta: false,
  validateSchema: false,
} as const satisfies Options;

/** Keywords that cannot fail by themselves: they hold other schemas, or name them. */
const structuralKeywords = ['$ref', '$comment', 'id', 'items', 'nullable', 'patternProperties', 'properties'];

/**
 * Restricts the keywords of request schemas to those with a reason for callers, so that a server whose schemas use
 * another keyword does not start. Adds the keyword `x-reason`: what a caller reads when a text does not match the
 * schema's `pattern`, such as "must end in .io".
 */
export function restrictKeywords(ajv: Ajv): void {
  const known = new Set([...structuralKeywords, ...Object.keys(reasons)]);
  for (const keyword of Object.keys(ajv.RULES.all)) if (!known.has(keyword)) ajv.removeKeyword(keyword);
  ajv.addKeyword({ keyword: 'x-reason', schemaType: 'string' });
}

/**
 * The most values of one part of a request for which all errors are collected; of a larger part only the first error
 * is. Collecting all errors of 64 KiB of wrong items takes 100 ms.
 */
const maxValues = 2000;

/** The most validator errors that are described. One wrong field can have several. */
const maxErrors = 1000;

/** The parts of a request, by what Fastify calls their schemas. */
const parts = [
  ['params', 'path', 'params'],
  ['body', 'body', 'body'],
  ['querystring', 'query', 'query'],
  ['headers', 'header', 'headers'],
] as const;

/** Finds the errors of all parts of a request against the schemas of its route. */
export type FieldErrorFinder = (request: FastifyRequest) => LeadsFault[];

/**
 * Validates a request again, since Fastify stops at the first error. Validators are compiled when a request first
 * needs them, and cached.
 */
export function createFieldErrorFinder(): FieldErrorFinder {
  const { every, first } = createValidators();

  return (request) =>
    parts.flatMap(([name, at, property]) => {
      // The schema as the server reads it, where the names of headers are in lower case.
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
    return ajv;
  }) as [Ajv, Ajv];
  return { every, first };
}

/** Creates a check of values against a schema that reports errors as those of a request's body. */
export function createBodyCheck(schema: object): (body: unknown) => LeadsFault[] {
  const validate = createValidators().every.compile(schema);
  return (body) => (validate(body) ? [] : toFieldErrors('body', validate.errors ?? []));
}

/** Whether a JSON value holds no more values than so many. Walks with a stack of its own, and stops early. */
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

function toFieldErrors(at: LeadsFault['at'], errors: readonly ErrorObject[]): LeadsFault[] {
  const relevant: ErrorObject[] = [];
  for (const error of errors.slice(0, maxErrors)) {
    if (error.keyword !== 'anyOf') {
      relevant.push(error);
      continue;
    }
    // The errors of the branches come right before that of the choice.
    const first = relevant.findLastIndex((each) => !isWithin(each, error)) + 1;
    const meant = branchMeant(error, relevant.splice(first));
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
 * Returns the errors of the only branch of a choice that accepts the kind of value that was sent. With several such
 * branches, or none, the error of the choice says more.
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

/** A JSON Pointer into the body; the name of a parameter or a header, if it is about a single one. */
function pathOf(at: LeadsFault['at'], { instancePath, params }: ErrorObject): string | undefined {
  const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
  const member = missingProperty ?? additionalProperty;
  const pointer = member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`;
  if (at === 'body') return pointer;
  return pointer.split('/')[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The names of JSON's types. */
const types: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const formats: Readonly<Record<string, string>> = {
  email: 'an email address',
  'date-time': 'a date and time such as 2026-01-31T09:30:00Z (RFC 3339)',
  date: 'a date such as 2026-01-31',
  uuid: 'a UUID',
};

type Reason = (error: ErrorObject, at: LeadsFault['at']) => string;

/** A bound of a length, a number of items or of fields. */
const atLeast =
  (thing: string): Reason =>
  ({ params: { limit } }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${count(limit as number, thing)}`;
const atMost =
  (thing: string): Reason =>
  ({ params: { limit } }) =>
    `must have at most ${count(limit as number, thing)}`;

/** By keyword, why a value does not match its schema. No reason holds any part of the value. */
const reasons: Readonly<Record<string, Reason>> = {
  required: () => 'is required',
  type: ({ params }) => `must be ${wordsOf(params['type'] as string | string[])}`,
  enum: ({ params }) => `must be ${oneOf(params['allowedValues'] as unknown[])}`,
  const: ({ params }) => `must be ${oneOf([params['allowedValue']])}`,
  pattern: ({ parentSchema }) => patternReason(parentSchema ?? {}),
  format: ({ params }) => `must be ${formats[String(params['format'])] ?? `a valid ${params['format']}`}`,
  minLength: atLeast('character'),
  maxLength: atMost('character'),
  minItems: atLeast('item'),
  maxItems: atMost('item'),
  minProperties: atLeast('field'),
  minimum: ({ params }) => `must be ${params['limit']} or more`,
  maximum: ({ params }) => `must be ${params['limit']} or less`,
  uniqueItems: () => 'must not hold the same item twice',
  additionalProperties: (_, at) =>
    `is not a known ${at === 'body' ? 'field' : at === 'header' ? 'header' : 'parameter'}`,
  anyOf: ({ parentSchema, data }) => choiceReason(parentSchema?.['anyOf'] as Record<string, unknown>[], data),
};

function reasonOf(at: LeadsFault['at'], error: ErrorObject): string {
  const { keyword, data } = error;
  if (at !== 'body' && Array.isArray(data) && (keyword === 'type' || keyword === 'enum')) {
    return 'must be given once';
  }
  return reasons[keyword]?.(error, at) ?? 'is not valid';
}

function patternReason(schema: Record<string, unknown>): string {
  const { 'x-reason': reason, description } = schema as Record<string, string | undefined>;
  if (reason !== undefined) return reason;
  return description === undefined
    ? 'does not have the right form'
    : `does not have the right form: ${description}`;
}

function choiceReason(branches: readonly Record<string, unknown>[], data: unknown): string {
  if (branches.every((branch) => 'const' in branch)) {
    return `must be ${oneOf(branches.map((branch) => branch['const']))}`;
  }
  const taken = branches.flatMap(({ type }) => type as string | string[] | undefined);
  const sent = data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data;
  return taken.includes(undefined) || taken.includes(sent)
    ? 'has none of the forms that are allowed here'
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
