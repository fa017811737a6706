import { describeGuards } from '@leads/test-kit/suites/guards';
import { afterAll } from 'vitest';
import { startIntake } from './intake.ts';

// A fast machine sends more than 60 unknown keys a minute.
const intake = await startIntake({ UNKNOWN_KEYS_PER_MINUTE: '0' });
afterAll(() => intake[Symbol.asyncDispose]());

await describeGuards(intake);
