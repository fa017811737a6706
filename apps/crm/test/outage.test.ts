import { describeOutage } from '@leads/test-kit/outage-suite';
import { startCrmService } from './crm.ts';

describeOutage(startCrmService);
