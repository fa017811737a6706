import type { SignedIn } from '@leads/core/account';
import type { AuditOrigin } from '@leads/core/audit';
import type { Principal } from '@leads/core/credential';
import { clientAddress } from '@leads/http/server/create-server';
import type { FastifyRequest } from 'fastify';

/** Returns the origin of an action for the audit log: the actor, the API key, the address and the user agent of a request. */
export function auditOrigin(request: FastifyRequest): AuditOrigin {
  // Absent on routes without a guard, although the types do not say so.
  const principal = request.principal as Principal | undefined;
  const signedIn = request.signedIn as SignedIn | undefined;
  return {
    source: principal?.apiKeyId === undefined ? 'website' : 'api',
    actorId: principal?.userId ?? signedIn?.user.id,
    apiKeyId: principal?.apiKeyId,
    address: clientAddress(request),
    userAgent: request.headers['user-agent'],
  };
}
