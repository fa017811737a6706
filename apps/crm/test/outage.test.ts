import { describeOutage } from '@leads/test-kit/suites/outage';
import { startCrmService } from './crm.ts';

describeOutage(startCrmService);
