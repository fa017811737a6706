import {
  type AccessTokenCodec,
  type CredentialUse,
  type CredentialVerifier,
  isBrowserKey,
  type Principal,
} from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { allowPage } from './cors.ts';
import { clientAddress, type Server } from './create-server.ts';
import { requirePermission } from './permission.ts';
import { limitRate, type RateLimits } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who the request acts for. Set by the guard of the route's scope; routes without a guard have none. */
    principal: Principal;
  }
}

/** How the OpenAPI document names the two schemes (specification, section 5). */
export const securitySchemes = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'API_KEY',
    description: 'The API key. `X-API-Key` is taken as well, for proxies that drop names with an underscore.',
  },
  AccessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The access token.' },
} as const;

/** How it names an API key in the query, which {@link requireApiKey} takes of browser keys. */
export const browserKeyScheme = {
  type: 'apiKey',
  in: 'query',
  name: 'API_KEY',
  description:
    'An API key of the scope `intake` that is bound to web origins, where no header can be sent, as from a plain form. Any other key is refused here.',
} as const;

/** Who credentials stand for, and where it is kept that they were used. */
export interface Guarding {
  readonly credentials: CredentialVerifier;
  readonly credentialUse: CredentialUse;
}

/**
 * Every route of the scope takes an API key, of any scope. One that may stand in a page is taken from the query too,
 * and the scripts of the pages that it is bound to may read what is answered; nobody's script may with any other.
 */
export function requireApiKey(
  scope: Server,
  { credentials, credentialUse, rateLimits }: Guarding & { readonly rateLimits: RateLimits },
): void {
  guard(scope, [{ ApiKey: [] }, { BrowserKey: [] }], (request, reply) => {
    const inQuery = (request.query as Record<string, unknown>)['API_KEY'];
    const found = verifyApiKey(request, credentials, inQuery);
    // Nearly every key is known, and a promise for each request costs what can be measured.
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
    if (principal === undefined) throw new LeadsError('unauthenticated');
    const { apiKeyId, allowedOrigins = [] } = principal;
    if (inQuery !== undefined && !isBrowserKey(principal)) {
      // Addresses are kept by proxies and browsers.
      throw new LeadsError('forbidden', {
        message:
          'An API key that is not bound to web origins must be sent in the API_KEY header: revoke this one',
      });
    }
    if (allowedOrigins.length > 0) allowPage(reply, requireOrigin(request, reply, allowedOrigins));
    const limit = isBrowserKey(principal) ? rateLimits.browserKeys : rateLimits.secretKeys;
    if (limit !== undefined && apiKeyId !== undefined) limitRate(reply, limit, apiKeyId);
    credentialUse.note({ apiKeyId }, clientAddress(request));
    return principal;
  };
}

/** Any program can say where it comes from: this keeps a key that stands in a page from use in other pages. */
function requireOrigin(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): string {
  const { origin } = request.headers;
  reply.header('vary', 'Origin');
  if (origin === undefined || origin === 'null') {
    throw new LeadsError('forbidden', {
      message: 'This API key is for web pages, and the request does not tell the Origin of its page',
    });
  }
  if (!allowed.includes(origin)) {
    throw new LeadsError('forbidden', { message: 'This API key is for other web pages' });
  }
  return origin;
}

/** Every route of the scope takes an API key and an access token of the same user and workspace. */
export function requireApiKeyAndToken(scope: Server, guarding: TokenGuarding): void {
  guard(scope, [{ ApiKey: [], AccessToken: [] }], async (request) => {
    const { principal, accessTokenId } = await verifyApiKeyAndToken(request, guarding);
    guarding.credentialUse.note({ apiKeyId: principal.apiKeyId, accessTokenId }, clientAddress(request));
    return principal;
  });
}

/** What {@link requireApiKeyAndToken} needs. */
export type TokenGuarding = Guarding & { readonly accessTokens: AccessTokenCodec };

/**
 * Who a request acts for by its API key and its access token, as of now.
 *
 * @throws LeadsError `unauthenticated`, `forbidden`, `unavailable`
 */
export async function verifyApiKeyAndToken(
  request: FastifyRequest,
  { credentials, accessTokens }: TokenGuarding,
): Promise<{ readonly principal: Principal; readonly accessTokenId: string }> {
  const principal = await verifyApiKey(request, credentials);
  if (principal === undefined) throw new LeadsError('unauthenticated');
  const token = readBearer(request);
  const accessTokenId =
    token === undefined ? undefined : await credentials.verifyAccessToken(accessTokens, token, principal);
  if (accessTokenId === undefined) throw new LeadsError('unauthenticated');
  if (principal.scope === 'intake') throw new LeadsError('forbidden');
  return { principal, accessTokenId };
}

/**
 * Guards a scope: every request is authenticated, and its role checked against the permission of its route.
 *
 * @param security the schemes that the OpenAPI document names for the scope's routes.
 * @param authenticate tells who a request acts for, or throws `unauthenticated`.
 */
function guard(
  scope: Server,
  security: Record<string, never[]>[],
  authenticate: (request: FastifyRequest, reply: FastifyReply) => Principal | Promise<Principal>,
): void {
  scope.decorateRequest('principal');
  scope.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, security };
  });
  // Before the body is read: 401 comes before 400, and strangers cannot make the service parse.
  scope.addHook('onRequest', (request, reply, goOn) => {
    reply.header('cache-control', 'no-store');
    const admit = (principal: Principal) => {
      requirePermission(request.routeOptions.config, principal);
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

function verifyApiKey(request: FastifyRequest, credentials: CredentialVerifier, inQuery?: unknown) {
  const apiKey = readApiKey(request, inQuery);
  return apiKey === undefined ? undefined : credentials.verifyApiKey(apiKey);
}

/** The key of `API_KEY`, its alias or the query. All at once must agree; one sent twice arrives as "a, b" and is no key. */
function readApiKey({ headers }: FastifyRequest, inQuery?: unknown): string | undefined {
  const alias = headers['x-api-key'];
  const given = headers['api_key'] ?? alias ?? inQuery;
  if (alias !== undefined && alias !== given) return undefined;
  if (inQuery !== undefined && inQuery !== given) return undefined;
  return typeof given === 'string' ? given : undefined;
}

const bearer = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;

function readBearer(request: FastifyRequest): string | undefined {
  // Node keeps the first of several Authorization headers and drops the rest without a word.
  if ((request.raw.headersDistinct['authorization']?.length ?? 0) > 1) return undefined;
  return bearer.exec(request.headers.authorization ?? '')?.[1];
}

/**
 * Refuses requests that other sites' pages send. The OpenAPI document does not describe the routes of the scope.
 *
 * @param publicUrl the website's own origin, besides the host that a request names.
 */
export function requireOwnOrigin(scope: Server, publicUrl: string): void {
  scope.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    if (!isOfOwnOrigin(request, publicUrl)) {
      throw new LeadsError('forbidden', { message: 'Requests from other sites are refused' });
    }
  });
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
/** By this website's pages, or by who typed the address. */
const ownSites = new Set(['same-origin', 'none']);

/**
 * A page of another site can make a browser send a request with its user's cookies, but the browser then says whose
 * page it is (Fetch, 3.1; Fetch Metadata, 2.4). What only reads may come without both, from programs.
 */
function isOfOwnOrigin({ method, headers, host }: FastifyRequest, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && !ownSites.has(site)) return false;
  if (safeMethods.has(method)) return true;
  const { origin } = headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  return origin === publicUrl || new URL(origin).host === host;
}
