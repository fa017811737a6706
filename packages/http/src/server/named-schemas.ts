import type { TSchema } from 'typebox';

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
  const names = new Map(Object.entries(named).map(([name, schema]) => [visit(asWritten(schema)).text, name]));
  const components = new Map<string, unknown>();
  const { value: paths } = visit(document.paths, (text, value) => {
    const name = names.get(text);
    if (name === undefined) return value;
    components.set(name, value);
    return { $ref: `#/components/schemas/${name}` };
  });
  Object.assign(document, { paths });
  const schemas = Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  document.components = { ...document.components, schemas: { ...document.components?.schemas, ...schemas } };
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
