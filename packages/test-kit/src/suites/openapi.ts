import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import {
  errorBodySchema,
  guardedRoutesOf,
  type JsonSchema,
  type MediaType,
  needs,
  type OpenApiDocument,
  problemSchema,
  routesOf,
} from '../openapi-document.ts';

const headersOfErrors: Readonly<Record<string, string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Whether a client can be generated from a document, and whether the document holds to the specification. */
export function describeOpenApi(document: OpenApiDocument): void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  // What schemas refer to.
  ajv.addSchema({ $id: 'https://document.test/', components: document.components });
  const routes = routesOf(document);
  const faults = (schema: JsonSchema, value: unknown) =>
    ajv.validate(absolute(schema), value) ? [] : [ajv.errorsText(ajv.errors)];

  test('the document is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate({ ...structuredClone(document) });
    expect(result.errors).toBeUndefined();
    expect([result.valid, validator.version]).toEqual([true, '3.1']);
  });

  test('spec 9: the version is 1.0.0', () => {
    expect(document.info.version).toBe('1.0.0');
  });

  test('operation ids are unique', () => {
    const ids = routes.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('spec 5: the security schemes are those of the specification', () => {
    const schemes = document.components?.securitySchemes;
    expect(schemes?.['ApiKey']).toMatchObject({ type: 'apiKey', in: 'header', name: 'API_KEY' });
    expect(schemes?.['AccessToken']).toMatchObject({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' });
    for (const { operation } of guardedRoutesOf(document)) {
      // One requirement of both schemes: two mean either, as only a plain form has it.
      const [, ...others] = operation.security ?? [];
      for (const other of others) {
        expect(Object.keys(other)).toEqual(['BrowserKey']);
        expect(schemes?.['BrowserKey']).toMatchObject({ type: 'apiKey', in: 'query', name: 'API_KEY' });
      }
      expect(others.length).toBe(operation.operationId === 'submitLead' ? 1 : 0);
      for (const scheme of needs(operation)) expect(schemes).toHaveProperty(scheme);
    }
  });

  for (const { method, path, operation } of routes) {
    describe(`${method} ${path}`, () => {
      test('is named, summed up and filed under tags that are there', () => {
        expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/);
        expect(operation.summary).toMatch(/\S/);
        expect(operation.tags?.length).toBeGreaterThan(0);
        const tags = document.tags?.map(({ name }) => name) ?? [];
        for (const tag of operation.tags ?? []) expect(tags).toContain(tag);
      });

      test('every header of an answer is described, and of a type', () => {
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
        test('spec 7: every error it may answer is there, with the three-field body', () => {
          const statuses = ['400', '401', '403', '500', '503'];
          const bodies = Object.keys(operation.requestBody?.content ?? {});
          if (bodies.length > 0) statuses.push('415');
          // Of other media types, bodies of any length are taken.
          if (bodies.includes('application/json')) statuses.push('413');
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
            for (const example of examples) expect(faults(errorBodySchema, example)).toEqual([]);
          }
        });

        test('every error it may answer is there as problem details, with an example of each', () => {
          const { required, properties } = problemSchema;
          for (const [status, response] of Object.entries(operation.responses)) {
            if (Number(status) < 400) continue;
            const { schema, ...media } = response.content?.['application/problem+json'] ?? {};
            expect(schema).toEqual({ $ref: '#/components/schemas/Problem' });
            const examples = examplesOf(media);
            expect(examples).toHaveLength(examplesOf(response.content?.['application/json'] ?? {}).length);
            for (const example of examples) {
              // The one member that only an answer has.
              expect(faults(problemSchema, { ...(example as object), instance: 'urn:request:1' })).toEqual(
                [],
              );
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

      test('every parameter is described, and those in its path are there', () => {
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

      test('its examples hold to their schemas', () => {
        const medias = [operation.requestBody, ...Object.values(operation.responses)].flatMap((each) =>
          Object.values(each?.content ?? {}),
        );
        for (const media of medias) {
          for (const example of examplesOf(media)) expect(faults(media.schema ?? {}, example)).toEqual([]);
          expect(faultyExamples(media.schema ?? {})).toEqual([]);
        }
        for (const { schema } of operation.parameters ?? []) expect(faultyExamples(schema)).toEqual([]);
      });

      if (operation.security !== undefined) {
        test('every field that is sent or answered is described and has an example', () => {
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

  /** Every example within a schema that the part it belongs to does not take. */
  function faultyExamples(schema: JsonSchema): string[] {
    const own = (schema.examples ?? []).flatMap((example) => faults(schema, example));
    return [...own, ...fieldsOf(schema).flatMap(([, field]) => faultyExamples(field))];
  }
}

/** A schema whose references lead to the document. */
function absolute(schema: JsonSchema): JsonSchema {
  return schema.$ref === undefined ? schema : { $ref: `https://document.test/${schema.$ref}` };
}

function examplesOf({ example, examples = {} }: MediaType): unknown[] {
  const named = Object.values(examples).map(({ value }) => value);
  return example === undefined ? named : [example, ...named];
}

/** The fields of an object schema, of the items of an array, and of the objects within. */
function fieldsOf({ properties = {}, items }: JsonSchema): [string, JsonSchema][] {
  const own = Object.entries(properties);
  return [...own, ...own.flatMap(([, field]) => fieldsOf(field)), ...(items ? fieldsOf(items) : [])];
}
