import cluster from 'node:cluster';
import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import { Metrics } from '@leads/http/service/metrics';
import { runService } from '@leads/http/service/run-service';
import { runWorkers } from '@leads/http/service/workers';
import packageJson from '../package.json' with { type: 'json' };
import { IntakeConfig } from './config.ts';

await runService(async () => {
  const config = loadConfig(IntakeConfig, process.env);
  const log = createLogger({ service: 'intake', level: config.LOG_LEVEL, worker: cluster.worker?.id });
  if (config.INTAKE_WORKERS > 1 && cluster.isPrimary) {
    const metrics = new Metrics({ service: 'intake', version: packageJson.version });
    await runWorkers(config.INTAKE_WORKERS, { log, metrics });
    return undefined;
  }
  // A primary with workers does not need these modules.
  const [{ createContext }, { buildApp }] = await Promise.all([import('./context.ts'), import('./app.ts')]);
  const context = await createContext(config, log);
  return {
    app: await buildApp(config, context, log),
    log,
    context,
    listen: { host: config.INTAKE_HOST, port: config.INTAKE_PORT },
    shutdownDelayMs: config.SHUTDOWN_DELAY_MS,
  };
});
