import { describeOpenApi } from '@leads/test-kit/suites/openapi';
import { afterAll } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());

describeOpenApi(intake.service, ['IntakeLead']);
