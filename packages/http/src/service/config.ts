import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { type Static, type TObject, Type } from 'typebox';

/** Invalid settings. `message` names every fault, one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The annotations of a setting in its schema. */
interface Described {
  readonly description?: string;
  /** Whether the value must never be shown. A secret may be given as a file. */
  readonly secret?: boolean;
}

/**
 * Reads a service's settings from the environment: one variable for each property of the schema. A setting that the
 * schema marks as `secret` may be in a file instead, named by the variable `<name>_FILE`. A line break at the end of the
 * file is removed. An empty variable counts as absent.
 *
 * @throws ConfigError that names every fault at once, and no value.
 */
export function loadConfig<Schema extends TObject>(schema: Schema, env: Environment): Static<Schema> {
  const described: Record<string, Described> = schema.properties;
  const settings: Record<string, unknown> = {};
  /** The variable that each setting was read from. */
  const readFrom = new Map<string, string>();
  const unread = new Map<string, string>();
  for (const [name, { secret }] of Object.entries(described)) {
    const file = secret === true ? env[fileVariable(name)] || undefined : undefined;
    if (file === undefined) {
      if (env[name]) settings[name] = env[name];
      continue;
    }
    readFrom.set(name, fileVariable(name));
    // The setting counts as present for its dependents, even if its file is unreadable.
    settings[name] = '';
    if (env[name]) unread.set(name, `and ${name} are both set; set one of them`);
    else
      try {
        const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
        if (text === '') unread.set(name, 'names an empty file');
        settings[name] = text;
      } catch (error) {
        unread.set(name, `cannot be read: ${reasonOf(error)}`);
      }
  }

  // Only the schemas of the given settings are compiled. Compiling all of them took a sixth of the processor time of a start.
  const given: TObject['properties'] = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    if (name in settings) given[name] = property;
    else if ('default' in property) settings[name] = property.default;
  }
  const ajv = new Ajv({
    coerceTypes: true,
    allErrors: true,
    strict: false,
    // TypeScript checks the schema. Compiling the schema of schemas took 26 ms of each start.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  addFormats.default(ajv);
  for (const [format, { holds }] of Object.entries(formats)) ajv.addFormat(format, holds);
  const validate = ajv.compile<Static<Schema>>({ ...schema, properties: given });
  if (validate(settings) && unread.size === 0) return settings;

  // One fault for each setting: an unreadable file needs no further fault.
  const faults = new Map(unread);
  for (const error of validate.errors ?? []) {
    const { name, reason } = describeFault(error);
    if (!faults.has(name)) faults.set(name, reason);
  }
  const lines = [...faults].map(([name, reason]) => {
    const { description } = described[name] ?? {};
    const about = description === undefined ? '' : ` (${description})`;
    return `${readFrom.get(name) ?? name} ${reason}${about}`;
  });
  throw new ConfigError(lines.join('\n'));
}

/** The names of the settings of a schema that may be given as files. */
export function secretsOf({ properties }: Pick<TObject, 'properties'>): string[] {
  return Object.entries<Described>(properties).flatMap(([name, { secret }]) => (secret === true ? name : []));
}

const fileVariable = (name: string) => `${name}_FILE`;

/** Why a file cannot be read, without its name, which may be the secret itself. */
function reasonOf(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EISDIR: 'it is a directory',
    ENOENT: 'no such file',
  };
  return reasons[code] ?? code;
}

function describeFault({ instancePath, message, params, keyword }: ErrorObject): {
  name: string;
  reason: string;
} {
  if (keyword === 'required') return { name: String(params['missingProperty']), reason: 'is required' };
  if (keyword === 'dependencies') {
    const reason = `is required with ${String(params['property'])}`;
    return { name: String(params['missingProperty']), reason };
  }
  const format = keyword === 'format' ? formats[String(params['format'])] : undefined;
  return { name: instancePath.slice(1), reason: format?.reason ?? message ?? 'is invalid' };
}

const unreadableAddress = 'cannot be parsed; percent-encode special characters in the password';

