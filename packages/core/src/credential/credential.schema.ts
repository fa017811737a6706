import { type Static, Type } from 'typebox';
import { dateTime, id, label } from '../fields.ts';
import { tokenLifetime } from './access-token.ts';
import { maxNetworks } from './networks.ts';
import { singleScopes } from './principal.ts';

/** The maximum of web origins that a key may be bound to. */
const maxOrigins = 50;

const credentialName = label('The display name.', 'Shop integration');
const ApiKeyScope = Type.Union(
  [
    Type.Enum(['full', 'intake']),
    Type.Array(Type.Enum([...singleScopes]), { minItems: 1, uniqueItems: true }),
  ],
  {
    description:
      'The scope: `full` for all scopes, `intake` for submitting leads to the intake API only, or a list of single scopes.',
    examples: ['full'],
  },
);
const CredentialState = Type.Enum(['active', 'expired', 'revoked'], { examples: ['active'] });

/** The body that creates an API key. */
export const NewApiKey = Type.Object(
  {
    name: credentialName,
    scope: Type.Optional(ApiKeyScope),
    expiresAt: Type.Optional(dateTime('When the key expires. If absent, the key does not expire.')),
    defaultCampaignCode: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Code of the campaign that gets its intake leads if their landing page has no campaign.',
        examples: ['DEMO'],
      }),
    ),
    allowedOrigins: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: 255,
          pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s@*]+$',
          'x-reason': 'must be an origin: a scheme and a host only, without wildcards',
          examples: ['https://offer.example.com'],
        }),
        {
          maxItems: maxOrigins,
          description:
            'The origins of the web pages that may use the key. Only a key of the scope `intake` may have them.',
          examples: [['https://offer.example.com']],
        },
      ),
    ),
    allowedNetworks: Type.Optional(
      Type.Array(Type.String({ maxLength: 49, examples: ['203.0.113.0/24'] }), {
        maxItems: maxNetworks,
        description:
          'The addresses and networks (CIDR, IPv4 or IPv6) that requests with the key must come from. A key with origins cannot have them.',
        examples: [['203.0.113.0/24']],
      }),
    ),
  },
  { additionalProperties: false, description: 'A new API key.' },
);
export type NewApiKey = Static<typeof NewApiKey>;

/** The last fields of a credential, as its owner sees it. */
const revocationAndUse = {
  revokedAt: Type.Optional(dateTime('When it was revoked.')),
  lastUsedAt: Type.Optional(dateTime('When it was last used. The time may be some seconds old.')),
  lastUsedFrom: Type.Optional(
    Type.String({ description: 'The address of the last use.', examples: ['203.0.113.7'] }),
  ),
};

/** An API key as its owner sees it, without the key itself. */
export const ApiKeyView = Type.Object(
  {
    id: id('Unique identifier of the key (UUID).'),
    name: credentialName,
    prefix: Type.String({ description: 'The first characters of the key.', examples: ['lk_3fT9aQ1z'] }),
    scope: ApiKeyScope,
    state: CredentialState,
    defaultCampaignId: Type.Optional(
      id('The campaign of its intake leads if their landing page has no campaign.'),
    ),
    allowedOrigins: Type.Array(Type.String(), { description: 'The web origins that the key is bound to.' }),
    allowedNetworks: Type.Array(Type.String(), {
      description: 'The networks that its requests must come from. If empty, every address is accepted.',
    }),
    replacesId: Type.Optional(id('The key that it replaces.')),
    createdAt: dateTime('Creation time.'),
    expiresAt: Type.Optional(dateTime('When the key expires.')),
    ...revocationAndUse,
  },
  { additionalProperties: false, description: 'An API key.' },
);
export type ApiKeyView = Static<typeof ApiKeyView>;

/** The answer that shows an API key. No other answer contains the key itself. */
export const ApiKeyShown = Type.Object({
  success: Type.Literal(true),
  apiKey: Type.String({ description: 'The key itself. It is shown only once.' }),
  record: ApiKeyView,
});
export type ApiKeyShown = Static<typeof ApiKeyShown>;

/** The answer to the revocation of an API key. */
export const ApiKeyRevoked = Type.Object({ success: Type.Literal(true), record: ApiKeyView });

/** The body that creates an access token. */
export const NewAccessToken = Type.Object(
  {
    name: credentialName,
    lifetimeSeconds: Type.Optional(
      Type.Integer({
        minimum: tokenLifetime.minimum,
        maximum: tokenLifetime.maximum,
        default: tokenLifetime.default,
        description: 'The lifetime in seconds, from 1 hour to 1 year.',
        examples: [tokenLifetime.default],
      }),
    ),
  },
  { additionalProperties: false, description: 'A new access token.' },
);
export type NewAccessToken = Static<typeof NewAccessToken>;

/** An access token as its owner sees it, without the token itself. */
export const AccessTokenView = Type.Object(
  {
    id: id('Unique identifier of the token (its `jti`).'),
    name: credentialName,
    state: CredentialState,
    createdAt: dateTime('Creation time.'),
    expiresAt: dateTime('When the token expires.'),
    ...revocationAndUse,
  },
  { additionalProperties: false, description: 'An access token.' },
);
export type AccessTokenView = Static<typeof AccessTokenView>;

/** The answer that shows an access token. No other answer contains the token itself. */
export const AccessTokenShown = Type.Object({
  success: Type.Literal(true),
  accessToken: Type.String({ description: 'The token itself. It is shown only once.' }),
  record: AccessTokenView,
});
export type AccessTokenShown = Static<typeof AccessTokenShown>;

const userOf = {
  userId: id('The user that the credential belongs to.'),
  userEmail: Type.String({ description: 'The email address of that user.', examples: ['ada@example.com'] }),
};

/** The credentials of all members of a workspace, without the keys and tokens themselves. */
export const MemberCredentials = Type.Object({
  apiKeys: Type.Array(Type.Object({ ...ApiKeyView.properties, ...userOf }, { additionalProperties: false })),
  accessTokens: Type.Array(
    Type.Object({ ...AccessTokenView.properties, ...userOf }, { additionalProperties: false }),
  ),
});
export type MemberCredentials = Static<typeof MemberCredentials>;

/** The answer to the revocation of an access token. */
export const AccessTokenRevoked = Type.Object({ success: Type.Literal(true), record: AccessTokenView });
