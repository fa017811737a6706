import { commonSettings, host, port } from '@leads/http/config';
import { type Static, Type } from 'typebox';

/** The CRM service's settings, each an environment variable. */
export const CrmConfig = Type.Object({
  CRM_HOST: host('The address to listen on; 0.0.0.0 for all'),
  CRM_PORT: port('The port to listen on', 3000),
  JWT_SECRET: Type.String({
    minLength: 32,
    description: 'Signs access tokens: at least 32 random characters, the same for every instance',
  }),
  ...commonSettings,
});
export type CrmConfig = Static<typeof CrmConfig>;
