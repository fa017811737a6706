import { describeOutage } from '@leads/test-kit/outage-suite';
import { startIntakeService } from './intake.ts';

describeOutage(startIntakeService);
