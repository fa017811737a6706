import { randomBytes, scryptSync } from 'node:crypto';
import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import { jwtSecret } from '@leads/test-kit/fixture';
import {
  type RunningService,
  type ServiceFixture,
  startOnOwnDatabase,
  startService,
} from '@leads/test-kit/running-service';
import { longTimeouts } from '@leads/test-kit/services';
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

/** Hashes passwords with scrypt at its lowest cost. The default cost takes 75 ms of processor time. */
export const cheapHash = {
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16).toString('hex');
    return `${salt}:${scryptSync(password.normalize('NFKC'), salt, 64, { N: 2 }).toString('hex')}`;
  },
  async verify({ hash, password }: { hash: string; password: string }): Promise<boolean> {
    const [salt = '', key] = hash.split(':');
    return scryptSync(password.normalize('NFKC'), salt, 64, { N: 2 }).toString('hex') === key;
  },
};

/**
 * Starts an instance of the CRM on an existing database.
 *
 * @param overrides of the context. By default, hashing passwords is cheap.
 */
export function startCrmService(
  databaseUrl: string,
  settings: NodeJS.ProcessEnv = {},
  overrides: Parameters<typeof createContext>[2] = { passwordHash: cheapHash },
): Promise<RunningService> {
  return startService(async (destination) => {
    const env = {
      DATABASE_URL: databaseUrl,
      JWT_SECRET: jwtSecret,
      LOG_LEVEL: 'trace',
      ...deliveries,
      ...noLimits,
      ...longTimeouts,
      ...settings,
    };
    const config = loadConfig(CrmConfig, env);
    const log = createLogger({ service: 'crm', level: config.LOG_LEVEL, destination });
    const context = await createContext(config, log, overrides);
    return { app: await buildApp(config, context, log), context };
  });
}
