import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import { type Fixture, openFixture } from '@leads/test-kit/fixture';
import { type RunningService, startService } from '@leads/test-kit/running-service';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { buildApp } from '../src/app.ts';
import { IntakeConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';

/** A running intake, and what makes workspaces for it. */
export interface Intake extends AsyncDisposable {
  readonly service: RunningService;
  readonly fixture: Fixture;
}

/** Starts the intake on a database of its own. */
export async function startIntake(settings: Record<string, string> = {}): Promise<Intake> {
  const database = await createTestDatabase();
  const fixture = openFixture(database.url);
  const service = await startIntakeService(database.url, settings);
  return {
    service,
    fixture,
    async [Symbol.asyncDispose]() {
      try {
        await service[Symbol.asyncDispose]();
      } finally {
        await fixture[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      }
    },
  };
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
