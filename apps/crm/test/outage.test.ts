import { describeOutage } from '@leads/local-stack/testing/outage-suite';
import { startCrmService } from './crm.ts';

describeOutage(startCrmService);
