import { describeGuards } from '@leads/local-stack/testing/guard-suite';
import { afterAll } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());

await describeGuards(intake);
