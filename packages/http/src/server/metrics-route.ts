import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { LeadsError } from '@leads/core/errors';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Metrics, metricsMediaType } from '../service/metrics.ts';
import { plainAddress, type Server } from './create-server.ts';
import { errorResponses } from './errors.ts';

const thisMachine = new BlockList();
thisMachine.addSubnet('127.0.0.0', 8, 'ipv4');
thisMachine.addAddress('::1', 'ipv6');

/**
 * Registers `/metrics` for Prometheus. The service's port may be public. Therefore the route answers requests with the
 * token only, or, if no token is set, requests from this machine only.
 *
 * @param token Prometheus sends it as `Authorization: Bearer <token>`.
 */
export async function metricsRoutes(app: Server, metrics: Metrics, token: string | undefined): Promise<void> {
  const isAllowed = token === undefined ? isFromThisMachine : hasBearer(token);
  app.get(
    '/metrics',
    {
      config: { permission: 'operator', anyHost: true },
      schema: {
        hide: true,
        response: { 200: Type.String(), ...errorResponses('unauthenticated', 'unexpected') },
      },
      logLevel: 'warn',
      async onRequest(request, reply) {
        reply.header('cache-control', 'no-store');
        if (!isAllowed(request)) throw new LeadsError('unauthenticated');
      },
    },
    async (_request, reply) => reply.type(metricsMediaType).send(await metrics.text()),
  );
}

/** The headers of proxies that do not name the client in `X-Forwarded-For`. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'] as const;

/**
 * Returns whether a request comes from this machine. Every address of `X-Forwarded-For` must be of this machine, and
 * every proxy must be trusted: an untrusted proxy on this machine forwards requests of anyone.
 */
function isFromThisMachine({ headers, ips, socket }: FastifyRequest): boolean {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().flatMap((each) => each.split(','));
  if (forwarded.length === 0 && proxyHeaders.some((name) => headers[name] !== undefined)) return false;
  // The server lists the addresses up to the first that is not a trusted proxy.
  if (forwarded.length > 0 && ips?.length !== forwarded.length + 1) return false;
  return [socket.remoteAddress ?? '', ...forwarded].every((each) => {
    const address = plainAddress(each.trim());
    const version = isIP(address);
    return version !== 0 && thisMachine.check(address, version === 6 ? 'ipv6' : 'ipv4');
  });
}

function hasBearer(token: string): (request: FastifyRequest) => boolean {
  const wanted = digest(`Bearer ${token}`);
  return ({ headers }) => timingSafeEqual(digest(headers.authorization ?? ''), wanted);
}

/** Hashes a text: `timingSafeEqual` requires inputs of equal length. */
const digest = (text: string) => createHash('sha256').update(text).digest();
