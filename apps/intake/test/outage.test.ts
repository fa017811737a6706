import { describeOutage } from '@leads/test-kit/suites/outage';
import { startIntakeService } from './intake.ts';

describeOutage(startIntakeService);