/** Whether a URL can be parsed, and its user name, password and path can be decoded. */
function isReadableUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, pathname } = new URL(text);
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** The formats of settings beyond JSON Schema's own, each with its error text. */
const formats: Readonly<Record<string, { holds: (text: string) => boolean; reason: string }>> = {
  // node-postgres allows a user without a host, for a socket named in the query; URL does not.
  'database-url': {
    holds: (text) => isReadableUrl(text.replace('@/', '@localhost/')),
    reason: unreadableAddress,
  },
  'server-url': {
    holds: (text) => isReadableUrl(text) && /^[^,]+$/.test(new URL(text).hostname),
    reason: unreadableAddress,
  },
  'server-urls': {
    holds: (text) => text.split(',').every(isReadableUrl),
    reason: unreadableAddress,
  },
  sender: {
    holds: (text) => /^(?:[^<>\p{Cc}]*<[^<>\s@]+@[^<>\s@]+>|[^<>\s@]+@[^<>\s@]+)$/u.test(text),
    reason: 'must be an email address, or a name and an email address in angle brackets',
  },
  origin: { holds: (text) => URL.canParse(text), reason: 'must be an origin: a scheme and a host only' },
  networks: {
    holds: (text) => text === '' || text.split(',').every((network) => isNetwork(network.trim())),
    reason: 'must be addresses and CIDR ranges, separated by commas',
  },
  hosts: {
    holds: (text) =>
      text === '' ||
      text.split(',').every((host) => /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])$/.test(host.trim())),
    reason:
      'must be host names and addresses without ports, separated by commas, and IPv6 addresses in brackets',
  },
  proxies: {
    holds: (text) => text === '' || text.split(',').every((proxy) => isProxy(proxy.trim())),
    reason: "must be addresses and CIDR ranges, separated by commas, or 'loopback' and the like",
  },
};

function isProxy(text: string): boolean {
  return ['loopback', 'linklocal', 'uniquelocal'].includes(text) || isNetwork(text);
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...others] = text.split('/');
  const version = isIP(address);
  if (version === 0 || others.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

const ms = (description: string, defaultMs: number, { minimum = 0, maximum = 600_000 }) =>
  Type.Integer({ minimum, maximum, default: defaultMs, description: `${description}, in milliseconds` });

/** The bounds of timeouts of Postgres. With 0, every transaction of Prisma fails. */
const timeoutBounds = { minimum: 100 };

/** The setting of an origin: a scheme, a host and a port, without a path. */
export const origin = (description: string) =>
  Type.String({ pattern: '^https?://[^/?#\\s@]+$', format: 'origin', description });

/** The public origins of both services. */
export const publicOrigins = {
  PUBLIC_URL: Type.Optional(
    origin(
      'The public origin of the website, without a path. With https, its cookies are sent over https only, and browsers keep to https. If absent, http://localhost at the port',
    ),
  ),
  INTAKE_URL: Type.Optional(
    origin(
      'The public origin of the intake service, without a path. The website shows it. With https, browsers keep to https. If absent, the website shows none',
    ),
  ),
};

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Settings of the streams in which the intake buffers leads, read by the intake and by `leads nats setup`. */
export const bufferSettings = {
  INTAKE_BUFFER_MEGABYTES: Type.Integer({
    minimum: 1,
    maximum: 10_000_000,
    default: 1_024,
    description:
      'Maximum size of the leads that wait in NATS while Postgres is down. One of several workspaces gets at most half of it in each process. Further leads are rejected with 503. Needs NATS_URL',
  }),
  INTAKE_BUFFER_REPLICAS: Type.Integer({
    minimum: 1,
    maximum: 5,
    default: 1,
    description:
      'Number of NATS servers that store those leads and the snapshot for new processes. Use 3 in production',
  }),
};

/** Settings of the trace export, with OpenTelemetry's names. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://[^?#\\s@]+$',
      format: 'server-url',
      description:
        'The OTLP endpoint for traces over HTTP, such as http://collector:4318. /v1/traces is appended. If absent, nothing is traced',
    }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    Type.String({
      pattern: '^[^=,\\s]+=[^=,]*(,[^=,\\s]+=[^=,]*)*$',
      secret: true,
      description: 'Headers of requests to that endpoint, as name=value,name=value, percent-encoded',
    }),
  ),
  OTEL_TRACES_SAMPLER: Type.Enum(samplers, {
    default: 'parentbased_always_on',
    description: `The sampler of traces: ${samplers.join(', ')}`,
  }),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 1,
    description: 'The ratio of traced requests, from 0 to 1, for the ratio samplers',
  }),
};

/** A setting of a rate limit. */
export const perMinute = (description: string, defaultCount: number) =>
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: defaultCount,
    description: `${description}. 0 means no limit`,
  });

