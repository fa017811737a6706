import { commonSettings, host, perMinute, port, publicOrigins } from '@leads/http/service/config';
import { type Static, Type } from 'typebox';

/** The intake service's settings, each an environment variable. */
export const IntakeConfig = Type.Object({
  INTAKE_HOST: host('The address to listen on. 0.0.0.0 means all'),
  INTAKE_PORT: port('The port to listen on', 3001),
  INTAKE_URL: publicOrigins.INTAKE_URL,
  INTAKE_WORKERS: Type.Integer({
    minimum: 1,
    maximum: 128,
    default: 1,
    description:
      'Number of processes that share the port. Each uses one core and has its own caches and connections to Postgres',
  }),
  INTAKE_BROWSER_KEY_REQUESTS_PER_MINUTE: perMinute(
    'Requests a minute that one API key bound to web origins may send to one process',
    600,
  ),
  INTAKE_SECRET_KEY_REQUESTS_PER_MINUTE: perMinute(
    'Requests a minute that any other API key may send to one process',
    0,
  ),
  INTAKE_WORKSPACE_REQUESTS_PER_MINUTE: perMinute(
    'Requests a minute that all API keys of one workspace together may send to one process',
    0,
  ),
  INTAKE_BUFFER_MEGABYTES: Type.Integer({
    minimum: 1,
    maximum: 10_000_000,
    default: 1_024,
    description:
      'Maximum size of the leads that wait in NATS while Postgres is down. Further leads are rejected with 503. Needs NATS_URL',
  }),
  INTAKE_BUFFER_REPLICAS: Type.Integer({
    minimum: 1,
    maximum: 5,
    default: 1,
    description:
      'Number of NATS servers that store those leads and the snapshot for new processes. Use 3 in production',
  }),
  ...commonSettings,
});
export type IntakeConfig = Static<typeof IntakeConfig>;
