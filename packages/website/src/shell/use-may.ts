import { type MemberPermission, may } from '@leads/core/credential/roles';
import { useSuspenseQuery } from '@tanstack/react-query';
import { meQuery } from '../api/account.ts';

/** Returns whether the role of the user in the workspace has a permission. A user without a workspace has none. */
export function useMay(permission: MemberPermission): boolean {
  const { workspace } = useSuspenseQuery(meQuery).data;
  return workspace !== undefined && may(workspace.role, permission);
}