/** Settings of both services: dependencies, and the behavior of the process. */
export const commonSettings = {
  DATABASE_URL: Type.String({
    pattern: '^postgres(ql)?://',
    format: 'database-url',
    secret: true,
    description: 'Postgres, as postgresql://user:password@host:port/database',
  }),
  DATABASE_POOL_SIZE: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 10,
    description: 'Maximum number of connections to Postgres of a process',
  }),
  DATABASE_CONNECT_TIMEOUT_MS: ms(
    'Timeout for a connection to Postgres, and for the lookup of a credential or campaign if the intake has no earlier answer',
    2_000,
    timeoutBounds,
  ),
  DATABASE_PREPARED_STATEMENTS: Type.Boolean({
    default: true,
    description:
      'Whether statements are prepared. Set to false behind a pooler in transaction mode without support for it, such as PgBouncer before 1.21',
  }),
  DATABASE_STATEMENT_TIMEOUT_MS: ms('Timeout for one statement', 5_000, timeoutBounds),
  NATS_URL: Type.Optional(
    Type.String({
      pattern: '^(nats|tls)://[^\\s,]+(,(nats|tls)://[^\\s,]+)*$',
      format: 'server-urls',
      secret: true,
      description:
        'NATS with JetStream, as nats://user:password@host:4222 or tls://. Separate the servers of a cluster by commas',
    }),
  ),
  NATS_MONITORING_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#\\s]+$',
      description:
        "The monitoring endpoint of NATS, such as http://127.0.0.1:8222. The service reads it once and warns if a power cut could lose acknowledged data. If absent, only the server's version and the replicas are checked",
    }),
  ),
  UNKNOWN_KEYS_PER_MINUTE: perMinute(
    'Unknown API keys a minute that one address may send to one process. Further unknown keys are answered with 429. Addresses are those that TRUST_PROXY gives',
    60,
  ),
  TRUST_PROXY: Type.String({
    default: '',
    format: 'proxies',
    description:
      "Proxies whose X-Forwarded-* headers are trusted: addresses and CIDR ranges, separated by commas, or 'loopback', 'linklocal', 'uniquelocal'. Empty means none",
  }),
  SERVED_HOSTS: Type.String({
    default: '',
    format: 'hosts',
    description:
      'Further host names that a service serves, separated by commas, without ports. If this or the public URL of the service names another host than this machine, other hosts are answered with 421. Health checks and /metrics are served at every host',
  }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'The lowest level of log lines to write: fatal, error, warn, info, debug, trace or silent',
  }),
  METRICS_TOKEN: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._~+/-]{16,}=*$',
      secret: true,
      description:
        'The bearer token that Prometheus sends to /metrics, at least 16 characters. If absent, /metrics answers requests from the same machine only',
    }),
  ),
  ...tracingSettings,
  SHUTDOWN_DELAY_MS: ms(
    'After SIGTERM, how long the service keeps serving while /health/ready answers 503. After that, open connections have the same time to end, at most 5 s',
    3_000,
    { maximum: 20_000 },
  ),
};

export const port = (description: string, defaultPort: number) =>
  Type.Integer({ minimum: 1, maximum: 65_535, default: defaultPort, description });

export const host = (description: string) => Type.String({ default: '127.0.0.1', description });
