import { type Static, Type } from 'typebox';
import { dateTime, id, label } from '../fields.ts';
import { tokenLifetime } from './access-token.ts';

/** The most web origins a key may be bound to. */
const maxOrigins = 50;

const credentialName = label('What people recognise it by.', 'Shop integration');
const ApiKeyScope = Type.Enum(['full', 'intake'], {
  description: '`intake` keys take leads at the edge and can do nothing else.',
  examples: ['full'],
});
const CredentialState = Type.Enum(['active', 'expired', 'revoked'], { examples: ['active'] });

/** The body that makes an API key. */
export const NewApiKey = Type.Object(
  {
    name: credentialName,
    scope: Type.Optional(ApiKeyScope),
    expiresAt: Type.Optional(dateTime('When it ends by itself; if absent, never.')),
    defaultCampaignCode: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Where its intake leads go when their landing page has no campaign.',
        examples: ['DEMO'],
      }),
    ),
    allowedOrigins: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: 255,
          pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s@]+$',
          'x-reason': 'must be an origin: scheme and host, nothing behind',
          examples: ['https://offer.example.com'],
        }),
        {
          maxItems: maxOrigins,
          description: 'Web pages that may use it, for a key of the scope `intake` that stands in a page.',
          examples: [['https://offer.example.com']],
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'A new API key.' },
);
export type NewApiKey = Static<typeof NewApiKey>;

/** An API key as its owner sees it: everything but the key. */
export const ApiKeyView = Type.Object(
  {
    id: id('Unique identifier of the key (UUID).'),
    name: credentialName,
    prefix: Type.String({ description: 'How the key begins.', examples: ['lk_3fT9aQ1z'] }),
    scope: ApiKeyScope,
    state: CredentialState,
    defaultCampaignId: Type.Optional(id('The campaign of its intake leads when nothing else says.')),
    allowedOrigins: Type.Array(Type.String(), { description: 'The web origins it is bound to.' }),
    replacesId: Type.Optional(id('The key it was made to replace.')),
    createdAt: dateTime('Creation time.'),
    expiresAt: Type.Optional(dateTime('When it ends by itself.')),
    revokedAt: Type.Optional(dateTime('When it was revoked.')),
    lastUsedAt: Type.Optional(dateTime('When it was used last, some seconds ago at most.')),
    lastUsedFrom: Type.Optional(
      Type.String({ description: 'The address it was used from last.', examples: ['203.0.113.7'] }),
    ),
  },
  { additionalProperties: false, description: 'An API key.' },
);
export type ApiKeyView = Static<typeof ApiKeyView>;

/** The answer that shows an API key: the only one that holds the key itself. */
export const ApiKeyShown = Type.Object({
  success: Type.Literal(true),
  apiKey: Type.String({ description: 'The key itself, shown this once.' }),
  record: ApiKeyView,
});
export type ApiKeyShown = Static<typeof ApiKeyShown>;

/** The answer to the revocation of an API key. */
export const ApiKeyRevoked = Type.Object({ success: Type.Literal(true), record: ApiKeyView });

/** The body that makes an access token. */
export const NewAccessToken = Type.Object(
  {
    name: credentialName,
    lifetimeSeconds: Type.Optional(
      Type.Integer({
        minimum: tokenLifetime.minimum,
        maximum: tokenLifetime.maximum,
        default: tokenLifetime.default,
        description: 'How long it lives, in seconds: from an hour to a year.',
        examples: [tokenLifetime.default],
      }),
    ),
  },
  { additionalProperties: false, description: 'A new access token.' },
);
export type NewAccessToken = Static<typeof NewAccessToken>;

/** An access token as its owner sees it: everything but the token. */
export const AccessTokenView = Type.Object(
  {
    id: id('Unique identifier of the token (its `jti`).'),
    name: credentialName,
    state: CredentialState,
    createdAt: dateTime('Creation time.'),
    expiresAt: dateTime('When it ends by itself.'),
    revokedAt: Type.Optional(dateTime('When it was revoked.')),
    lastUsedAt: Type.Optional(dateTime('When it was used last, some seconds ago at most.')),
    lastUsedFrom: Type.Optional(
      Type.String({ description: 'The address it was used from last.', examples: ['203.0.113.7'] }),
    ),
  },
  { additionalProperties: false, description: 'An access token.' },
);
export type AccessTokenView = Static<typeof AccessTokenView>;

/** The answer that shows an access token: the only one that holds the token itself. */
export const AccessTokenShown = Type.Object({
  success: Type.Literal(true),
  accessToken: Type.String({ description: 'The token itself, shown this once.' }),
  record: AccessTokenView,
});
export type AccessTokenShown = Static<typeof AccessTokenShown>;

/** The answer to the revocation of an access token. */
export const AccessTokenRevoked = Type.Object({ success: Type.Literal(true), record: AccessTokenView });
