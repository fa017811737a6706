import { describeAsyncApi } from '@leads/test-kit/suites/asyncapi';
import { afterAll } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());

describeAsyncApi((await crm.service.send({ path: '/asyncapi.json' })).json());
