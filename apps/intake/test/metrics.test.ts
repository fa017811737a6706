import { describeMetrics } from '@leads/test-kit/suites/metrics';
import { startIntake } from './intake.ts';

describeMetrics(startIntake);
