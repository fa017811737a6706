import { loadConfig } from '@leads/http/service/config';
import { type Static, type TObject, Type } from 'typebox';
import { CrmConfig } from '../../config.ts';

const { DATABASE_URL, DATABASE_CONNECT_TIMEOUT_MS, DATABASE_STATEMENT_TIMEOUT_MS, NATS_URL } =
  CrmConfig.properties;

/** What every command reads that works on the stores. */
export const StoreSettings = Type.Object({ DATABASE_URL, DATABASE_CONNECT_TIMEOUT_MS, NATS_URL });

/** What `leads migrate` reads. */
export const MigrateSettings = Type.Object({
  DATABASE_URL,
  LEADS_MIGRATIONS_DIR: Type.String({
    default: '',
    description: "The directory of the migrations, where it is not the repository's",
  }),
});

const passwordOf = (service: string) =>
  Type.Optional(
    Type.String({
      pattern: '^[!-~]+$',
      secret: true,
      description: `The password of the ${service}'s role in Postgres. If absent, a role that is there keeps its own, and a new one gets a random one, which is shown once`,
    }),
  );

/** What `leads db grant` reads. */
export const GrantSettings = Type.Object({
  DATABASE_URL,
  DATABASE_STATEMENT_TIMEOUT_MS,
  LEADS_CRM_PASSWORD: passwordOf('CRM'),
  LEADS_INTAKE_PASSWORD: passwordOf('intake'),
});

/** What commands read as well that sign: without the services' secret they would make what these refuse. */
export const SigningSettings = Type.Object({ JWT_SECRET: CrmConfig.properties.JWT_SECRET });

/** What `leads user password-link` reads as well. */
export const PasswordLinkSettings = Type.Object({
  PUBLIC_URL: CrmConfig.properties.PUBLIC_URL,
  CRM_PORT: CrmConfig.properties.CRM_PORT,
});

/** What `leads erase` reads as well. */
export const ErasureSettings = Type.Object({
  NATS_URL,
  ERASURE_SECRET: Type.String({
    minLength: 32,
    secret: true,
    description:
      'Makes the hashes by which an erasure is kept to be done again: at least 32 random characters, kept for as long as any backup',
  }),
});

/** What `leads events` reads. */
export const BrokerSettings = Type.Object({ NATS_URL: CrmConfig.properties.NATS_URL });

/**
 * Settings from the environment: those of the schema and no others, so that no command fails by a setting that
 * it does not need.
 *
 * @throws ConfigError that names every fault.
 */
export function readSettings<Schema extends TObject>(schema: Schema): Static<Schema> {
  return loadConfig(schema, process.env);
}

/** Whether `LEADS_DEBUG=1` asks for more about failures. */
export function isDebugging(): boolean {
  return process.env['LEADS_DEBUG'] === '1';
}

/** Host and port of `DATABASE_URL`, to name the database without its password. */
export function databaseAddress(): string {
  const text = textOf(Type.Object({ DATABASE_URL }), 'DATABASE_URL');
  // node-postgres allows a user without a host, for a socket named in the query; URL does not.
  const address = text.replace('@/', '@localhost/');
  if (!URL.canParse(address)) return 'DATABASE_URL';
  const url = new URL(address);
  return `${url.searchParams.get('host') ?? (url.hostname || 'localhost')}:${url.port || 5432}`;
}

/** Hosts and ports of `NATS_URL`, without its passwords. */
export function brokerAddress(): string {
  const urls = textOf(BrokerSettings, 'NATS_URL').split(',');
  return urls.map((url) => (URL.canParse(url) ? new URL(url).host : 'NATS_URL')).join(', ');
}

/** A setting that a command has read before; an empty text where it cannot be read again. */
function textOf(schema: TObject, name: string): string {
  try {
    const { [name]: value } = loadConfig(schema, process.env) as Record<string, unknown>;
    return typeof value === 'string' ? value : '';
  } catch {
    return '';
  }
}
