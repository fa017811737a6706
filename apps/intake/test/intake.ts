import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import {
  type RunningService,
  type ServiceFixture,
  startOnOwnDatabase,
  startService,
} from '@leads/test-kit/running-service';
import { longTimeouts } from '@leads/test-kit/services';
import { buildApp } from '../src/app.ts';
import { IntakeConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';

export type Intake = ServiceFixture;

/** The timeouts of the service, for tests of a Postgres that does not respond. */
export const defaultTimeouts = {
  DATABASE_CONNECT_TIMEOUT_MS: undefined,
  DATABASE_STATEMENT_TIMEOUT_MS: undefined,
};

/** Starts the intake on a database of its own. A setting that is undefined has its default. */
export function startIntake(settings: NodeJS.ProcessEnv = {}): Promise<Intake> {
  return startOnOwnDatabase((databaseUrl) => startIntakeService(databaseUrl, settings));
}

export function startIntakeService(
  databaseUrl: string,
  settings: NodeJS.ProcessEnv = {},
): Promise<RunningService> {
  return startService(async (destination) => {
    const env = { DATABASE_URL: databaseUrl, LOG_LEVEL: 'trace', ...longTimeouts, ...settings };
    const config = loadConfig(IntakeConfig, env);
    const log = createLogger({ service: 'intake', level: config.LOG_LEVEL, destination });
    const context = await createContext(config, log);
    return { app: await buildApp(config, context, log), context };
  });
}
