import { describeMetrics } from '@leads/test-kit/metrics-suite';
import { startIntake } from './intake.ts';

describeMetrics(startIntake);
