import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import {
  type RunningService,
  type ServiceFixture,
  startOnOwnDatabase,
  startService,
} from '@leads/test-kit/running-service';
import { buildApp } from '../src/app.ts';
import { IntakeConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';

export type Intake = ServiceFixture;

/** Starts the intake on a database of its own. */
export function startIntake(settings: Record<string, string> = {}): Promise<Intake> {
  return startOnOwnDatabase((databaseUrl) => startIntakeService(databaseUrl, settings));
}

export function startIntakeService(
  databaseUrl: string,
  settings: Record<string, string> = {},
): Promise<RunningService> {
  return startService(async (destination) => {
    const env = { DATABASE_URL: databaseUrl, LOG_LEVEL: 'trace', ...settings };
    const config = loadConfig(IntakeConfig, env);
    const log = createLogger({ service: 'intake', level: config.LOG_LEVEL, destination });
    const context = await createContext(config, log);
    return { app: await buildApp(config, context, log), context };
  });
}
