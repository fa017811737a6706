import { describeTransport } from '@leads/local-stack/testing/transport-suite';
import { afterAll } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());

await describeTransport(crm);
