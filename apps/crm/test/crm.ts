import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import { type Fixture, jwtSecret, openFixture } from '@leads/test-kit/fixture';
import { type RunningService, startService } from '@leads/test-kit/running-service';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { createAccessTokenCodec } from '../src/access-token-codec.ts';
import { buildApp } from '../src/app.ts';
import { CrmConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';

/** A running CRM, and what makes workspaces for it. */
export interface Crm extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly service: RunningService;
  readonly fixture: Fixture;
}

/** Starts the CRM on a database of its own. */
export async function startCrm(settings: Record<string, string> = {}): Promise<Crm> {
  const database = await createTestDatabase();
  const fixture = openFixture(database.url, await createAccessTokenCodec(jwtSecret));
  const service = await startCrmService(database.url, settings);
  return {
    databaseUrl: database.url,
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

export function startCrmService(
  databaseUrl: string,
  settings: Record<string, string> = {},
): Promise<RunningService> {
  return startService(async (destination) => {
    const env = { DATABASE_URL: databaseUrl, JWT_SECRET: jwtSecret, LOG_LEVEL: 'trace', ...settings };
    const config = loadConfig(CrmConfig, env);
    const log = createLogger({ service: 'crm', level: config.LOG_LEVEL, destination });
    const context = await createContext(config, log);
    return { app: await buildApp(config, context, log), context };
  });
}
