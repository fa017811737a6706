import type { AuditOrigin, RecordAction } from '../audit/audit-log.ts';
import type { MemberRef } from '../credential/credential-store.ts';
import type { AccountAdapter } from '../db/account-adapter.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';
import type { AccountStore } from './account-store.ts';
import type { SendMail } from './mail.ts';

/** Hashes passwords, and compares a password with a stored hash. */
export interface PasswordHash {
  hash(password: string): Promise<string>;
  verify(data: { hash: string; password: string }): Promise<boolean>;
}

/** Dependencies and settings of accounts. */
export interface AccountOptions {
  /** Opens the database adapter of the account library. It is loaded at its first use. */
  readonly openAdapter: () => Promise<AccountAdapter>;
  readonly store: AccountStore;
  readonly workspaces: WorkspaceStore;
  /** The secret from which the keys of cookies and second factors are derived. */
  readonly secret: string;
  /** The origin of the website: `https://leads.example`. With `https`, cookies are sent over HTTPS only. */
  readonly publicUrl: string;
  /** Whether anyone may sign up. Invited users always may. */
  readonly signUp: boolean;
  /** Sends emails. Without it, addresses are not verified, and operators create the links that set new passwords. */
  readonly sendMail?: SendMail | undefined;
  /** Called when a member changes roles or is removed. */
  readonly onMemberChanged?: ((member: MemberRef) => Promise<void>) | undefined;
  /** Records an action in the audit log. Absent for the command line. */
  readonly recordAction?: RecordAction | undefined;
  /** Revokes all API keys and access tokens of a user. @param origin the request that asks for it. */
  readonly revokeCredentials?: (userId: string, origin: AuditOrigin) => Promise<void>;
  /** The origin of a service that knows breached passwords. Without it, passwords are not sought in breaches. */
  readonly breachedPasswordsUrl?: string | undefined;
  /** Replaces scrypt with N = 16384, r = 16 and p = 1. Tests hash at a lower cost. */
  readonly passwordHash?: PasswordHash | undefined;
  /** Called for errors after the response, such as an email that could not be sent. */
  readonly onError: (error: unknown) => void;
}

/** A signed-in user and the session. */
export interface SignedIn {
  readonly sessionId: string;
  /** When the user gave the password or the second factor last. */
  readonly signedInAt: Date;
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly twoFactorEnabled: boolean;
  };
  /** The workspace that the website shows. The user may have been removed from it. */
  readonly activeWorkspaceId?: string | undefined;
}

/**
 * User accounts: passwords, second factors, sessions and invitations. All methods throw LeadsError `unavailable` while
 * the database is unavailable.
 */
export interface Accounts {
  /** Handles a request of the website to a path below `/api/auth/`. */
  handle(request: Request): Promise<Response>;
  /**
   * Finds the session of a request by its cookies.
   *
   * @returns the session, and the cookies to set if the session is extended.
   */
  findSession(headers: Headers): Promise<{ signedIn: SignedIn; cookies: readonly string[] } | undefined>;
  /** Creates a link that sets a new password. It expires after 1 h. Returns `undefined` if there is no such user. */
  passwordLink(email: string): Promise<string | undefined>;
}

/** The header that passes the client's address to {@link Accounts.handle}. */
export const addressHeader = 'x-leads-client-address';
