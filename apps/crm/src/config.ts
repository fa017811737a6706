import { commonSettings, host, port } from '@leads/http/config';
import { type Static, Type } from 'typebox';

const jwtSecret = Type.String({
  minLength: 32,
  description: 'Signs access tokens: at least 32 random characters, the same for every instance',
});

/** The CRM service's settings, each an environment variable. */
export const CrmConfig = Type.Object({
  CRM_HOST: host('The address to listen on; 0.0.0.0 for all'),
  CRM_PORT: port('The port to listen on', 3000),
  JWT_SECRET: jwtSecret,
  ...commonSettings,
});
export type CrmConfig = Static<typeof CrmConfig>;

/** What the `leads` command line reads: `JWT_SECRET` only where a token is made. */
export const OperatorConfig = Type.Object({
  DATABASE_URL: commonSettings.DATABASE_URL,
  DATABASE_CONNECT_TIMEOUT_MS: commonSettings.DATABASE_CONNECT_TIMEOUT_MS,
  JWT_SECRET: Type.Optional(jwtSecret),
});
export type OperatorConfig = Static<typeof OperatorConfig>;
