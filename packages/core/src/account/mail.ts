import { webAddress } from '../fields.ts';

/** An email to one recipient, in plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends an email. @throws Error if the mail server rejects it. */
export type SendMail = (mail: Mail) => Promise<void>;

const notExpected = 'If you did not ask for this, you can ignore it: nothing has been changed.';

export const mails = {
  verifyAddress: (to: string, link: string): Mail => ({
    to,
    subject: 'Confirm your email address',
    text: `Open this link within a day to confirm your address and sign in:\n\n${link}\n\n${notExpected}\n`,
  }),
  alreadySignedUp: (to: string, link: string): Mail => ({
    to,
    subject: 'You have an account already',
    text: `Someone, probably you, signed up with this address, which has an account. Sign in here, or choose a new password there:\n\n${link}\n\n${notExpected}\n`,
  }),
  resetPassword: (to: string, link: string): Mail => ({
    to,
    subject: 'Choose a new password',
    text: `Open this link within an hour to choose a new password:\n\n${link}\n\n${notExpected}\n`,
  }),
  /** Contains no text of users in the subject. Its text names the inviter by the confirmed address. */
  invitation: (to: string, by: string, workspace: string, link: string): Mail => ({
    to,
    subject: 'You are invited to a workspace',
    text: `${by} invites you to ${webAddress.test(workspace) ? 'a workspace' : `the workspace "${workspace}"`}. Open this link within two weeks to accept or decline:\n\n${link}\n\nIf you do not know ${by}, you can ignore this mail.\n`,
  }),
} as const;
