import {
  AccessTokenRevoked,
  ApiKeyRevoked,
  listMemberCredentials,
  MemberCredentials,
  revokeMemberAccessToken,
  revokeMemberApiKey,
} from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the routes by which owners and managers list and revoke the keys and tokens of all members. */
export function memberCredentialRoutes(
  app: Server,
  { credentialStore, recordAction, workspaces }: CrmContext,
): void {
  app.get(
    '/members/credentials',
    {
      config: { permission: 'manageCredentials' },
      schema: { response: { 200: MemberCredentials, ...errorResponses(...sessionErrors) } },
    },
    async ({ principal }) =>
      listMemberCredentials({ credentials: credentialStore, workspaces }, principal.workspaceId),
  );

  app.delete(
    '/members/api-keys/:id',
    {
      config: { permission: 'manageCredentials' },
      schema: {
        params: idPath('API key'),
        response: { 200: ApiKeyRevoked, ...errorResponses(...bodyErrors, 'not_found', ...sessionErrors) },
      },
    },
    async (request) => {
      const { principal, params } = request;
      const { record, userId } = await revokeMemberApiKey(credentialStore, principal.workspaceId, params.id);
      await recordAction(auditOrigin(request), {
        action: 'api_key.revoked',
        scope: principal,
        targetId: record.id,
        details: { name: record.name, prefix: record.prefix, userId },
      });
      return { success: true as const, record };
    },
  );

  app.delete(
    '/members/access-tokens/:id',
    {
      config: { permission: 'manageCredentials' },
      schema: {
        params: idPath('access token'),
        response: {
          200: AccessTokenRevoked,
          ...errorResponses(...bodyErrors, 'not_found', ...sessionErrors),
        },
      },
    },
    async (request) => {
      const { principal, params } = request;
      const { record, userId } = await revokeMemberAccessToken(
        credentialStore,
        principal.workspaceId,
        params.id,
      );
      await recordAction(auditOrigin(request), {
        action: 'access_token.revoked',
        scope: principal,
        targetId: record.id,
        details: { name: record.name, userId },
      });
      return { success: true as const, record };
    },
  );
}
