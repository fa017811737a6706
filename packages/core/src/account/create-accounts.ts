import type { AccountOptions, Accounts } from './accounts.ts';

/**
 * Returns accounts whose library is loaded by the first request that needs it. The library takes 30 MB, which a service
 * without website users does not need.
 */
export function createAccounts(options: AccountOptions): Accounts {
  let opened: Promise<Accounts> | undefined;
  const open = () => {
    opened ??= import('./open-accounts.ts').then(async ({ openAccounts }) =>
      openAccounts(options, await options.openAdapter()),
    );
    return opened;
  };
  return {
    handle: async (request) => (await open()).handle(request),
    findSession: async (headers) => (await open()).findSession(headers),
    passwordLink: async (email) => (await open()).passwordLink(email),
  };
}
