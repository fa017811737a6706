import { describeGuards } from '@leads/test-kit/suites/guards';
import { afterAll } from 'vitest';
import { startCrm } from './crm.ts';

// Without the limit of unknown keys: the tests send more than 60 a minute.
const crm = await startCrm({ UNKNOWN_KEYS_PER_MINUTE: '0' });
afterAll(() => crm[Symbol.asyncDispose]());

await describeGuards(crm);
