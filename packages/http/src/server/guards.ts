import {
  type AccessTokenCodec,
  type CredentialUse,
  type CredentialVerifier,
  isBrowserKey,
  isInNetworks,
  type Principal,
  type RequiredScopes,
} from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { allowOrigin } from './cors.ts';
import { clientAddress, type Server } from './create-server.ts';
import { requireRoutePermission } from './permission.ts';
import { limitRates, rateLimitHeaders, type RateLimits } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Returns the principal of an admitted request, verified at the time of the call. Set by the guard of the scope; absent
     * without a guard.
     *
     * @throws LeadsError `unauthenticated`, `forbidden`, `unavailable`
     */
    verifyPrincipal: (request: FastifyRequest) => Promise<Principal>;
  }
  interface FastifyRequest {
    /** The member that the request acts for. Set by the guard of the route's scope; absent without a guard. */
    principal: Principal;
  }
}

/** The two security schemes in the OpenAPI document (specification, section 5). */
export const securitySchemes = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'API_KEY',
    description:
      'The API key. `X-API-Key` is also accepted, because some proxies drop header names with an underscore.',
  },
  AccessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The access token.' },
} as const;

/** The security scheme of an API key in the query. {@link requireApiKey} accepts browser keys there. */
export const browserKeyScheme = {
  type: 'apiKey',
  in: 'query',
  name: 'API_KEY',
  description:
    'An API key of the scope `intake` that is bound to web origins. Use it if the client cannot send headers, such as a plain HTML form. Any other key is rejected in the query.',
} as const;

/** The dependencies of the guards: the verification of credentials, the record of their last use, the rate limits. */
export interface Guarding {
  readonly credentials: CredentialVerifier;
  readonly credentialUse: CredentialUse;
  readonly rateLimits: RateLimits;
}

/**
 * Requires an API key of any scope on every route of a scope. A browser key is also accepted in the query. Only scripts
 * of the web origins that a browser key is bound to may read the response.
 */
export function requireApiKey(scope: Server, { credentials, credentialUse, rateLimits }: Guarding): void {
  guard(scope, [['ApiKey'], ['BrowserKey']], (request, reply) => {
    const inQuery = (request.query as Record<string, unknown>)['API_KEY'];
    const found = verifyApiKey(request, credentials, inQuery);
    // Almost every key is cached and needs no promise. A promise for each request costs measurable time.
    return found instanceof Promise
      ? found.then((principal) => admit(request, reply, principal, inQuery))
      : admit(request, reply, found, inQuery);
  });

  const admit = (
    request: FastifyRequest,
    reply: FastifyReply,
    principal: Principal | undefined,
    inQuery: unknown,
  ): Principal => {
    if (principal === undefined) rejectKey(request, credentials, inQuery);
    request.keyPrincipal = principal;
    const { apiKeyId, allowedOrigins = [] } = principal;
    const address = clientAddress(request);
    // Before the rate limit: a stolen key that is bound to networks cannot use up the quota of the key.
    requireNetwork(principal, address);
    if (inQuery !== undefined && !isBrowserKey(principal)) {
      // Proxies and browsers store URLs, so the key has leaked.
      throw new LeadsError('forbidden', {
        message:
          'Send an API key that is not bound to web origins in the API_KEY header. Revoke this key: URLs are logged',
      });
    }
    if (allowedOrigins.length > 0) allowOrigin(reply, requireOrigin(request, reply, allowedOrigins));
    limitRates(reply, rateLimits, principal, address);
    credentialUse.note({ apiKeyId }, address);
    return principal;
  };
}

/**
 * Returns the `Origin` of a request. It prevents the use of a browser key in other pages only: a program can send any
 * `Origin`.
 *
 * @throws LeadsError `forbidden` if the key is not bound to the origin, or if there is none.
 */
function requireOrigin(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): string {
  const { origin } = request.headers;
  reply.header('vary', 'Origin');
  if (origin === undefined || origin === 'null') {
    throw new LeadsError('forbidden', {
      message: `This API key is for web pages, and the request has ${origin === undefined ? 'no Origin header' : 'the Origin null'}`,
    });
  }
  if (!allowed.includes(origin)) {
    throw new LeadsError('forbidden', { message: 'This API key is bound to other web origins' });
  }
  return origin;
}

