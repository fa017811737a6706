import { account } from './account.ts';

/** The key under which the browser keeps the invitation until the address of the new account is confirmed. */
const storageKey = 'leads.invitation';

export function acceptInvitation(invitationId: string): Promise<unknown> {
  return account('/organization/accept-invitation', { invitationId });
}

/** Keeps the invitation of a sign-up. The confirmation of the address may be opened in another tab. */
export function keepInvitation(id: string): void {
  localStorage.setItem(storageKey, id);
}

/** Accepts the kept invitation. Returns false if there is none, or if it is not valid for the signed-in user. */
export async function acceptKeptInvitation(): Promise<boolean> {
  const id = localStorage.getItem(storageKey);
  if (id === null) return false;
  localStorage.removeItem(storageKey);
  return acceptInvitation(id).then(
    () => true,
    () => false,
  );
}
