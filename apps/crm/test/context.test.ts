import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import { testContext } from '@leads/test-kit/context-suite';
import { jwtSecret } from '@leads/test-kit/fixture';
import { CrmConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';

testContext(async ({ settings, fails, ...overrides }) => {
  const config = loadConfig(CrmConfig, { ...settings, JWT_SECRET: jwtSecret });
  // Access tokens cannot be signed with an empty secret, so `createContext` fails.
  if (fails) config.JWT_SECRET = '';
  return createContext(config, createLogger({ service: 'crm', level: 'fatal' }), overrides);
});
