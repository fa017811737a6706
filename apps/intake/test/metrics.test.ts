import { describeMetrics } from '@leads/local-stack/testing/metrics-suite';
import { startIntake } from './intake.ts';

describeMetrics(startIntake);
