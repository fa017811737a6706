import { describePublicUrl } from '@leads/test-kit/suites/public-url';
import { describeTransport } from '@leads/test-kit/suites/transport';
import { afterAll } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());

await describeTransport(intake);
describePublicUrl(startIntake, 'INTAKE_URL');
