import { describeTransport } from '@leads/test-kit/suites/transport';
import { afterAll } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());

await describeTransport(intake);
