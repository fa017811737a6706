import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import {
  errorBodySchema,
  guardedRoutesOf,
  type JsonSchema,
  type MediaType,
  type OpenApiDocument,
  problemSchema,
  routesOf,
} from '../openapi-document.ts';

const headersOfErrors: Readonly<Record<string, string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const securitySchemes: Readonly<Record<string, object>> = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'API_KEY' },
  AccessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  BrowserKey: { type: 'apiKey', in: 'query', name: 'API_KEY' },
};

/**
 * Tests that a client can be generated from a document, and that the document matches the specification.
 *
 * @param schemaNames the names of the components that the document must have.
 */
export function describeOpenApi(
  { document, published }: { readonly document: OpenApiDocument; readonly published: OpenApiDocument },
  schemaNames: readonly string[],
): void {
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
  addFormats.default(ajv);
  const routes = routesOf(document);
  const schemaErrors = (schema: JsonSchema, value: unknown) =>
    ajv.validate(schema, value) ? [] : [ajv.errorsText(ajv.errors)];

  test('the document is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate({ ...structuredClone(published) });
    expect(result.errors).toBeUndefined();
    expect([result.valid, validator.version]).toEqual([true, '3.1']);
  });

  test('schemas have names, after which generated clients name their types, and each is described once', () => {
    expect(Object.keys(published.components?.schemas ?? {}).toSorted()).toEqual(
      ['ErrorBody', 'Problem', ...schemaNames].toSorted(),
    );
    const texts = new Map(
      Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => [
        JSON.stringify(schema),
        name,
      ]),
    );
    const repeated: string[] = [];
    JSON.stringify(published.paths, (_key, value: unknown) => {
      const name = texts.get(JSON.stringify(value));
      if (name !== undefined) repeated.push(name);
      return value;
    });
    expect(repeated).toEqual([]);
  });

  test('error responses have the names of their errors, and each is described once', () => {
    const named = new Set<string>();
    for (const { operation } of guardedRoutesOf(published)) {
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) >= 400) named.add((response as { $ref?: string }).$ref ?? 'described in place');
      }
    }
    expect(named).toContain('#/components/responses/Unauthenticated');
    expect(
      Object.keys(published.components?.responses ?? {}).map((name) => `#/components/responses/${name}`),
    ).toEqual([...named].toSorted());
  });

  test('spec 9: the version is 1.0.0', () => {
    expect(document.info.version).toBe('1.0.0');
  });

  test('operation ids are unique', () => {
    const ids = routes.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('spec 5: the security schemes match the specification, and an operation uses each', () => {
    const used = guardedRoutesOf(document).flatMap(({ operation }) => operation.security ?? []);
    const names = new Set(used.flatMap((each) => Object.keys(each)));
    expect(document.components?.securitySchemes).toEqual(
      Object.fromEntries(
        [...names].map((name) => [name, expect.objectContaining(securitySchemes[name] ?? {})]),
      ),
    );
    for (const { operation } of guardedRoutesOf(document)) {
      // One requirement with both schemes, for each scope that suffices. Another requirement is an alternative, and
      // only the plain form has one.
      const schemesOf = (each: object) => Object.keys(each).join();
      const [first = {}, ...alternatives] = operation.security ?? [];
      const others = alternatives.filter((each) => schemesOf(each) !== schemesOf(first));
      for (const other of others) expect(Object.keys(other)).toEqual(['BrowserKey']);
      expect(others.length).toBe(operation.operationId === 'submitLead' ? 1 : 0);
    }
  });

  for (const { method, path, operation } of routes) {
    describe(`${method} ${path}`, () => {
      test('has an operation id, a summary and existing tags', () => {
        expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/);
        expect(operation.summary).toMatch(/\S/);
        expect(operation.tags?.length).toBeGreaterThan(0);
        const tags = document.tags?.map(({ name }) => name) ?? [];
        for (const tag of operation.tags ?? []) expect(tags).toContain(tag);
      });

      test('describes every response header and its type', () => {
        for (const { headers = {} } of Object.values(operation.responses)) {
          for (const [name, header] of Object.entries(headers)) {
            expect([name, header]).toEqual([
              name,
              {
                description: expect.stringMatching(/\S/),
                schema: { type: expect.stringMatching(/^(string|integer)$/) },
              },
            ]);
          }
        }
      });

      if (operation.security !== undefined) {
        test('spec 7: documents its error responses with the three-field body', () => {
          const statuses = ['400', '401', '403', '500', '503'];
          const bodies = Object.keys(operation.requestBody?.content ?? {});
          // The service also parses the body of a request whose operation needs none, such as DELETE.
          if (method !== 'GET') statuses.push('415');
          // Bodies of other media types have no size limit.
          const isJson = bodies.length === 0 || bodies.includes('application/json');
          if (method !== 'GET' && isJson) statuses.push('413');
          expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(statuses));
          for (const [status, response] of Object.entries(operation.responses)) {
            expect(response.description).toMatch(/\S/);
            if (Number(status) < 400) continue;
            expect(Object.keys(response.headers ?? {})).toEqual(
              expect.arrayContaining(headersOfErrors[status] ?? []),
            );
            const { schema, ...media } = response.content?.['application/json'] ?? {};
            expect(schema?.additionalProperties).toBe(false);
            expect(schema?.required?.toSorted()).toEqual(errorBodySchema.required.toSorted());
            expect(Object.keys(schema?.properties ?? {}).toSorted()).toEqual(
              Object.keys(errorBodySchema.properties).toSorted(),
            );
            const examples = examplesOf(media);
            expect(examples.length).toBeGreaterThan(0);
            for (const example of examples) expect(schemaErrors(errorBodySchema, example)).toEqual([]);
          }
        });

        test('documents its error responses as problem details, each with an example', () => {
          const { required, properties } = problemSchema;
          for (const [status, response] of Object.entries(operation.responses)) {
            if (Number(status) < 400) continue;
            const { schema, ...media } = response.content?.['application/problem+json'] ?? {};
            expect(schema).toEqual(document.components?.schemas?.['Problem']);
            const examples = examplesOf(media);
            expect(examples).toHaveLength(examplesOf(response.content?.['application/json'] ?? {}).length);
            for (const example of examples) {
              // This member is set for each response.
              expect(
                schemaErrors(problemSchema, { ...(example as object), instance: 'urn:request:1' }),
              ).toEqual([]);
              expect(example).toHaveProperty('status', Number(status));
            }
          }
          const problem = document.components?.schemas?.['Problem'];
          expect(problem?.additionalProperties).toBe(false);
          expect(Object.keys(problem?.properties ?? {}).toSorted()).toEqual(
            Object.keys(properties).toSorted(),
          );
          expect(required).toEqual(expect.arrayContaining([...(problem?.required ?? [])]));
        });
      }

      test('describes its parameters, and lists all parameters of its path', () => {
        const parameters = operation.parameters ?? [];
        for (const { name, description } of parameters) {
          expect([name, description]).toEqual([name, expect.stringMatching(/\S/)]);
        }
        const inPath = parameters.filter((parameter) => parameter.in === 'path');
        expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{[^}]+\}/g) ?? []);
        for (const { required } of inPath) expect(required).toBe(true);
        const statuses = inPath.map(() => '404');
        expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(statuses));
      });

      test('has examples that match their schemas', () => {
        const medias = [operation.requestBody, ...Object.values(operation.responses)].flatMap((each) =>
          Object.values(each?.content ?? {}),
        );
        for (const media of medias) {
          for (const example of examplesOf(media))
            expect(schemaErrors(media.schema ?? {}, example)).toEqual([]);
          expect(exampleErrors(media.schema ?? {})).toEqual([]);
        }
        for (const { schema, ...parameter } of operation.parameters ?? []) {
          for (const example of examplesOf(parameter)) {
            expect(schemaErrors(schema, example)).toEqual([]);
            // Generated clients take a number for a whole number.
            expect(typeof example === 'string' && /^\d+$/.test(example)).toBe(false);
          }
          expect(exampleErrors(schema)).toEqual([]);
        }
      });

      if (operation.security !== undefined) {
        test('describes every field of its body and its response, with an example', () => {
          const success = operation.responses['200']?.content?.['application/json']?.schema;
          const body = operation.requestBody?.content['application/json']?.schema;
          for (const [name, field] of [body, success].flatMap((schema) => fieldsOf(schema ?? {}))) {
            if (field.type === 'object' || name === 'success') continue;
            expect([name, field['description']]).toEqual([name, expect.stringMatching(/\S/)]);
            expect([name, field.examples?.length]).toEqual([name, expect.any(Number)]);
          }
        });
      }
    });
  }

  /** Returns an error for each example that does not match its schema. */
  function exampleErrors(schema: JsonSchema): string[] {
    const own = (schema.examples ?? []).flatMap((example) => schemaErrors(schema, example));
    return [...own, ...fieldsOf(schema).flatMap(([, field]) => exampleErrors(field))];
  }
}

function examplesOf({ example, examples = {} }: MediaType): unknown[] {
  const named = Object.values(examples).map(({ value }) => value);
  return example === undefined ? named : [example, ...named];
}

/** Returns the fields of an object schema, of array items, and of nested objects. */
function fieldsOf({ properties = {}, items }: JsonSchema): [string, JsonSchema][] {
  const own = Object.entries(properties);
  return [...own, ...own.flatMap(([, field]) => fieldsOf(field)), ...(items ? fieldsOf(items) : [])];
}
