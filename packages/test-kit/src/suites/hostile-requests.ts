import { describe, expect, test } from 'vitest';
import { finiteRoutesOf, exampleBody, exampleEntity, fillPath } from '../openapi-document.ts';
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
 * Sends generated path parameters, queries and bodies to every guarded route with valid credentials. Every
 * response must match the document, and none may be a 5xx.
 *
 * @param options.ids existing ids for the path.
 */
export function describeHostileRequests(options: {
  service: RunningService;
  headers: Readonly<Record<string, string>>;
  ids: readonly string[];
}): void {
  const { service, ids } = options;
  const shortText = storableText.filter((text) => text !== '' && text.length < 100);
  for (const { method, path, operation } of finiteRoutesOf(service.document)) {
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

    const expectNoServerError = async (name: string, queryText: string, body?: string | Buffer) => {
      const target = fillPath(path, name) + queryText;
      // A longer URL is rejected before the router.
      if (target.length > 4_000) return;
      const answer = await service.send({ method, path: target, headers, body });
      expect([answer.status, answer.status < 500]).toEqual([answer.status, true]);
    };

    describe(`${method} ${path}`, () => {
      test('answers generated parameters without a 5xx', async () => {
        await forAll(
          tuple(id, search),
          ([name, queryText]) => expectNoServerError(name, queryText, entity?.text),
          60,
        );
      });

      if (example !== undefined) {
        test('answers any value of any field, with and without the other fields, without a 5xx', async () => {
          const fields = constantFrom(...Object.keys(example));
          await forAll(
            tuple(id, fields, anyJson, constantFrom(true, false)),
            ([name, field, value, alone]) =>
              expectNoServerError(name, '', JSON.stringify({ ...(alone ? {} : example), [field]: value })),
            80,
          );
        });

        test('answers unknown fields and any JSON without a 5xx', async () => {
          await forAll(
            tuple(
              id,
              oneOf<unknown>(
                anyJson,
                unknownMembers.map((members) => Object.fromEntries(members)),
              ),
            ),
            ([name, body]) => expectNoServerError(name, '', JSON.stringify(body)),
            40,
          );
        });
      }

      if (entity !== undefined) {
        test('answers mutated bytes of its example without a 5xx', async () => {
          await forAll(
            tuple(id, mutationsOf(entity.text)),
            ([name, bytes]) => expectNoServerError(name, '', bytes),
            60,
          );
        });
      }
    });
  }
}
