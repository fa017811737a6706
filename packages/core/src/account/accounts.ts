import type { MemberRef } from '../credential/credential-store.ts';
import type { AccountAdapter } from '../db/account-adapter.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';
import type { AccountStore } from './account-store.ts';
import type { SendMail } from './mail.ts';

export interface AccountOptions {
  /** How the account library reads and writes. Loaded when it is needed first. */
  readonly openAdapter: () => Promise<AccountAdapter>;
  readonly store: AccountStore;
  readonly workspaces: WorkspaceStore;
  /** What the keys of cookies and of second factors are derived from. */
  readonly secret: string;
  /** The website's own address, without a path: `https://leads.example`. With https, cookies are for https only. */
  readonly publicUrl: string;
  /** Whether strangers may sign up. Who is invited always may. */
  readonly signUp: boolean;
  /** Without it no address is confirmed, and operators hand out the links of new passwords. */
  readonly sendMail?: SendMail | undefined;
  /** Hears of who has another role in a workspace, or none any more. */
  readonly onMemberChanged?: ((member: MemberRef) => Promise<void>) | undefined;
  /** @throws LeadsError `unavailable` when the database does not answer. */
  readonly ping: () => Promise<void>;
  /** Hears of what went wrong after the answer, a mail that was not sent for instance. */
  readonly onError: (error: unknown) => void;
}

/** Who is signed in, in which browser. */
export interface SignedIn {
  readonly sessionId: string;
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly twoFactorEnabled: boolean;
  };
  /** The workspace the website shows; the user may not be a member of it any more. */
  readonly activeWorkspaceId?: string | undefined;
}

/**
 * Accounts of people: passwords, second factors, sessions, invitations. All of it throws LeadsError `unavailable`
 * while the database is away.
 */
export interface Accounts {
  /** Answers a request to one of the account's paths, `/api/auth/...`, from the website's own origin. */
  handle(request: Request): Promise<Response>;
  /**
   * Who the cookies of a request say is signed in.
   *
   * @returns with `cookies` to set: those of a session that goes on longer.
   */
  whoIs(headers: Headers): Promise<{ signedIn: SignedIn; cookies: readonly string[] } | undefined>;
  /** A link that sets a new password, good for an hour; `undefined` where there is no such user. */
  passwordLink(email: string): Promise<string | undefined>;
}

/** The header in which {@link Accounts.handle} is told the client's address. */
export const addressHeader = 'x-leads-client-address';
