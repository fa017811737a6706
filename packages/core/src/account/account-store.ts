import type { MemberRole } from '../credential/principal.ts';

/** A browser that is signed in. */
export interface SignedInBrowser {
  readonly id: string;
  readonly createdAt: Date;
  /** When it was last seen, to the day. */
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly ipAddress?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** What an invitation says to whoever holds its link. */
export interface InvitationNotice {
  readonly workspace: string;
  readonly inviter: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly expiresAt: Date;
}

/** An invitation that nobody has answered yet. */
export interface PendingInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** What accounts ask of the store beyond what their library does by itself. */
export interface AccountStore {
  /** The browsers in which a user is signed in now, newest first. */
  listSessions(userId: string): Promise<SignedInBrowser[]>;
  /** @returns whether the user had such a session. */
  endSession(userId: string, id: string): Promise<boolean>;
  /** An invitation that can be accepted now. */
  findInvitation(id: string): Promise<InvitationNotice | undefined>;
  /** The invitations to a workspace that can be accepted now, newest first. */
  listInvitations(workspaceId: string): Promise<PendingInvitation[]>;
  /** Whether someone is invited who has not answered yet. */
  isInvited(email: string): Promise<boolean>;
  /**
   * Counts one more attempt of a kind that can be guessed at.
   *
   * @param windowMs after that long since the first, it counts from one again.
   * @returns how many there are in this window, and how many milliseconds of it are left.
   */
  countAttempt(key: string, windowMs: number): Promise<{ count: number; leftMs: number }>;
  forgetAttempts(key: string): Promise<void>;
  /**
   * Runs work that takes a role or a membership away while no other such work runs, in this process or another:
   * what it saw of the owners is true until it is done.
   */
  whileMembersStay<Result>(work: () => Promise<Result>): Promise<Result>;
}
