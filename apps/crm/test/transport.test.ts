import { describePublicUrl } from '@leads/test-kit/suites/public-url';
import { describeTransport } from '@leads/test-kit/suites/transport';
import { afterAll } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());

await describeTransport(crm);
describePublicUrl(startCrm, 'PUBLIC_URL');
