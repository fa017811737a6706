import asyncApiSchema from '@asyncapi/specs/schemas/3.0.0.json' with { type: 'json' };
import { Ajv, type Options } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';

/** The parts of an AsyncAPI 3.0 document that the tests read. */
interface AsyncApiDocument {
  readonly channels: Readonly<
    Record<
      string,
      { readonly address: string | null; readonly messages: Readonly<Record<string, Reference>> }
    >
  >;
  readonly operations: Readonly<
    Record<string, { readonly channel: Reference; readonly messages: readonly Reference[] }>
  >;
  readonly components: {
    readonly messages: Readonly<
      Record<
        string,
        {
          readonly name: string;
          readonly payload: Reference;
          readonly examples: readonly { readonly payload: unknown }[];
        }
      >
    >;
    readonly schemas: Readonly<Record<string, object>>;
  };
}
interface Reference {
  readonly $ref: string;
}

/**
 * Tests that a document is valid AsyncAPI 3.0, that its references resolve, and that its examples match its
 * schemas.
 */
export function describeAsyncApi(served: unknown): void {
  const document = served as AsyncApiDocument;
  const ajv = createAjv();
  const messages = Object.entries(document.components.messages);

  test('the document is valid AsyncAPI 3.0', () => {
    // The schema contains its own metaschema.
    const isValid = createAjv({ meta: false, validateSchema: false }).compile(asyncApiSchema);
    expect([isValid(served), isValid.errors]).toEqual([true, null]);
  });

  test('every reference of the document resolves to an object', () => {
    const references = [...JSON.stringify(served).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      ([, path = '']) => path,
    );
    expect(references.length).toBeGreaterThan(0);
    for (const path of references) {
      const found = path
        .split('/')
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], served);
      expect([path, typeof found]).toEqual([path, 'object']);
    }
  });

  test('each message of the document has its own channel in NATS and its own operation, and is sent to webhooks', () => {
    const addresses = Object.values(document.channels).flatMap(({ address }) => address ?? []);
    expect(Object.keys(document.channels['webhooks']?.messages ?? {})).toEqual(
      messages.map(([name]) => name),
    );
    expect(new Set(addresses).size).toBe(messages.length);
    for (const [name, { name: type }] of messages) {
      expect(document.channels[name]?.address?.endsWith(`.${type}`)).toBe(true);
      expect(document.operations[name]?.channel).toEqual({ $ref: `#/channels/${name}` });
    }
  });

  test('each example matches the schema of its message, and no other schema', () => {
    for (const [name, { payload, examples }] of messages) {
      expect(payload).toEqual({ $ref: `#/components/schemas/${name}` });
      expect(examples.length).toBeGreaterThan(0);
      for (const [other, schema] of Object.entries(document.components.schemas)) {
        for (const example of examples) {
          expect([name, other, ajv.validate(schema, example.payload)]).toEqual([name, other, name === other]);
        }
      }
    }
  });
}

function createAjv(options: Options = {}): Ajv {
  const ajv = new Ajv({ strict: false, allErrors: true, ...options });
  addFormats.default(ajv);
  return ajv;
}
