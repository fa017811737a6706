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

/** A fast machine sends more requests than the default limits allow. The tests of limits set their own. */
const noLimits = {
  CRM_KEY_REQUESTS_PER_MINUTE: '0',
  CRM_WORKSPACE_REQUESTS_PER_MINUTE: '0',
  UNKNOWN_KEYS_PER_MINUTE: '0',
};

/** Starts the CRM on its own, empty database. A setting that is undefined has its default. */
export async function startCrm(settings: NodeJS.ProcessEnv = {}): Promise<Crm> {
  const codec = await createAccessTokenCodec(jwtSecret);
  return startOnOwnDatabase((databaseUrl) => startCrmService(databaseUrl, settings), codec);
}

/** Starts an instance of the CRM on an existing database. */
export function startCrmService(
  databaseUrl: string,
  settings: NodeJS.ProcessEnv = {},
): Promise<RunningService> {
  return startService(async (destination) => {
    const env = {
      DATABASE_URL: databaseUrl,
      JWT_SECRET: jwtSecret,
      LOG_LEVEL: 'trace',
      ...deliveries,
      ...noLimits,
      ...settings,
    };
    const config = loadConfig(CrmConfig, env);
    const log = createLogger({ service: 'crm', level: config.LOG_LEVEL, destination });
    const context = await createContext(config, log);
    return { app: await buildApp(config, context, log), context };
  });
}
