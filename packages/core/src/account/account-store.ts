import type { MemberRole } from '../credential/roles.ts';

/** A browser session of a user. */
export interface SignedInBrowser {
  readonly id: string;
  readonly createdAt: Date;
  /** The day of its last use. */
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly ipAddress?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** The content of an invitation, readable by anyone with its link. */
export interface InvitationNotice {
  readonly workspace: string;
  readonly inviter: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly expiresAt: Date;
}

/** An unanswered invitation. */
export interface PendingInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Store operations of accounts that the account library lacks. */
export interface AccountStore {
  /** Lists the current sessions of a user, newest first. */
  listSessions(userId: string): Promise<SignedInBrowser[]>;
  /** Ends a session. Returns whether the user had it. */
  endSession(userId: string, id: string): Promise<boolean>;
  /** Finds an invitation that can be accepted now. */
  findInvitation(id: string): Promise<InvitationNotice | undefined>;
  /** Lists the invitations to a workspace that can be accepted now, newest first. */
  listInvitations(workspaceId: string): Promise<PendingInvitation[]>;
  /** Whether an address has an unanswered invitation. */
  isInvited(email: string): Promise<boolean>;
  /**
   * Counts an attempt to guess a secret.
   *
   * @param windowMs the window, from the first attempt on. The first attempt after it starts a new window.
   * @returns the number of attempts in this window, and its remaining milliseconds.
   */
  countAttempt(key: string, windowMs: number): Promise<{ count: number; leftMs: number }>;
  resetAttempts(key: string): Promise<void>;
  /**
   * Counts an attempt, unless it comes before the pause after the last counted attempt has ended. The first 10 attempts
   * need no pause. Then it doubles from 1 s to 5 min. A day after the last counted attempt, the count starts again.
   *
   * @returns 0 if the attempt is counted; else the remaining milliseconds of the pause.
   */
  takeTurn(key: string): Promise<number>;
  /** Whether a user must give a second factor to sign in. */
  hasSecondFactor(userId: string): Promise<boolean>;
  /** Returns the hash of the password of an account. Returns `undefined` without an account or a password. */
  findPasswordHash(email: string): Promise<string | undefined>;
  /** Removes the password of a user and ends all sessions. */
  removePassword(userId: string): Promise<void>;
  /**
   * Removes the second factor of a user, its trusted browsers and all sessions. Changes nothing without a second factor.
   *
   * @returns whether the user had a second factor.
   */
  removeSecondFactor(userId: string): Promise<boolean>;
  /**
   * Cancels an invitation in one statement, so that it is not accepted meanwhile.
   *
   * @returns false if it was accepted.
   */
  cancelInvitation(id: string): Promise<boolean>;
  /** Cancels the pending invitations of an address to a workspace. */
  cancelInvitations(workspaceId: string, email: string): Promise<void>;
  /** Removes the browsers of a user that need no second factor. */
  removeTrustedBrowsers(userId: string): Promise<void>;
  /** Ends the sign-ins of a user that wait for the second factor. */
  endPendingSignIns(userId: string): Promise<void>;
  /** Voids the password links of a user. @param beforeId the id of a verification. Only older links are voided. */
  voidPasswordLinks(userId: string, beforeId?: string): Promise<void>;
  /**
   * Runs work that removes a role or a membership. No other such work runs at the same time, in this process or another,
   * so the owners that the work has read do not change before it ends. Within the process, the workspaces take turns.
   *
   * @throws LeadsError `too_many_requests` if too many changes of the workspace wait, or if this one has waited too long.
   */
  withMembersLocked<Result>(workspaceId: string, work: () => Promise<Result>): Promise<Result>;
}
