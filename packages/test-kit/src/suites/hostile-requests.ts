import { describe, expect, test } from 'vitest';
import { endingRoutesOf, exampleBody, exampleEntity, fillPath } from '../openapi-document.ts';
import type { RunningService } from '../running-service.ts';
import {
  anyJson,
  constantFrom,
  forAll,
  mutationsOf,
  oneOf,
  query,
  storableText,
  tuple,
  unknownMembers,
} from './hostile-input.ts';

/**
 * Requests of any path parameter, query and body to every guarded route, with good credentials: each is answered,
 * as documented, and none is a fault of the service.
 *
 * @param options.ids what a path may name.
 */
export function describeHostileRequests(options: {
  service: RunningService;
  headers: Readonly<Record<string, string>>;
  ids: readonly string[];
}): void {
  const { service, ids } = options;
  const shortText = storableText.filter((text) => text !== '' && text.length < 100);
  for (const { method, path, operation } of endingRoutesOf(service.document)) {
    const example = exampleBody(operation);
    const entity = exampleEntity(operation);
    const headers = { ...options.headers, ...(entity !== undefined && { 'Content-Type': entity.type }) };
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
    const id = oneOf(
      constantFrom(...ids),
      constantFrom('.', '..', 'null', ids[0]?.toUpperCase() ?? ''),
      shortText,
    );
    const search = oneOf(
      constantFrom(''),
      tuple(constantFrom('x', ...parameters.map(({ name }) => name)), shortText).map(
        ([name, text]) => `?${name}=${encodeURIComponent(text)}`,
      ),
      query.map((text) => `?${text}`),
    );

    const expectServed = async (name: string, queryText: string, body?: string | Buffer) => {
      const target = fillPath(path, name) + queryText;
      // What a URL cannot hold is not for the routes.
      if (target.length > 4_000) return;
      const answer = await service.send({ method, path: target, headers, body });
      expect([answer.status, answer.status < 500]).toEqual([answer.status, true]);
    };

    describe(`${method} ${path}`, () => {
      test('any parameters', async () => {
        await forAll(
          tuple(id, search),
          ([name, queryText]) => expectServed(name, queryText, entity?.text),
          60,
        );
      });

      if (example !== undefined) {
        test('any value of any field, with the others and alone', async () => {
          const fields = constantFrom(...Object.keys(example));
          await forAll(
            tuple(id, fields, anyJson, constantFrom(true, false)),
            ([name, field, value, alone]) =>
              expectServed(name, '', JSON.stringify({ ...(alone ? {} : example), [field]: value })),
            80,
          );
        });

        test('any fields that no one knows, and any JSON at all', async () => {
          await forAll(
            tuple(
              id,
              oneOf<unknown>(
                anyJson,
                unknownMembers.map((members) => Object.fromEntries(members)),
              ),
            ),
            ([name, body]) => expectServed(name, '', JSON.stringify(body)),
            40,
          );
        });
      }

      if (entity !== undefined) {
        test('bytes that are nearly what it takes', async () => {
          await forAll(
            tuple(id, mutationsOf(entity.text)),
            ([name, bytes]) => expectServed(name, '', bytes),
            60,
          );
        });
      }
    });
  }
}
