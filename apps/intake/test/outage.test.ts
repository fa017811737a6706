import { describeOutage } from '@leads/local-stack/testing/outage-suite';
import { startIntakeService } from './intake.ts';

describeOutage(startIntakeService);
