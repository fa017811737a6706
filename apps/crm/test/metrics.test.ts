import { describeMetrics } from '@leads/test-kit/metrics-suite';
import { startCrm } from './crm.ts';

describeMetrics(startCrm);
