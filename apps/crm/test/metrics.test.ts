import { describeMetrics } from '@leads/test-kit/suites/metrics';
import { startCrm } from './crm.ts';

describeMetrics(startCrm);
