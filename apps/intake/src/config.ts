import { commonSettings, host, port } from '@leads/http/config';
import { type Static, Type } from 'typebox';

/** The intake service's settings, each an environment variable. */
export const IntakeConfig = Type.Object({
  INTAKE_HOST: host('The address to listen on; 0.0.0.0 for all'),
  INTAKE_PORT: port('The port to listen on', 3001),
  ...commonSettings,
});
export type IntakeConfig = Static<typeof IntakeConfig>;
