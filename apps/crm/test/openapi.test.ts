import { describeOpenApi } from '@leads/test-kit/suites/openapi';
import { afterAll } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());

describeOpenApi(crm.service.document);
