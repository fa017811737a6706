import { loadConfig } from '@leads/http/config';
import { createLogger } from '@leads/http/log';
import { runService } from '@leads/http/service';
import { buildApp } from './app.ts';
import { IntakeConfig } from './config.ts';
import { createContext } from './context.ts';

await runService(async () => {
  const config = loadConfig(IntakeConfig, process.env);
  const log = createLogger({ service: 'intake', level: config.LOG_LEVEL });
  const context = createContext(config, log);
  return {
    app: await buildApp(config, context, log),
    context,
    listen: { host: config.INTAKE_HOST, port: config.INTAKE_PORT },
    shutdownDelayMs: config.SHUTDOWN_DELAY_MS,
  };
});
