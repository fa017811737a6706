import { addressBlock } from '@leads/core/address-block';
import { isOutage, LeadsError } from '@leads/core/errors';
import { RateLimit } from '@leads/core/limits';
import { clientAddress, type Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses } from '@leads/http/server/errors';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { accountHeaders } from '../../account/session.ts';
import { listScripts } from '../files/built-website.ts';
import { ClientError, describeClientError } from './describe-client-error.ts';

/** The reports a minute that this process logs: of each signed-in user, of each address, and of all addresses together. */
const perMinute = { user: 20, address: 20, addresses: 60 } as const;

/** Registers the route that logs a browser error. The limits protect the log, because the route requires no session. */
export function reportClientErrorRoute(app: Server, { accounts }: Pick<CrmContext, 'accounts'>): void {
  const scripts = new Set(listScripts());
  const users = new RateLimit(perMinute.user);
  const addresses = new RateLimit(perMinute.address);
  const strangers = new RateLimit(perMinute.addresses);

  /** Counts a report. Reports without a session have a quota of their own, so that they cannot use up that of users. */
  const count = async (request: FastifyRequest) => {
    const userId = await findUser(request);
    if (userId !== undefined) return users.take(userId);
    const ofAddress = addresses.take(addressBlock(clientAddress(request)));
    return ofAddress.isExceeded ? ofAddress : strangers.take('');
  };
  const findUser = async (request: FastifyRequest) => {
    if (request.headers.cookie === undefined) return undefined;
    try {
      return (await accounts.findSession(accountHeaders(request)))?.signedIn.user.id;
    } catch (error) {
      // During an outage, errors of browsers are of interest, too.
      if (isOutage(error)) return undefined;
      throw error;
    }
  };

  app.post(
    '/client-errors',
    {
      config: { permission: 'public' },
      schema: {
        body: ClientError,
        response: {
          200: Type.Object({ success: Type.Literal(true) }),
          ...errorResponses(...bodyErrors, 'forbidden', 'too_many_requests', 'unexpected'),
        },
      },
    },
    async (request) => {
      const { isExceeded, resetMs } = await count(request);
      if (isExceeded) {
        throw new LeadsError('too_many_requests', {
          message: 'Too many error reports: try again later',
          retryAfterSeconds: Math.ceil(resetMs / 1000),
        });
      }
      const clientError = describeClientError(request.body, scripts);
      request.log.error({ clientError }, 'Browser error reported');
      return { success: true as const };
    },
  );
}
