import { describeGuards } from '@leads/test-kit/guard-suite';
import { afterAll } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());

await describeGuards(intake);
