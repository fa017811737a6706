import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import { Metrics } from '@leads/http/service/metrics';
import { testContext } from '@leads/test-kit/context-suite';
import { IntakeConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';

testContext(async ({ settings, fails, ...overrides }) => {
  const metrics = new Metrics({ service: 'intake', version: '1' });
  // The context cannot register a metric whose name is taken.
  if (fails) metrics.gauge({ name: 'lead_batch_queue_size', help: 'Taken.' }, () => 0);
  const log = createLogger({ service: 'intake', level: 'fatal' });
  return createContext(loadConfig(IntakeConfig, settings), log, { ...overrides, metrics });
});
