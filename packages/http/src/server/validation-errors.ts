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
} as const satisfies Options;

/**
 * Makes known what schemas may say besides JSON Schema: `x-reason`, the reason that a caller reads when a text
 * does not match the schema's `pattern`, such as "must end in .io".
 */
export function addKeywords(ajv: Ajv): void {
  ajv.addKeyword({ keyword: 'x-reason', schemaType: 'string' });
}

/**
 * How many values a part of a request may hold for all of its faults to be looked for; in a larger one only the
 * first is. 64 KiB of wrong items make a validator that collects every fault work for 100 ms, so few are let.
 */
const maxValues = 2000;

/** So many of a validator's errors are turned into words at most, for there are more than one to a fault. */
const maxErrors = 1000;

/** The parts of a request, by what Fastify calls their schemas. */
const parts = [
  ['params', 'path', 'params'],
  ['body', 'body', 'body'],
  ['querystring', 'query', 'query'],
  ['headers', 'header', 'headers'],
] as const;

/** Finds what keeps a request from holding to the schemas of its route: all faults of all its parts. */
export type FaultFinder = (request: FastifyRequest) => LeadsFault[];

/**
 * Validates anew, since requests are validated up to their first fault only. Validators are made when the first
 * request needs them, and kept.
 */
export function createFaultFinder(): FaultFinder {
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
        : toFaults(at, validate.errors ?? []);
    });
}

/** Validators that collect every fault, and such that stop at the first. */
function createValidators(): { every: Ajv; first: Ajv } {
  const [every, first] = [true, false].map((allErrors) => {
    const ajv = new Ajv({ ...validation, allErrors, verbose: true });
    addFormats.default(ajv);
    addKeywords(ajv);
    return ajv;
  }) as [Ajv, Ajv];
  return { every, first };
}

/** Makes what tells why values do not hold to a schema, as it is told of the body of a request. */
export function createBodyCheck(schema: object): (body: unknown) => LeadsFault[] {
  const validate = createValidators().every.compile(schema);
  return (body) => (validate(body) ? [] : toFaults('body', validate.errors ?? []));
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

function toFaults(at: LeadsFault['at'], errors: readonly ErrorObject[]): LeadsFault[] {
  const telling: ErrorObject[] = [];
  for (const error of errors.slice(0, maxErrors)) {
    // Its text is that of the names themselves.
    if (error.propertyName !== undefined) continue;
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') {
      telling.push(error);
      continue;
    }
    // The faults of its branches come right before that of the choice.
    const first = telling.findLastIndex((each) => !isWithin(each, error)) + 1;
    const meant = branchMeant(error, telling.splice(first));
    telling.push(...(meant ?? [error]));
  }
  return telling.map((error) => {
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
 * What the branches of a choice lack says less than that none of them fits, unless a single branch is for values
 * of the kind that was sent: then its faults say more.
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
  const { missingProperty, additionalProperty, unevaluatedProperty, propertyName } = params as Record<
    string,
    string | undefined
  >;
  const member = missingProperty ?? additionalProperty ?? unevaluatedProperty ?? propertyName;
  const pointer = member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`;
  if (at === 'body') return pointer;
  return pointer.split('/')[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** JSON's types in people's words. */
const types: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const formats: Record<string, string> = {
  email: 'an email address',
  'date-time': 'a date and time such as 2026-01-31T09:30:00Z (RFC 3339)',
  date: 'a date such as 2026-01-31',
  time: 'a time such as 09:30:00Z',
  uuid: 'a UUID',
  uri: 'an absolute URL',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  hostname: 'a host name',
};

/** Why a value does not hold to a keyword of its schema, without a word of what was sent. */
function reasonOf(
  at: LeadsFault['at'],
  { keyword, params, parentSchema, data, message }: ErrorObject,
): string {
  const { limit } = params as { limit?: number };
  if (at !== 'body' && Array.isArray(data) && (keyword === 'type' || keyword === 'enum')) {
    return 'must be given once';
  }
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${wordsOf(params['type'] as string | string[])}`;
    case 'enum':
      return `must be ${oneOf(params['allowedValues'] as unknown[])}`;
    case 'const':
      return `must be ${oneOf([params['allowedValue']])}`;
    case 'pattern':
      return patternReason(parentSchema ?? {});
    case 'format': {
      const format = String(params['format']);
      return `must be ${formats[format] ?? `a valid ${format}`}`;
    }
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${count(limit, 'character')}`;
    case 'maxLength':
      return `must have at most ${count(limit, 'character')}`;
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${count(limit, 'item')}`;
    case 'maxItems':
      return `must have at most ${count(limit, 'item')}`;
    case 'minProperties':
      return limit === 1 ? 'must not be empty' : `must have at least ${count(limit, 'field')}`;
    case 'maxProperties':
      return `must have at most ${count(limit, 'field')}`;
    case 'minimum':
      return `must be ${limit} or more`;
    case 'maximum':
      return `must be ${limit} or less`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'multipleOf':
      return `must be a multiple of ${params['multipleOf']}`;
    case 'uniqueItems':
      return 'must not hold the same item twice';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return at === 'body'
        ? 'is not a known field'
        : `is not a known ${at === 'header' ? 'header' : 'parameter'}`;
    case 'propertyNames':
      return 'has a name that is not allowed';
    case 'anyOf':
    case 'oneOf':
      return choiceReason(parentSchema?.[keyword] as Record<string, unknown>[], data);
    default:
      // Ajv's own texts tell of the schema only.
      return message ?? 'is not valid';
  }
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

function count(number: number | undefined, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}