/**
 * Checks that a request comes from one of the networks that its API key is bound to.
 *
 * @throws LeadsError `forbidden`
 */
function requireNetwork({ networks }: Principal, address: string): void {
  if (networks === undefined || isInNetworks(networks, address)) return;
  throw new LeadsError('forbidden', { message: 'This API key is bound to other networks' });
}

/** Requires an API key and an access token of the same user and workspace on every route of a scope. */
export function requireApiKeyAndToken(scope: Server, guarding: TokenGuarding): void {
  guard(scope, [['ApiKey', 'AccessToken']], async (request, reply) => {
    const { principal, accessTokenId } = await verifyApiKeyAndToken(request, guarding);
    const address = clientAddress(request);
    limitRates(reply, guarding.rateLimits, principal, address);
    guarding.credentialUse.note({ apiKeyId: principal.apiKeyId, accessTokenId }, address);
    return principal;
  });
  scope.decorate('verifyPrincipal', async (request: FastifyRequest) => {
    const { principal } = await verifyApiKeyAndToken(request, guarding);
    requireRoutePermission(request.routeOptions.config, principal);
    return principal;
  });
}

/** The dependencies of {@link requireApiKeyAndToken}. */
export type TokenGuarding = Guarding & { readonly accessTokens: AccessTokenCodec };

/**
 * Returns the principal of a request's API key and access token.
 *
 * @throws LeadsError `unauthenticated`, `forbidden`, `unavailable`
 */
async function verifyApiKeyAndToken(
  request: FastifyRequest,
  { credentials, accessTokens }: TokenGuarding,
): Promise<{ readonly principal: Principal; readonly accessTokenId: string }> {
  const principal = await verifyApiKey(request, credentials);
  if (principal === undefined) rejectKey(request, credentials);
  request.keyPrincipal = principal;
  const token = readBearer(request);
  const accessTokenId =
    token === undefined ? undefined : await credentials.verifyAccessToken(accessTokens, token, principal);
  if (accessTokenId === undefined) throw new LeadsError('unauthenticated');
  requireNetwork(principal, clientAddress(request));
  return { principal, accessTokenId };
}

/**
 * Guards a scope: authenticates every request, and checks its role and the scope of its key against those of its route.
 *
 * @param security the alternatives of security schemes in the OpenAPI document.
 * @param authenticate returns the principal of a request, or throws `unauthenticated`.
 */
function guard(
  scope: Server,
  security: readonly (readonly ('ApiKey' | 'AccessToken' | 'BrowserKey')[])[],
  authenticate: (request: FastifyRequest, reply: FastifyReply) => Principal | Promise<Principal>,
): void {
  scope.decorateRequest('principal');
  scope.addHook('onRoute', (route) => {
    const required = route.config?.scope;
    if (required === undefined) {
      throw new Error(`${[route.method].flat().join(', ')} ${route.url} declares no scope`);
    }
    const response = withRateLimitHeaders((route.schema?.response ?? {}) as Record<string, object>);
    route.schema = {
      ...route.schema,
      description: [route.schema?.description ?? [], aboutScope(required)].flat().join('\n\n'),
      // Since OpenAPI 3.1, a scheme of any type may list scopes.
      security: security.flatMap((schemes) =>
        [required]
          .flat()
          .map((each) =>
            Object.fromEntries(schemes.map((name) => [name, name === 'AccessToken' ? [] : [each]])),
          ),
      ),
      response,
    };
  });
  // Runs before the body is read: 401 precedes 400, and the service parses no body of an unauthenticated client.
  scope.addHook('onRequest', (request, reply, goOn) => {
    reply.header('cache-control', 'no-store');
    const admit = (principal: Principal) => {
      requireRoutePermission(request.routeOptions.config, principal);
      request.principal = principal;
    };
    const found = authenticate(request, reply);
    if (found instanceof Promise) found.then(admit).then(() => goOn(), goOn);
    else {
      admit(found);
      goOn();
    }
  });
}

