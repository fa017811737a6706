import { describeGuards } from '@leads/test-kit/suites/guards';
import { afterAll } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());

await describeGuards(intake);
