import {
  bufferSettings,
  commonSettings,
  host,
  perMinute,
  port,
  publicOrigins,
} from '@leads/http/service/config';
import { type Static, Type } from 'typebox';

/** The intake service's settings, each an environment variable. */
export const IntakeConfig = Type.Object({
  INTAKE_HOST: host('The address to listen on. 0.0.0.0 means all'),
  INTAKE_PORT: port('The port to listen on', 3001),
  INTAKE_URL: publicOrigins.INTAKE_URL,
  PUBLIC_URL: publicOrigins.PUBLIC_URL,
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
  INTAKE_VISITOR_REQUESTS_PER_MINUTE: perMinute(
    "Requests a minute that one visitor's address (IPv6: its /64 block) may send to one process with one API key bound to web origins",
    60,
  ),
  INTAKE_NEW_LANDING_PAGES_PER_DAY: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 20,
    description:
      'Unknown landing pages that leads with one API key register on one day (UTC). Further ones wait for the approval of a manager. 0 means no limit',
  }),
  INTAKE_SECRET_KEY_REQUESTS_PER_MINUTE: perMinute(
    'Requests a minute that any other API key may send to one process',
    0,
  ),
  INTAKE_WORKSPACE_REQUESTS_PER_MINUTE: perMinute(
    'Requests a minute that all API keys of one workspace together may send to one process',
    0,
  ),
  ...bufferSettings,
  ...commonSettings,
});
export type IntakeConfig = Static<typeof IntakeConfig>;