/** Returns the sentence about the scope of a route in the OpenAPI document. */
function aboutScope(scope: RequiredScopes): string {
  const names = [scope]
    .flat()
    .flatMap((each) => (each === 'intake' ? ['intake', 'leads:write'] : [each]))
    .map((each) => `\`${each}\``)
    .join(' or ');
  return `Requires an API key of the scope ${names}, or \`full\`.`;
}

/** Adds the rate limit headers to the responses of a route, except 401, which comes before the rate limit. */
function withRateLimitHeaders(responses: Readonly<Record<string, object>>): Record<string, object> {
  const entries = Object.entries(responses).map(([status, response]) => {
    const { headers } = response as { headers?: object };
    return [
      status,
      status === '401' ? response : { ...response, headers: { ...headers, ...rateLimitHeaders } },
    ];
  });
  return Object.fromEntries(entries) as Record<string, object>;
}

function verifyApiKey(request: FastifyRequest, credentials: CredentialVerifier, inQuery?: unknown) {
  const apiKey = readApiKey(request, inQuery);
  return apiKey === undefined ? undefined : credentials.verifyApiKey(apiKey, () => clientAddress(request));
}

/**
 * Rejects a request without a valid API key. The request log of an expired key has the request, so that its user sees that
 * a client still sends the key.
 *
 * @throws LeadsError `unauthenticated`
 */
function rejectKey(request: FastifyRequest, credentials: CredentialVerifier, inQuery?: unknown): never {
  const apiKey = readApiKey(request, inQuery);
  if (apiKey !== undefined) request.keyPrincipal = credentials.findExpired(apiKey);
  throw new LeadsError('unauthenticated');
}

/**
 * Returns the API key from `API_KEY`, its alias `X-API-Key` or the query. If several are sent, they must be equal. A
 * repeated header arrives as "a, b", which is not a valid key.
 */
function readApiKey({ headers }: FastifyRequest, inQuery?: unknown): string | undefined {
  const alias = headers['x-api-key'];
  const given = headers['api_key'] ?? alias ?? inQuery;
  if (alias !== undefined && alias !== given) return undefined;
  if (inQuery !== undefined && inQuery !== given) return undefined;
  return typeof given === 'string' ? given : undefined;
}

const bearer = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;

function readBearer(request: FastifyRequest): string | undefined {
  // Node silently drops every Authorization header after the first.
  if ((request.raw.headersDistinct['authorization']?.length ?? 0) > 1) return undefined;
  return bearer.exec(request.headers.authorization ?? '')?.[1];
}

/**
 * Rejects requests from pages of other sites. Hides the routes of the scope from the OpenAPI document.
 *
 * @param publicUrl the website's origin, accepted in addition to the scheme and host of the request.
 */
export function requireOwnOrigin(scope: Server, publicUrl: string): void {
  // Browsers send a host in lower case, encode its other letters, and omit the default port.
  const publicOrigin = new URL(publicUrl).origin;
  scope.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    if (!isOfOwnOrigin(request, publicOrigin)) {
      throw new LeadsError('forbidden', { message: 'Requests from other sites are rejected' });
    }
  });
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
/** The values of `Sec-Fetch-Site` for pages of this website, and for addresses that a user types. */
const ownSites = new Set(['same-origin', 'none']);

/**
 * Returns whether a request comes from the website's own origin. A page of another site can make a browser send a
 * request with the user's cookies, but the browser then names the site (Fetch, 3.1; Fetch Metadata, 2.4). Programs send
 * neither header, so a request with a safe method needs none.
 */
function isOfOwnOrigin({ method, headers, host, protocol }: FastifyRequest, publicOrigin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && !ownSites.has(site)) return false;
  if (safeMethods.has(method)) return true;
  const { origin } = headers;
  if (origin === undefined || !URL.canParse(`${protocol}://${host}`)) return false;
  return origin === publicOrigin || origin === new URL(`${protocol}://${host}`).origin;
}
