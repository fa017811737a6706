import { bufferSettings, host, loadConfig } from '@leads/http/service/config';
import { type Static, type TObject, Type } from 'typebox';
import { CrmConfig, deliverySettings } from '../../config.ts';

const { DATABASE_URL, DATABASE_CONNECT_TIMEOUT_MS, DATABASE_STATEMENT_TIMEOUT_MS, NATS_URL } =
  CrmConfig.properties;
const { EVENTS_STREAM_DAYS, EVENTS_STREAM_MEGABYTES, EVENTS_STREAM_REPLICAS } = CrmConfig.properties;

const NATS_INTAKE_URL = Type.Optional(
  Type.String({
    ...NATS_URL,
    description:
      "NATS of the intake's streams, in the form of NATS_URL. Needed if they are in another account or on other servers than the events",
  }),
);

/** The settings of every command that opens the stores. */
export const StoreSettings = Type.Object({ DATABASE_URL, DATABASE_CONNECT_TIMEOUT_MS, NATS_URL });

/** The settings of `leads migrate`. */
export const MigrateSettings = Type.Object({
  DATABASE_URL,
  LEADS_MIGRATIONS_DIR: Type.String({
    default: '',
    description: "The directory of the migrations, if it is not the repository's",
  }),
});

const passwordOf = (service: string) =>
  Type.Optional(
    Type.String({
      pattern: '^[!-~]+$',
      secret: true,
      description: `The password of the ${service}'s role in Postgres. If absent, an existing role keeps its password, and a new role gets a random one, which is printed once`,
    }),
  );

/** The settings of `leads db grant`. */
export const GrantSettings = Type.Object({
  DATABASE_URL,
  DATABASE_STATEMENT_TIMEOUT_MS,
  LEADS_CRM_PASSWORD: passwordOf('CRM'),
  LEADS_INTAKE_PASSWORD: passwordOf('intake'),
});

/** The additional settings of commands that sign tokens or links. The services verify with the same secret. */
export const SigningSettings = Type.Object({ JWT_SECRET: CrmConfig.properties.JWT_SECRET });

/** The additional settings of `leads user password-link`. */
export const PasswordLinkSettings = Type.Object({
  PUBLIC_URL: CrmConfig.properties.PUBLIC_URL,
  CRM_PORT: CrmConfig.properties.CRM_PORT,
});

/** The additional settings of `leads erase`. */
export const ErasureSettings = Type.Object({
  NATS_URL,
  NATS_INTAKE_URL,
  ERASURE_SECRET: Type.String({
    minLength: 32,
    secret: true,
    description:
      'Key for the hashes that record an erasure: at least 32 random characters. Keep it as long as any backup',
  }),
});

/** The additional settings of `leads retention run`. */
export const RetentionSettings = Type.Object({
  AUDIT_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 400,
    description: 'Days after which `leads retention run` deletes entries of the audit log',
  }),
});

/** The settings of `leads events`. */
export const BrokerSettings = Type.Object({ NATS_URL: CrmConfig.properties.NATS_URL });

/** The settings of `leads nats setup`. */
export const NatsSetupSettings = Type.Object({
  NATS_URL,
  NATS_INTAKE_URL,
  EVENTS_STREAM_DAYS,
  EVENTS_STREAM_MEGABYTES,
  EVENTS_STREAM_REPLICAS,
  ...bufferSettings,
});

/** The additional settings of commands that create or change webhooks and postbacks. */
export const DeliverySettings = Type.Object(deliverySettings);

/** The settings of `leads deliver`. */
export const DeliverSettings = Type.Object({
  DATABASE_URL,
  DATABASE_CONNECT_TIMEOUT_MS,
  DATABASE_STATEMENT_TIMEOUT_MS,
  DATABASE_PREPARED_STATEMENTS: CrmConfig.properties.DATABASE_PREPARED_STATEMENTS,
  DELIVER_HOST: host('The address at which `leads deliver` listens on DELIVER_PORT. 0.0.0.0 means all'),
  DELIVER_PORT: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description:
        'The port at which `leads deliver` serves /health/live, /health/ready and /metrics. If absent, it has no server',
    }),
  ),
  METRICS_TOKEN: CrmConfig.properties.METRICS_TOKEN,
  ...deliverySettings,
});

/** The settings of all commands. */
export const CommandLineSettings = Type.Object({
  ...StoreSettings.properties,
  ...SigningSettings.properties,
  ...PasswordLinkSettings.properties,
  ...MigrateSettings.properties,
  ...GrantSettings.properties,
  ...BrokerSettings.properties,
  ...RetentionSettings.properties,
  ...ErasureSettings.properties,
  ...NatsSetupSettings.properties,
  ...DeliverSettings.properties,
});

/**
 * Reads the settings of a schema from the environment. Other settings are not validated, so a command cannot fail
 * because of a setting that it does not need.
 *
 * @throws ConfigError with the names of all invalid settings.
 */
export function readSettings<Schema extends TObject>(schema: Schema, env: NodeJS.ProcessEnv): Static<Schema> {
  return loadConfig(schema, env);
}

/** Returns whether `LEADS_DEBUG=1` is set, which prints the stack of an error. */
export function isDebugging(env: NodeJS.ProcessEnv): boolean {
  return env['LEADS_DEBUG'] === '1';
}

/** Returns host and port of `DATABASE_URL`, without the password. */
export function databaseAddress(env: NodeJS.ProcessEnv): string {
  const text = readText(Type.Object({ DATABASE_URL }), 'DATABASE_URL', env);
  // node-postgres allows a user without a host, for a socket named in the query; URL does not.
  const address = text.replace('@/', '@localhost/');
  if (!URL.canParse(address)) return 'DATABASE_URL';
  const url = new URL(address);
  return `${url.searchParams.get('host') ?? (url.hostname || 'localhost')}:${url.port || 5432}`;
}

/** Returns a setting as text, or an empty string if it is invalid. */
function readText(schema: TObject, name: string, env: NodeJS.ProcessEnv): string {
  try {
    const { [name]: value } = loadConfig(schema, env) as Record<string, unknown>;
    return typeof value === 'string' ? value : '';
  } catch {
    return '';
  }
}
