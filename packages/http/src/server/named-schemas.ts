import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';
import { problemMediaType } from './problem.ts';

/**
 * Replaces schemas of an OpenAPI document by references to components with their names. Generated clients name their
 * types after the components.
 *
 * @param document is changed.
 * @param named the schemas by name. Those that the document does not contain become no components.
 */
export function nameSchemas(
  document: { paths?: object; components?: { schemas?: object } },
  named: Readonly<Record<string, TSchema>>,
): void {
  const names = new Map(
    Object.entries(named).flatMap(([name, schema]) => {
      // The library moves the examples of a request body out of its schema.
      const { examples: _examples, ...ofBody } = schema as TSchema & { examples?: unknown };
      return [schema, ofBody].map((each) => [visit(asWritten(each)).text, name] as const);
    }),
  );
  const components = new Map<string, unknown>();
  const { value: paths } = visit(document.paths, (text, value) => {
    const name = names.get(text);
    if (name === undefined) return value;
    components.set(name, value);
    return { $ref: `#/components/schemas/${name}` };
  });
  Object.assign(document, { paths });
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ...sortedByName(components) },
  };
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly examples?: object }>>;
}

/**
 * Replaces the error responses of an OpenAPI document by references to components, which are named after the codes of
 * their errors. They would otherwise be two thirds of the document.
 *
 * @param document is changed.
 * @throws Error if two responses with the same codes differ.
 */
export function nameErrorResponses(document: {
  paths?: object;
  components?: { responses?: Record<string, object> };
}): void {
  const components: Record<string, Response> = {};
  const operations = Object.values(document.paths ?? {}).flatMap((path: object) => Object.values(path));
  for (const { responses } of operations as { responses: Record<string, Response> }[]) {
    for (const [status, response] of Object.entries(responses)) {
      const examples = response.content?.[problemMediaType]?.examples;
      if (examples === undefined) continue;
      const name = Object.keys(examples).map(asTypeName).join('Or');
      components[name] ??= response;
      if (!isDeepStrictEqual(components[name], response)) throw new Error(`Responses ${name} differ`);
      Object.assign(responses, { [status]: { $ref: `#/components/responses/${name}` } });
    }
  }
  document.components = { ...document.components, responses: sortedByName(Object.entries(components)) };
}

/** Returns the name of a type for an error code: `InvalidInput` for `invalid_input`. */
function asTypeName(code: string): string {
  return code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function sortedByName<Value>(entries: Iterable<[string, Value]>): Record<string, Value> {
  return Object.fromEntries([...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns a copy of a JSON value, and a text that equal values share, whatever the order of their members.
 *
 * @param replace returns the value to put in place of an object of the copy.
 */
function visit(
  given: unknown,
  replace: (text: string, value: object) => object = (_text, value) => value,
): { value: unknown; text: string } {
  if (typeof given !== 'object' || given === null) {
    return { value: given, text: JSON.stringify(given) ?? '' };
  }
  if (Array.isArray(given)) {
    const items = given.map((item) => visit(item, replace));
    return { value: items.map(({ value }) => value), text: `[${items.map(({ text }) => text).join()}]` };
  }
  const copy: Record<string, unknown> = {};
  const texts: string[] = [];
  for (const [name, member] of Object.entries(given)) {
    const { value, text } = visit(member, replace);
    copy[name] = value;
    texts.push(`${name}:${text}`);
  }
  const text = `{${texts.toSorted().join()}}`;
  return { value: replace(text, copy), text };
}

/**
 * Returns a schema as the library writes it into the document: `enum` instead of `const`, and `additionalProperties` instead
 * of `patternProperties`.
 */
function asWritten(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(asWritten);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]: [string, unknown]) => {
      if (keyword === 'const') return ['enum', [value]];
      if (keyword === 'patternProperties')
        return ['additionalProperties', asWritten(Object.values(value as object)[0])];
      return [keyword, asWritten(value)];
    }),
  );
}
