import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import { jwtSecret } from '@leads/test-kit/fixture';
import {
  type RunningService,
  type ServiceFixture,
  startOnOwnDatabase,
  startService,
} from '@leads/test-kit/running-service';
import { createAccessTokenCodec } from '../src/access-token-codec.ts';
import { buildApp } from '../src/app.ts';
import { CrmConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';

export type Crm = ServiceFixture;

/** Settings with which webhooks may reach receivers on this machine. */
const deliveries = {
  DELIVERIES_SECRET: 'a secret of the deliveries in tests, 32 characters and more',
  DELIVERIES_ALLOW_HTTP: 'true',
  DELIVERIES_ALLOW_NETWORKS: '127.0.0.0/8',
};

/** Starts the CRM on its own, empty database. */
export async function startCrm(settings: Record<string, string> = {}): Promise<Crm> {
  const codec = await createAccessTokenCodec(jwtSecret);
  return startOnOwnDatabase((databaseUrl) => startCrmService(databaseUrl, settings), codec);
}

/** Starts an instance of the CRM on an existing database. */
export function startCrmService(
  databaseUrl: string,
  settings: Record<string, string> = {},
): Promise<RunningService> {
  return startService(async (destination) => {
    const env = {
      DATABASE_URL: databaseUrl,
      JWT_SECRET: jwtSecret,
      LOG_LEVEL: 'trace',
      ...deliveries,
      ...settings,
    };
    const config = loadConfig(CrmConfig, env);
    const log = createLogger({ service: 'crm', level: config.LOG_LEVEL, destination });
    const context = await createContext(config, log);
    return { app: await buildApp(config, context, log), context };
  });
}
