import { commonSettings, host, origin, perMinute, port, publicOrigins } from '@leads/http/service/config';
import { type Static, Type } from 'typebox';

/** The settings of deliveries, read by the service and by `leads deliver`. */
export const deliverySettings = {
  DELIVERIES_SECRET: Type.Optional(
    Type.String({
      minLength: 32,
      secret: true,
      description:
        'Key that encrypts the secrets and headers of webhooks in Postgres: at least 32 random characters, the same for every process. If absent, webhooks cannot be created, and none are sent',
    }),
  ),
  DELIVERIES_PREVIOUS_SECRET: Type.Optional(
    Type.String({
      minLength: 32,
      secret: true,
      description: 'The DELIVERIES_SECRET before a rotation. It decrypts what it has encrypted',
    }),
  ),
  DELIVERIES_ALLOW_HTTP: Type.Boolean({
    default: false,
    description: 'Whether webhooks may have http URLs',
  }),
  DELIVERIES_ALLOW_NETWORKS: Type.String({
    default: '',
    format: 'networks',
    description:
      'Private networks that webhooks may reach: addresses and CIDR ranges, separated by commas. Public addresses are always allowed',
  }),
  DELIVERIES_PROXY_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      format: 'server-url',
      secret: true,
      description:
        'A proxy for the requests of webhooks, as http://user:password@host:port. It must refuse private addresses. If absent, requests are sent directly',
    }),
  ),
};

const DeliverySettings = Type.Object(deliverySettings);
export type DeliverySettings = Static<typeof DeliverySettings>;

/** The CRM service's settings, each an environment variable. */
export const CrmConfig = Type.Object(
  {
    CRM_HOST: host('The address to listen on. 0.0.0.0 means all'),
    CRM_PORT: port('The port to listen on', 3000),
    CRM_KEY_REQUESTS_PER_MINUTE: perMinute(
      'Requests a minute that one API key, or one signed-in user of the website, may send to one process',
      6_000,
    ),
    CRM_WORKSPACE_REQUESTS_PER_MINUTE: perMinute(
      'Requests a minute that all API keys and signed-in users of one workspace together may send to one process. One publisher may send half of them, and all publishers together three quarters',
      12_000,
    ),
    JWT_SECRET: Type.String({
      minLength: 32,
      secret: true,
      description:
        'Key that signs access tokens and cookies, and encrypts second factors: at least 32 random characters, the same for every process. A new one voids all tokens, sessions and second factors',
    }),
    ...publicOrigins,
    INTAKE_INTERNAL_URL: Type.Optional(
      origin(
        'The origin at which the CRM reaches the intake, if not INTAKE_URL, such as http://intake:3001. SERVED_HOSTS of the intake must name its host',
      ),
    ),
    ALLOW_SIGN_UP: Type.Boolean({
      default: true,
      description: 'Whether anyone may sign up on the website. If false, only invited people may',
    }),
    SMTP_URL: Type.Optional(
      Type.String({
        pattern: '^smtps?://',
        format: 'server-url',
        secret: true,
        description:
          'The mail server, as smtp://user:password@host:port. Without it, addresses are not confirmed, operators pass on password links, and failing webhooks are not mailed',
      }),
    ),
    MAIL_FROM: Type.Optional(
      Type.String({
        format: 'sender',
        description: 'The sender of mails, such as Leads <leads@example.com>',
      }),
    ),
    BREACHED_PASSWORDS_URL: Type.Optional(
      origin(
        'A service with the range interface of Have I Been Pwned, such as https://api.pwnedpasswords.com. It gets 5 digits of the SHA-1 hash of each new password. If absent, new passwords are not checked against breaches',
      ),
    ),
    EVENTS_STREAM_DAYS: Type.Integer({
      minimum: 1,
      maximum: 3_650,
      default: 7,
      description: 'Days that events are kept: in NATS, or without NATS_URL in Postgres',
    }),
    EVENTS_STREAM_MEGABYTES: Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      default: 1_024,
      description: 'Maximum size of the stream of events. The oldest events are deleted first',
    }),
    EVENTS_STREAM_REPLICAS: Type.Integer({
      minimum: 1,
      maximum: 5,
      default: 1,
      description: 'Number of NATS servers that keep the stream of events. Use 3 in production',
    }),
    CRM_DELIVERIES: Type.Boolean({
      default: true,
      description:
        'Whether this process sends webhooks. If false, another process must: the CRM, or `leads deliver`',
    }),
    ...deliverySettings,
    DATABASE_REPLICA_URL: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        format: 'database-url',
        secret: true,
        description:
          'A streaming replica of that Postgres, in the form of DATABASE_URL. Lists, exports and the overview are read from it. If absent, they are read from DATABASE_URL',
      }),
    ),
    DATABASE_REPLICA_MAX_LAG_SECONDS: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 5,
      description: 'Maximum lag of the replica. Beyond it, lists are read from DATABASE_URL',
    }),
    ...commonSettings,
  },
  // Links in mails lead to the website.
  { dependencies: { SMTP_URL: ['PUBLIC_URL', 'MAIL_FROM'] } },
);
export type CrmConfig = Static<typeof CrmConfig>;
