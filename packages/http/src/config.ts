import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { type Static, type TObject, Type } from 'typebox';

/** Settings that do not hold. `message` names every fault, one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads a service's settings from the environment: one variable a property of the schema, under its name.
 * An empty variable counts as absent.
 *
 * @throws ConfigError that names every fault at once.
 */
export function loadConfig<Schema extends TObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): Static<Schema> {
  const settings: Record<string, unknown> = {};
  for (const name of Object.keys(schema.properties)) {
    if (env[name] !== undefined && env[name] !== '') settings[name] = env[name];
  }
  const ajv = new Ajv({ coerceTypes: true, useDefaults: true, allErrors: true, strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile<Static<Schema>>(schema);
  if (validate(settings)) return settings;

  const described: Record<string, { description?: string }> = schema.properties;
  const faults = (validate.errors ?? []).map(({ instancePath, message, params, keyword }) => {
    const isMissing = keyword === 'required' || keyword === 'dependencies';
    const name = isMissing ? String(params['missingProperty']) : instancePath.slice(1);
    const needed =
      keyword === 'dependencies' ? `is required with ${String(params['property'])}` : 'is required';
    const reason = isMissing ? needed : message;
    const { description } = described[name] ?? {};
    return `${name} ${reason ?? 'is invalid'}${description === undefined ? '' : ` (${description})`}`;
  });
  throw new ConfigError(faults.join('\n'));
}

const ms = (description: string, defaultMs: number, maximum = 600_000) =>
  Type.Integer({ minimum: 0, maximum, default: defaultMs, description: `${description}, in milliseconds` });

/** What both services are told: where Postgres is, and how to behave as a process. */
export const commonSettings = {
  DATABASE_URL: Type.String({
    pattern: '^postgres(ql)?://',
    description: 'Postgres, as postgresql://user:password@host:port/database',
  }),
  DATABASE_POOL_SIZE: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 10,
    description: 'Connections to Postgres at most',
  }),
  DATABASE_CONNECT_TIMEOUT_MS: ms('How long to wait for a connection to Postgres', 2_000),
  DATABASE_PREPARED_STATEMENTS: Type.Boolean({
    default: true,
    description:
      'Whether statements are prepared; false behind a pooler that passes connections on and does not know of it, such as PgBouncer before 1.21',
  }),
  DATABASE_STATEMENT_TIMEOUT_MS: ms('How long one statement may take', 5_000),
  NATS_URL: Type.Optional(
    Type.String({
      pattern: '^(nats|tls)://[^\\s,]+(,(nats|tls)://[^\\s,]+)*$',
      description:
        'NATS with JetStream, as nats://user:password@host:4222, or tls://; several servers of a cluster separated by commas',
    }),
  ),
  NATS_MONITORING_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#\\s]+$',
      description:
        "The monitoring endpoint of NATS, as http://127.0.0.1:8222: the service asks it once whether a power cut could take what NATS has acknowledged, and warns. If absent, only the server's version and the replicas are looked at",
    }),
  ),
  TRUST_PROXY: Type.String({
    default: '',
    description:
      "Proxies whose X-Forwarded-* headers are believed: addresses and CIDR ranges, separated by commas, or 'loopback', 'linklocal', 'uniquelocal'; empty for none",
  }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'The least severe log lines to write: fatal, error, warn, info, debug, trace or silent',
  }),
  METRICS_TOKEN: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._~+/-]{16,}=*$',
      description:
        'What Prometheus sends as a bearer token for /metrics, 16 characters at least. If absent, /metrics is for this machine only',
    }),
  ),
  SHUTDOWN_DELAY_MS: ms(
    'After SIGTERM, how long to go on serving while /health/ready says 503, so that load balancers notice',
    3_000,
    20_000,
  ),
};

export const port = (description: string, defaultPort: number) =>
  Type.Integer({ minimum: 1, maximum: 65_535, default: defaultPort, description });

export const host = (description: string) => Type.String({ default: '127.0.0.1', description });
