import { describeGuards } from '@leads/test-kit/suites/guards';
import { afterAll } from 'vitest';
import { startIntake } from './intake.ts';

// Without the limit of unknown keys: the tests send more than 60 a minute.
const intake = await startIntake({ UNKNOWN_KEYS_PER_MINUTE: '0' });
afterAll(() => intake[Symbol.asyncDispose]());

await describeGuards(intake);
