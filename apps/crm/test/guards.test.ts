import { describeGuards } from '@leads/local-stack/testing/guard-suite';
import { afterAll } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());

await describeGuards(crm);
