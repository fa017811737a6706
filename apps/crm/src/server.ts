import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import { runService } from '@leads/http/service/run-service';
import { buildApp } from './app.ts';
import { CrmConfig } from './config.ts';
import { createContext } from './context.ts';
import { limitHeapGrowth } from './heap.ts';

limitHeapGrowth();
await runService(async () => {
  const config = loadConfig(CrmConfig, process.env);
  const log = createLogger({ service: 'crm', level: config.LOG_LEVEL });
  const context = await createContext(config, log);
  return {
    app: await buildApp(config, context, log),
    log,
    context,
    listen: { host: config.CRM_HOST, port: config.CRM_PORT },
    shutdownDelayMs: config.SHUTDOWN_DELAY_MS,
  };
});
