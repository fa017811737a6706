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
  invitation: (to: string, by: string, workspace: string, link: string): Mail => ({
    to,
    subject: `${by} invites you to ${workspace}`,
    text: `${by} invites you to the workspace ${workspace}. The link is good for two weeks:\n\n${link}\n`,
  }),
} as const;
