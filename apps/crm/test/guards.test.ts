import { describeGuards } from '@leads/test-kit/suites/guards';
import { afterAll } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());

await describeGuards(crm);
