import { commonSettings, host, port } from '@leads/http/service/config';
import { type Static, Type } from 'typebox';

const origin = (description: string) => Type.String({ pattern: '^https?://[^/?#\\s@]+$', description });

/** The CRM service's settings, each an environment variable. */
export const CrmConfig = Type.Object(
  {
    CRM_HOST: host('The address to listen on; 0.0.0.0 for all'),
    CRM_PORT: port('The port to listen on', 3000),
    JWT_SECRET: Type.String({
      minLength: 32,
      secret: true,
      description:
        'Signs access tokens and cookies: at least 32 random characters, the same for every instance',
    }),
    PUBLIC_URL: Type.Optional(
      origin(
        'Where users reach the website, without a path; with https its cookies are for https only. If absent, http://localhost at the port',
      ),
    ),
    INTAKE_URL: Type.Optional(
      origin(
        'Where landing pages reach the intake service, without a path: the website shows it. If absent, it does not',
      ),
    ),
    ALLOW_SIGN_UP: Type.Boolean({
      default: true,
      description: 'Whether anyone may sign up on the website; false: only who is invited',
    }),
    SMTP_URL: Type.Optional(
      Type.String({
        pattern: '^smtps?://',
        format: 'server-urls',
        secret: true,
        description:
          'The mail server, as smtp://user:password@host:port. Without one, addresses are not confirmed, and operators hand out the links of new passwords',
      }),
    ),
    MAIL_FROM: Type.Optional(
      Type.String({ minLength: 3, description: 'The sender of mails, as Leads <leads@example.com>' }),
    ),
    EVENTS_STREAM_DAYS: Type.Integer({
      minimum: 1,
      maximum: 3_650,
      default: 7,
      description:
        'For how many days events are kept: in their stream, and without NATS_URL where they wait for it',
    }),
    EVENTS_STREAM_MEGABYTES: Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      default: 1_024,
      description: 'How much room the stream of events may take; the oldest make room for the newest',
    }),
    EVENTS_STREAM_REPLICAS: Type.Integer({
      minimum: 1,
      maximum: 5,
      default: 1,
      description: 'How many servers of a NATS cluster keep the stream of events; 3 in production',
    }),
    DATABASE_REPLICA_URL: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        format: 'database-url',
        secret: true,
        description:
          'A streaming replica of that Postgres, as DATABASE_URL: lists, exports and the overview are read from it. If absent, from DATABASE_URL',
      }),
    ),
    DATABASE_REPLICA_MAX_LAG_SECONDS: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 5,
      description: 'How far the replica may be behind; beyond that, lists are read from DATABASE_URL',
    }),
    ...commonSettings,
  },
  // Links in mails lead to the website.
  { dependencies: { SMTP_URL: ['PUBLIC_URL', 'MAIL_FROM'] } },
);
export type CrmConfig = Static<typeof CrmConfig>;
