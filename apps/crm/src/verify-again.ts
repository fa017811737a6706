import type { Principal } from '@leads/core/credential';
import { isOutage, LeadsError } from '@leads/core/errors';
import type { FastifyRequest } from 'fastify';

/** The interval of credential checks. With the cache time of a credential, a revocation takes effect within 10 s. */
const verifyMs = 1_000;
/** How long a response continues while its credentials cannot be verified, in milliseconds. */
const unverifiedMs = 15 * 60_000;

/**
 * Verifies the credentials of a request at an interval, because a long request outlives their check at its start.
 *
 * @param onVerified receives the principal of each check. An error that it throws is passed to `onRefused`.
 * @param onRefused called once, with the error of the check, if the credentials are no longer valid, or could not be
 *   verified for {@link unverifiedMs}. It ends the checks.
 * @returns a function that ends the checks. The caller must call it when the request ends.
 */
export function verifyAgain(
  request: FastifyRequest,
  {
    onVerified,
    onRefused,
  }: { onVerified: (principal: Principal) => void; onRefused: (error: unknown) => void },
): () => void {
  let verifiedAt = performance.now();
  let isFailing = false;
  let isEnded = false;
  const verify = async () => {
    try {
      const principal = await request.server.verifyPrincipal(request);
      verifiedAt = performance.now();
      isFailing = false;
      if (!isEnded) onVerified(principal);
    } catch (error) {
      if (isEnded) return;
      // Other errors do not mean that the credentials are invalid. The library of the sessions hides the causes of its errors.
      const isRefused = error instanceof LeadsError && !isOutage(error);
      if (!isRefused && performance.now() - verifiedAt < unverifiedMs) {
        if (!isFailing && !isOutage(error))
          request.log.warn({ err: error }, 'Credentials were not verified; retrying');
        isFailing = true;
        return;
      }
      end();
      onRefused(error);
    }
  };
  const timer = setInterval(() => void verify(), verifyMs);
  const end = () => {
    isEnded = true;
    clearInterval(timer);
  };
  return end;
}

/**
 * Verifies the credentials of an import or an export at an interval. A transfer also ends if the role of its member
 * changes, because the role decides which leads and columns it has.
 *
 * @returns the signal that is aborted, with a LeadsError, if the transfer must end; and a function that ends the checks.
 */
export function verifyTransfer(request: FastifyRequest): {
  readonly signal: AbortSignal;
  readonly end: () => void;
} {
  const { role } = request.principal;
  const refused = new AbortController();
  const end = verifyAgain(request, {
    onVerified(principal) {
      if (principal.role === role) return;
      throw new LeadsError('forbidden', {
        message: 'Your role in the workspace has changed: send the request again',
      });
    },
    onRefused: (error) => refused.abort(error),
  });
  return { signal: refused.signal, end };
}
