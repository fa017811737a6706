import { describeMetrics } from '@leads/local-stack/testing/metrics-suite';
import { startCrm } from './crm.ts';

describeMetrics(startCrm);
