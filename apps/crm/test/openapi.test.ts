import { describeOpenApi } from '@leads/test-kit/suites/openapi';
import { afterAll, expect, test } from 'vitest';
import { namedSchemas } from '../src/routes/api/named-schemas.ts';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());

describeOpenApi(crm.service, Object.keys(namedSchemas));

test('a list of leads is a list of `Lead`', () => {
  const { content } = crm.service.published.paths['/api/v1/order/leads']?.['get']?.responses['200'] ?? {};
  expect(content?.['application/json']?.schema?.items).toEqual({ $ref: '#/components/schemas/Lead' });
});
