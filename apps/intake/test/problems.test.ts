import { describeProblems } from '@leads/test-kit/suites/problems';
import { afterAll } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());

await describeProblems(intake);
