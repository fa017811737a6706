import { memberRoles } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmConfig } from '../../config.ts';
import { apiAddresses } from '../../public-url.ts';
import { activeMembership } from './session.ts';

const WorkspaceOfMine = Type.Object({
  id: Type.String(),
  name: Type.String(),
  role: Type.Enum([...memberRoles]),
});

const Me = Type.Object({
  user: Type.Object({
    id: Type.String(),
    name: Type.String(),
    email: Type.String(),
    twoFactorEnabled: Type.Boolean(),
  }),
  sessionId: Type.String(),
  workspaces: Type.Array(WorkspaceOfMine),
  workspace: Type.Optional(WorkspaceOfMine),
  addresses: Type.Object({
    crm: Type.String({ description: 'The CRM API, with its /api prefix.' }),
    intake: Type.Optional(Type.String({ description: 'The intake API, with its /api prefix.' })),
  }),
  mail: Type.Boolean({ description: 'Whether mails are sent.' }),
});

/** Who is signed in, in which workspaces, and where the APIs are. */
export function getMeRoute(app: Server, config: CrmConfig): void {
  const addresses = apiAddresses(config);
  app.get('/me', { schema: { response: { 200: Me } } }, async (request) => {
    const { signedIn, memberships } = request;
    const mine = memberships.map(({ workspace: { id, name }, role }) => ({ id, name, role }));
    const active = activeMembership(request)?.workspace.id;
    const workspace = mine.find(({ id }) => id === active);
    return {
      user: signedIn.user,
      sessionId: signedIn.sessionId,
      workspaces: mine,
      ...(workspace !== undefined && { workspace }),
      addresses,
      mail: config.SMTP_URL !== undefined,
    };
  });
}
